"""Join what the plan, the session, the progress and the offset log say of the sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from headgate.model.progress import SourceFacts
from headgate.model.version import Source
from headgate.parse.spark.checkpoint.checkpoint import LoggedSource
from headgate.parse.spark.operators.canonical import Anchor, Shape
from headgate.parse.spark.operators.resolve_columns import top_down
from headgate.parse.spark.operators.streaming import folder, is_settled
from headgate.parse.spark.session.capture_json import kafka_topics
from headgate.text.secrets import mask, mask_text

T = TypeVar("T")
_HIDDEN = (
    "the query plan lacks a source that had no data in the last batch: add the "
    "logical plan, query progress or the checkpoint"
)
_OPTION = "option."
_UNDECIDED = (
    "the query plan has {} scans, but doesn't show which ones are streams and which are static "
    "tables: add the logical plan, query progress or the checkpoint"
)


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources in offset-log order, None if unknown; and where pieces of evidence disagree."""

    sources: tuple[Source, ...] | None
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """Everything said of one source."""

    position: int
    anchor: Anchor | None = None
    captured: SourceFacts | None = None
    reported: SourceFacts | None = None
    logged: LoggedSource | None = None
    is_newer: bool = False
    log_places: tuple[int, ...] | None = ()

    @property
    def extra(self) -> Mapping[str, str]:
        """What the plan's leaf says."""
        relation = self.anchor.relation if self.anchor else None
        return relation.extra if relation else {}

    def first(self, name: str) -> Any:
        """Return what the session says, else what the progress does."""
        for facts in (self.captured, self.reported):
            if facts is not None and getattr(facts, name):
                return getattr(facts, name)
        return None


def join_sources(
    shape: Shape | None,
    captured: Sequence[SourceFacts] | None,
    reported: Sequence[SourceFacts] | None,
    logged: Sequence[LoggedSource] | None,
    *,
    is_newer: bool = False,
) -> Sources:
    """Return the sources; a piece that counts another number of them is left out of it.

    The plan's count comes first, then the session's, the log's and the progress's. In a log by
    name a source finds its entry by its name. `is_newer` says that the progress is of a later
    batch than the log's newest committed one: then its offsets count.
    """
    planned = planned_sources(shape) if shape else None
    if planned is not None and reported is not None and len(reported) < len(planned):
        planned = _those_reported(planned, reported)
    mentioned = mentioned_sources(shape) if shape else ()
    if planned is not None and len(planned) == len(set(mentioned)):
        captured, logged = _once(captured, mentioned), _once(logged, mentioned)
    others = [len(found) for found in (captured, logged, reported) if found is not None]
    if planned is not None and shape and shape.hides_sources:
        # The last batch was planned without a source that had no data.
        if not others and shape.resolved.query.hides_sources:
            return Sources(None, [_HIDDEN])
        planned = planned if not others or len(planned) in others else None
    if planned is not None and shape and not is_settled(shape.resolved.query):
        if not others:
            return Sources(None, [_UNDECIDED.format(len(planned))])
        planned = planned if len(planned) in others else None
    counts = {
        who: len(found)
        for who, found in (
            ("the query plan", planned),
            ("the capture", captured),
            ("the offset log", logged),
            ("the query progress", reported),
        )
        if found is not None
    }
    if not counts:
        return Sources(None)
    count = next(iter(counts.values()))
    made = []
    logs_each = planned is None and (captured is not None or logged is not None)
    log_places = [()] * count if logs_each else _log_positions(mentioned, count)
    for position in range(count):
        fact = _at(captured, position, count)
        said = _Said(
            position=position,
            anchor=_at(planned, position, count),
            captured=fact,
            reported=_at(reported, position, count),
            logged=_entry(logged, position, count, fact.name if fact else None),
            is_newer=is_newer,
            log_places=log_places[position],
        )
        made.append(_source(said))
    return Sources(tuple(made), _differing(counts))


def _differing(counts: Mapping[str, int]) -> list[str]:
    if len(set(counts.values())) < 2:
        return []
    said = ", ".join(f"{count} in {who}" for who, count in counts.items())
    used = next(iter(counts.values()))
    return [f"the number of sources differs ({said}): Headgate uses {used}"]


def _at(found: Sequence[T] | None, position: int, count: int) -> T | None:
    return found[position] if found is not None and len(found) == count else None


def _entry(
    logged: Sequence[LoggedSource] | None, position: int, count: int, name: str | None
) -> LoggedSource | None:
    if logged is None:
        return None
    if name and any(s.name for s in logged):
        return next((s for s in logged if s.name == name), None)
    return _at(logged, position, count)


def planned_sources(shape: Shape) -> list[Anchor]:
    """Return the streaming leaves, each source once, in the plan's order."""
    out: dict[int, Anchor] = {}
    for anchor in shape.anchors.values():
        relation = anchor.relation
        if anchor.word == "source" and relation is not None and relation.streaming:
            out.setdefault(anchor.facts.position or 0, anchor)
    return [out[n] for n in sorted(out)]


def _those_reported(planned: list[Anchor], reported: Sequence[SourceFacts]) -> list[Anchor]:
    """Return the leaves that are streams, where the progress shows that files of others are not.

    A batch's plan scans the files of a stream like those of a static relation. What the progress
    names are streams; as many leaves must remain as it names, else nothing is left out.
    """
    folders = [folder(r.path) for r in reported if r.path]
    kept = [a for a in planned if _is_below(a, folders)]
    return kept if len(kept) == len(reported) else planned


def _is_below(anchor: Anchor, folders: Sequence[str]) -> bool:
    """Whether a leaf reads one of the folders; one that scans no files is not judged by them."""
    path = anchor.relation.extra.get("path") if anchor.relation else None
    return path is None or any(folder(path).startswith(f) for f in folders)


def mentioned_sources(shape: Shape) -> list[int]:
    """Return the position of the source at each streaming leaf, in the plan's order.

    A stream that is used twice is one source, and is in the offset log twice.
    """
    leaves = (shape.resolved.query.relations[i] for i in top_down(shape.resolved.query.relations))
    made = [
        frozenset(c.id for c in r.outputs) for r in leaves if r.kind == "source" and r.streaming
    ]
    known: dict[frozenset[int | None], int] = {}
    return [known.setdefault(columns, len(known)) for columns in made]


def _log_positions(mentioned: Sequence[int], count: int) -> Sequence[tuple[int, ...] | None]:
    """Return each source's positions in the offset log; None if only progress names sources.

    Progress names a source once, however often the query reads it.
    """
    if not mentioned:
        return [None] * count
    if count != len(set(mentioned)) or count == len(mentioned):
        return [()] * count
    log_places: list[list[int]] = [[] for _ in range(count)]
    for index, mention in enumerate(mentioned):
        log_places[mention].append(index)
    return [tuple(found) for found in log_places]


def _once(found: Sequence[T] | None, mentioned: Sequence[int]) -> Sequence[T] | None:
    """Return the first entry of each source, where `found` has one for each mention."""
    if found is None or len(found) != len(mentioned):
        return found
    first: dict[int, T] = {}
    for mention, entry in zip(mentioned, found, strict=True):
        first.setdefault(mention, entry)
    return [first[position] for position in sorted(first)]


def _source(said: _Said) -> Source:
    extra, logged, relation = said.extra, said.logged, said.anchor and said.anchor.relation
    options = _options(said)
    topics, pattern = _topics(said, options)
    path = said.first("path") or (extra.get("path") if "read_schema" not in extra else None)
    return Source(
        position=said.position,
        format=_format(said, topics, pattern),
        name=said.first("name") or extra.get("name") or (logged.name if logged else None),
        topics=topics,
        pattern=pattern,
        path=mask_text(path) if path else None,
        options=options,
        columns=tuple(c.name for c in relation.outputs) if relation else None,
        start_offsets=logged.start if logged else None,
        offsets=_newest_offsets(said),
        advanced=logged.advanced if logged else None,
        log_places=said.log_places,
        node=said.anchor.id if said.anchor else None,
    )


def _newest_offsets(said: _Said) -> Any:
    reported = said.reported.offsets if said.reported else None
    if said.logged is None or (said.is_newer and reported is not None):
        return reported
    return said.logged.offsets


def _options(said: _Said) -> dict[str, str]:
    """Return the session's options, else those that a plan prints; secrets are masked."""
    if said.captured is not None and said.captured.options:
        return dict(said.captured.options)
    size = len(_OPTION)
    return mask({k[size:]: v for k, v in said.extra.items() if k.startswith(_OPTION)})


def _topics(said: _Said, options: Mapping[str, str]) -> tuple[tuple[str, ...], str | None]:
    """Return exact topics and pattern; without a word of either, the topics that have offsets."""
    lowered = {k.lower(): v for k, v in options.items()}
    topics = said.first("topics") or kafka_topics(lowered)
    pattern = said.first("pattern") or lowered.get("subscribepattern")
    offsets = said.logged.offsets if said.logged else None
    empty = _is_of_empty_source(said.extra)
    other = not empty and said.extra.get("format") not in (None, "kafka")
    if not topics and not pattern and not other and by_topic(offsets):
        topics = tuple(sorted(offsets or ()))
    return tuple(topics), pattern


def _format(said: _Said, topics: tuple[str, ...], pattern: str | None) -> str | None:
    captured = said.captured.format if said.captured else None
    reported = said.reported.format if said.reported else None
    guessed = "kafka" if topics or pattern else None
    logged = said.logged.format if said.logged else None
    planned = None if _is_of_empty_source(said.extra) else said.extra.get("format")
    return captured or planned or reported or guessed or logged


def _is_of_empty_source(extra: Mapping[str, str]) -> bool:
    """Whether a leaf stands for a source that had no data: its kind is not the source's."""
    return "empty_batch" in extra or "empty" in extra


def by_topic(offsets: Any) -> bool:
    """Whether offsets have Kafka's shape: {topic: {partition: offset}}."""
    return (
        isinstance(offsets, dict)
        and bool(offsets)
        and all(
            isinstance(v, dict) and v and all(str(p).isdecimal() for p in v)
            for v in offsets.values()
        )
    )
