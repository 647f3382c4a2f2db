"""Where to move a group's offsets: chosen once, and looked up again when the group has stopped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from headgate.errors import ScenarioError
from headgate.model.cluster import Topic
from headgate.reprocess.ports.inspector import Inspector
from headgate.text.numbers import name_list, plural
from headgate.text.risk import Risk
from headgate.text.times import from_milliseconds, iso

TopicPart = tuple[str, int]
# Of many partitions only the first are named in a sentence.
_SHOWN = 5


class TargetKind(StrEnum):
    """The kinds of target; LISTED names an offset for each partition."""

    BEGINNING = "beginning"
    END = "end"
    CURRENT = "current"
    TIME = "time"
    OFFSET = "offset"
    SHIFT = "shift"
    LISTED = "listed"


class Silent(StrEnum):
    """What happens to a partition that has no record at or after a time."""

    ASK = "ask"
    END = "end"
    LEAVE = "leave"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One row of a file of offsets, or one commit of another group."""

    topic: str
    partition: int
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where to go. `at` is a time in Unix milliseconds, `by` a number of offsets, either sign.

    Of a TIME, `silent` is for partitions without a record then or later, and `past_retention`
    accepts that retention may have taken records since then, so that some begin later.
    """

    place: TargetKind
    at: int | None = None
    offset: int | None = None
    by: int | None = None
    listed: tuple[Listed, ...] = ()
    silent: Silent = Silent.ASK
    past_retention: bool = False

    def describe(self) -> str:
        """Return it as the end of `reset the offsets of G to ...`."""
        match self.place:
            case TargetKind.TIME:
                return f"the first record at or after {iso(from_milliseconds(self.at or 0))}"
            case TargetKind.OFFSET:
                return f"offset {self.offset}"
            case TargetKind.SHIFT if self.by:
                way, count = "before" if self.by < 0 else "after", abs(self.by)
                offsets = plural(count, "offset", f"{count:,}")
                return f"the position {offsets} {way} the current offset"
            case TargetKind.CURRENT | TargetKind.SHIFT:
                return "the current offsets"
            case TargetKind.LISTED:
                return "the listed offsets"
            case TargetKind.BEGINNING:
                return "the earliest offsets"
        return "the latest offsets"


OF_CONSUMER = "when the consumer starts, it applies auto.offset.reset"
OF_QUERY = "when the query starts, Spark reads the partition from the earliest offset"
"""What becomes of a partition without an offset."""


CUT_BY_RETENTION = Risk(
    "no record of {partitions} is older than {time}, so retention may also have deleted records "
    "after this time. If so, the inputs don't start at one common time",
    partitions="TOPIC[PARTITION]",
)
NO_OFFSET_SET = Risk(
    "{partition} has no committed offset, and the run sets none: {consequence}",
    partition="TOPIC[PARTITION]",
    consequence=OF_CONSUMER,
)
SHIFT_STOPS = Risk(
    "the offset of {partition} {moves} the {end} offset",
    partition="TOPIC[PARTITION]",
    moves="moves by N, not by N: the shift stops at",
    end="earliest or latest",
)


@dataclass(frozen=True, slots=True)
class Found:
    """Where each partition goes; one that is left as it is, is not in `to`.

    Of a time, `cut` begin with the first record that retention has left of them, which may be
    later; `within` have records of before it, too. `blockers` and `risks` are sentences.
    """

    to: dict[TopicPart, int] = field(default_factory=dict)
    blockers: list[str] = field(default_factory=list)
    risks: list[str] = field(default_factory=list)
    cut: list[TopicPart] = field(default_factory=list)
    within: list[TopicPart] = field(default_factory=list)


def stale_reasons(blockers: Iterable[str]) -> str:
    """Return as one text why a planned target can't be reached any more: the first reasons."""
    found = list(dict.fromkeys(text.rstrip(".") for text in blockers))
    more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    said = f"{'; '.join(found[:_SHOWN])}{more}"
    # A reason may name the scenario that gets over it.
    return said if "`headgate plan " in said else f"{said}. Run `headgate plan` again"


def find(
    target: Target,
    inspector: Inspector,
    topics: Mapping[str, Topic],
    parts: Iterable[TopicPart],
    committed: Mapping[TopicPart, int],
    *,
    are_all: bool = True,
    unset: str = OF_CONSUMER,
) -> Found:
    """Return where the partitions go in the current cluster state.

    UnreachableError if the cluster doesn't answer. `are_all` says that these are all that move;
    otherwise the caller handles those that are `cut`. `unset` says what becomes of a partition that
    has no offset and gets none.

    A target outside of a partition's log is blocked: Kafka would accept it, and the consumer would
    follow its `auto.offset.reset` at the next start. Only a shift stops at the earliest or latest
    offset.
    """
    found = Found()
    wanted = list(parts)
    first = inspector.kafka.first_at(wanted, target.at) if target.at is not None else {}
    listed = {(row.topic, row.partition): row.offset for row in target.listed}
    logs = {(topic.name, p.number): p for topic in topics.values() for p in topic.partitions}
    for part in wanted:
        log = logs.get(part)
        if log is None:
            if part[0] in topics:
                found.blockers.append(
                    f"topic {part[0]} has no partition {part[1]}, only "
                    f"{numbers_of(topics[part[0]])}. Choose an existing partition"
                )
            continue
        if log.begin is None or log.end is None:
            found.blockers.append(
                f"the earliest and latest offset of {_name(part)} are unknown: check that the "
                "partition has a leader"
            )
            continue
        finder = _Finder(found, part, log.begin, log.end, committed.get(part), unset)
        if target.place is TargetKind.LISTED:
            finder.exact(listed.get(part))
        else:
            finder.go(target, first.get(part))
    if are_all:
        say_cut(found, target)
    unknown = sorted(listed.keys() - set(wanted))
    found.blockers.extend(
        f"{_name(part)} has a listed offset, but this partition isn't selected. Remove it from the "
        "list of offsets"
        for part in unknown
    )
    return found


def numbers_of(topic: Topic) -> str:
    """Return the numbers of a topic's partitions, as text: `partitions 0 to 2`."""
    last = len(topic.partitions) - 1
    return f"partitions 0 to {last}" if last > 0 else "partition 0"


def missing_parts(
    parts: Iterable[TopicPart], topics: Mapping[str, Topic]
) -> dict[str, list[TopicPart]]:
    """Return the partitions that topics don't have, by topic; of topics that exist."""
    there = {(topic.name, p.number) for topic in topics.values() for p in topic.partitions}
    found: dict[str, list[TopicPart]] = {}
    for part in sorted(set(parts) - there):
        if part[0] in topics:
            found.setdefault(part[0], []).append(part)
    return found


def say_cut(found: Found, target: Target) -> None:
    """Block, or name as a risk, a time that retention has passed only in some partitions.

    If no log holds records from before it, each begins where its log does: at the BEGINNING.
    """
    if not found.cut:
        return
    parts, at = name_list(_name(part) for part in found.cut), iso(from_milliseconds(target.at or 0))
    said = CUT_BY_RETENTION(partitions=parts, time=at)
    if target.past_retention or not found.within:
        found.risks.append(said)
    else:
        found.blockers.append(
            f"{said}. Choose a later time. Or accept the remaining records: pass --past-retention "
            "to `headgate plan from-point` or `headgate reset`"
        )


def _name(part: TopicPart) -> str:
    return f"{part[0]}[{part[1]}]"


@dataclass(frozen=True, slots=True)
class _Finder:
    """One partition: its log's first offset, the next one to be written, what is committed."""

    found: Found
    part: TopicPart
    begin: int
    end: int
    committed: int | None
    unset: str

    def go(self, target: Target, first: int | None) -> None:
        match target.place:
            case TargetKind.BEGINNING:
                self._to(self.begin)
            case TargetKind.END:
                self._to(self.end)
            case TargetKind.OFFSET:
                self.exact(target.offset)
            case TargetKind.TIME:
                self._time(target, first)
            case TargetKind.CURRENT:
                self._current()
            case TargetKind.SHIFT:
                self._shift(target.by or 0)

    def _to(self, offset: int) -> None:
        self.found.to[self.part] = offset

    def exact(self, offset: int | None, *, is_committed: bool = False) -> None:
        if offset is None:
            return
        if self.begin <= offset <= self.end:
            self._to(offset)
            return
        location = (
            "before the earliest offset" if offset < self.begin else "beyond the latest offset"
        )
        valid = (
            f"valid offsets are {self.begin} to {self.end}"
            if self.begin < self.end
            else f"the partition has no records, so the only valid offset is {self.end}"
        )
        what, advice = "offset", ""
        if is_committed:
            what = "the committed offset"
            advice = ". Choose an offset or a time with `headgate plan from-point`"
        self.found.blockers.append(
            f"{what} {offset} of {_name(self.part)} is {location}: {valid}{advice}"
        )

    def _time(self, target: Target, first: int | None) -> None:
        if first is not None:
            if first > self.begin:
                self.found.within.append(self.part)
            elif self.begin > 0:
                self.found.cut.append(self.part)
            self._to(max(first, self.begin))
        elif target.silent is Silent.END:
            self._to(self.end)
        elif target.silent is Silent.ASK:
            self.found.blockers.append(
                f"{_name(self.part)} has no record at or after "
                f"{iso(from_milliseconds(target.at or 0))}: choose with --no-record whether the "
                "partition moves to its latest offset or keeps its offset"
            )
        elif self.committed is None:
            self._none()

    def _current(self) -> None:
        if self.committed is None:
            self._none()
        else:
            self.exact(self.committed, is_committed=True)

    def _none(self) -> None:
        self.found.risks.append(NO_OFFSET_SET(partition=_name(self.part), consequence=self.unset))

    def _shift(self, by: int) -> None:
        if self.committed is None:
            if self.begin == self.end:
                # Without a record, there is nothing that a shift could reprocess or skip.
                return
            self.found.blockers.append(
                f"{_name(self.part)} has no committed offset to shift: choose an offset or a time "
                "instead"
            )
            return
        wished = self.committed + by
        at = min(max(wished, self.begin), self.end)
        if at != wished:
            end = "earliest" if at == self.begin else "latest"
            moves = f"moves by {at - self.committed:+d}, not by {by:+d}: the shift stops at"
            if at == self.committed:
                moves = "doesn't move: it is already"
            self.found.risks.append(SHIFT_STOPS(partition=_name(self.part), moves=moves, end=end))
        self._to(at)


def read_rows(rows: Iterable[str], *, option: str) -> tuple[Listed, ...]:
    """Return rows of `topic,partition,offset`; ScenarioError names the first that is none."""
    found: dict[TopicPart, Listed] = {}
    for number, row in _numbered(rows):
        listed = _row(row, f"--{option}, line {number}")
        key = (listed.topic, listed.partition)
        if key in found:
            raise ScenarioError(
                f"--{option}, line {number}: {_name(key)} is listed twice. Remove one row"
            )
        found[key] = listed
    if not found:
        raise ScenarioError(
            f"--{option}: no offset found. Write one row TOPIC,PARTITION,OFFSET per partition"
        )
    return tuple(found[key] for key in sorted(found))


def _numbered(rows: Iterable[str]) -> Iterator[tuple[int, str]]:
    for number, row in enumerate(rows, start=1):
        if text := row.strip():
            yield number, text


def _row(row: str, location: str) -> Listed:
    cells = [cell.strip().strip('"') for cell in row.split(",")]
    if len(cells) != 3 or not cells[0] or not all(c.isascii() and c.isdecimal() for c in cells[1:]):
        raise ScenarioError(f"{location}: expected TOPIC,PARTITION,OFFSET, found {row!r}")
    return Listed(topic=cells[0], partition=int(cells[1]), offset=int(cells[2]))


# A number of records is another time in every partition; a beginning or an end is one for all.
_OF_EACH = frozenset({TargetKind.OFFSET, TargetKind.SHIFT})


NO_COMMON_TIME = Risk(
    "{target} can have a different time in each of the {count} partitions, so joins and "
    "aggregations don't start at one common time. For a common time, use --to-datetime",
    target="offset N",
    count="N",
)
OFFSETS_KEPT = Risk(
    "these partitions keep their offsets: {partitions}. Inputs don't start at one common time",
    partitions="TOPIC[PARTITION]",
)


def cut_risks(
    target: Target, moving: Iterable[TopicPart], read: Iterable[TopicPart]
) -> tuple[str, ...]:
    """Return what makes a start inconsistent; `read` are all partitions that the pipeline reads.

    Only a time is the same moment in all of them; a list or another group's offsets are whatever
    their author meant, as long as no partition is left out.
    """
    there = set(moving)
    if target.place is TargetKind.CURRENT or not there:
        return ()
    risks = []
    if target.place in _OF_EACH and len(there) > 1:
        risks.append(NO_COMMON_TIME(target=target.describe(), count=len(there)))
    if left := set(read) - there:
        parts = name_list(f"{topic}[{number}]" for topic, number in left)
        risks.append(OFFSETS_KEPT(partitions=parts))
    return tuple(risks)


TARGET_RISKS = (NO_COMMON_TIME, OFFSETS_KEPT, CUT_BY_RETENTION, NO_OFFSET_SET, SHIFT_STOPS)
"""What any target can say; from the earliest or latest offset, only OFFSETS_KEPT is."""
