"""From the outputs and changelogs of two Kafka Streams versions to a verdict.

The order: starts that failed; outputs of B that differ from those of the new version from scratch;
coverage. If a topic's outputs differ, three questions follow, the first yes decides:

    both versions wrote the same for A       the change meant no other results: wrong
    the same as without any state            the old state is lost: wrong
    a store has the rows of another one, keys of another kind, or another name: wrong

Outputs that also differ between two equal runs only count if they differ much more. Otherwise the
new version means something else by intent, and its history is mixed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from headgate.model.twin import Counterexample, FailedStart, OperatorRows, TwinVerdict
from headgate.text.numbers import plural
from headgate.text.secrets import MASK
from headgate.twin.streams_bytes import shown, shown_key
from headgate.twin.streams_experiment import (
    Entry,
    Start,
    StreamsExperiment,
    last_rows,
    sorted_rows,
)

LEAST_OUT = 10
_ORPHANED, _ADOPTED, _TELLING = 0.3, 0.9, 5
# A difference counts if it is more than so many times that of two equal runs.
_CHANCE = 3
_BY_ITSELF = ("batch",)
_SAMPLE = "Does this version run on a sample of real records (--sample)?"


def judge_streams(run: StreamsExperiment) -> TwinVerdict:
    """Return the verdict on one experiment; values of a sample are masked."""
    verdict = _verdict(run)
    outputs = sum(len(rows) for rows in run.resumed.outputs.values())
    verdict = replace(verdict, operators=tuple(_coverage(run)), rows_out=outputs)
    return _masked(verdict) if run.is_sampled else verdict


def _verdict(run: StreamsExperiment) -> TwinVerdict:
    for said in (_stopped(run), _failed_start(run)):
        if said is not None:
            return said
    found = list(_of_topics(run))
    if wrong := [s for s in found if s.outcome == "silently_wrong"]:
        return replace(wrong[0], why="; ".join(dict.fromkeys(s.why for s in wrong)))
    if unknown := [s for s in found if s.outcome == "unknown"]:
        return unknown[0]
    if lacking := _lacking(run):
        return _unknown(
            lacking,
            (
                "Do more records (--rows) or real records (--sample) reach every store and output "
                "topic?"
            ),
        )
    if found:
        why = "; ".join(dict.fromkeys(s.why for s in found))
        return TwinVerdict(outcome="resumes", why=why, mixed=any(s.mixed for s in found))
    return _equal(run)


def _unknown(why: str, question: str) -> TwinVerdict:
    return TwinVerdict(outcome="unknown", why=why, question=question)


def _stopped(run: StreamsExperiment) -> TwinVerdict | None:
    """Return the verdict if the old version does not run, or a start did not end."""
    old = run.before_a
    if old.how == "refuses":
        return _unknown(
            f"the old version fails on the records of the twin run: {_first(old)}", _SAMPLE
        )
    for start in (old, run.after_a, run.resumed, run.own):
        if start.question is not None:
            which = "old" if start is old else "new"
            return _unknown(f"the {which} version did not process all records", start.question)
    return None


def _failed_start(run: StreamsExperiment) -> TwinVerdict | None:
    start, own = run.resumed, run.after_a
    if start.how != "refuses":
        failed = next((s for s in (own, run.own) if s.how == "refuses"), None)
        if failed is None:
            return None
        return _unknown(
            (f"the new version fails when it starts from scratch: {_first(failed)}"), _SAMPLE
        )
    if own.how == "refuses" and own.stage in _BY_ITSELF and _class(own) == _class(start):
        why = (
            "the new version fails on the records of the twin run, with and without old state: "
            f"{_first(start)}"
        )
        return _unknown(why, _SAMPLE)
    if run.own.how == "refuses" and start.stage in _BY_ITSELF:
        return _unknown(
            f"the new version also fails when it starts from scratch: {_first(run.own)}", _SAMPLE
        )
    name, _, message = start.causes[0].partition(": ") if start.causes else ("", "", "")
    innermost = start.causes[-1] if start.causes else ""
    return TwinVerdict(
        outcome="refuses",
        why=(
            f"Kafka Streams fails with {name.rpartition('.')[2] or 'an unknown error'} on the old "
            "version's state"
        ),
        refusal=FailedStart(
            error_class=name,
            condition=innermost.partition(": ")[0] or None,
            message=message or innermost,
        ),
    )


def _class(start: Start) -> str:
    return start.causes[0].partition(": ")[0] if start.causes else ""


def _first(start: Start) -> str:
    """Return the outermost error and the innermost one, if it is another."""
    if not start.causes:
        return "the error is unknown"
    ends = dict.fromkeys((start.causes[0], start.causes[-1]))
    return ", caused by ".join(text[:200] for text in ends)


def _of_topics(run: StreamsExperiment) -> Iterator[TwinVerdict]:
    """Yield what each topic says whose outputs of B differ."""
    for topic in run.topics:
        if sorted_rows(run.resumed, topic) != sorted_rows(run.own, topic):
            yield _Topic(run, topic).verdict()


@dataclass(frozen=True, slots=True)
class _Topic:
    """A topic whose outputs of B differ."""

    run: StreamsExperiment
    name: str

    def verdict(self) -> TwinVerdict:
        """Return what the difference means."""
        run, name = self.run, self.name
        chance_a = self._apart(run.after_a, run.again_a)
        chance = self._apart(run.own, run.again)
        if chance + chance_a and (said := self._by_chance(chance)) is not None:
            return said
        if not run.before_a.outputs.get(name):
            return self._resumes(
                f"the old version wrote nothing to topic {name}: the output starts at the restart"
            )
        if self._apart(run.before_a, run.after_a) <= _CHANCE * chance_a:
            return self._wrong(
                f"both versions write the same records to topic {name} before the restart, but "
                "different records after it"
            )
        if self._ends_equally:
            return self._ends()
        if run.bare and self._apart(run.bare, run.resumed) <= _CHANCE * chance:
            return self._wrong(
                f"the new version writes to topic {name} as if there were no old state"
            )
        if (why := _of_stores(run)) is not None:
            return self._wrong(why)
        return self._resumes(f"outputs to topic {name} mix results of the old and the new version")

    def _by_chance(self, chance: int) -> TwinVerdict | None:
        """Return a verdict on outputs that differ from run to run, None if it is not by chance."""
        run, name = self.run, self.name
        assert run.again_a is not None and run.again is not None
        ends = self._left(run.again_a, run.again)
        if self._ends_equally and ends == self._left(run.after_a, run.own):
            return self._ends()
        if self._apart(run.resumed, run.own) > _CHANCE * chance:
            return None
        return _unknown(
            f"outputs to topic {name} differ from run to run, so Headgate can't compare them",
            (
                "Do these outputs depend on the time of day, on random values, or on the order "
                "of partitions?"
            ),
        )

    def _apart(self, one: Start, other: Start | None) -> int:
        """Return how many outputs only one of both starts wrote."""
        if other is None:
            return 0
        rows = [Counter(start.outputs.get(self.name, ())) for start in (one, other)]
        return sum(((rows[0] - rows[1]) + (rows[1] - rows[0])).values())

    @property
    def _ends_equally(self) -> bool:
        run = self.run
        resumed = self._left(run.before_a, run.resumed)
        return resumed == self._left(run.after_a, run.own)

    def _left(self, *starts: Start) -> dict[bytes | None, bytes | None]:
        """Return the last values; a key that was deleted is as one that never was."""
        found = last_rows(self.name, *starts)
        return {key: value for key, value in found.items() if value is not None}

    def _ends(self) -> TwinVerdict:
        said = self._resumes(f"outputs to topic {self.name} end with the same value for each key")
        return replace(said, mixed=False)

    def _resumes(self, why: str) -> TwinVerdict:
        return TwinVerdict(outcome="resumes", why=why, mixed=True)

    def _wrong(self, why: str) -> TwinVerdict:
        return TwinVerdict(
            outcome="silently_wrong",
            why="; ".join((why, *_renamed(self.run))),
            counterexample=self._example(),
        )

    def _example(self) -> Counterexample:
        """Return a key whose last value differs, else one whose values differ."""
        run = self.run
        resumed, own = (last_rows(self.name, s) for s in (run.resumed, run.own))
        keys = [k for k in (*own, *resumed) if resumed.get(k, b"") != own.get(k, b"")]
        if keys:
            key = min(dict.fromkeys(keys), key=_plainness)
            values = [_value(rows, key) for rows in (resumed, own)]
        else:
            key, values = self._one_of_many()
        return Counterexample(
            kind="output",
            operator=self.name,
            key={"topic": self.name, "key": shown_key(key)},
            before=values[0],
            after=values[1],
        )

    def _one_of_many(self) -> tuple[bytes | None, list[str | None]]:
        """Return the key of an output that only one of both wrote, and all its values."""
        rows = [sorted_rows(s, self.name) for s in (self.run.resumed, self.run.own)]
        counts = [Counter(some) for some in rows]
        odd = next(r for r in (*rows[1], *rows[0]) if counts[0][r] != counts[1][r])
        found = [", ".join(str(shown(v)) for k, v in some if k == odd[0]) for some in rows]
        return odd[0], [text or None for text in found]


def _value(rows: Mapping[bytes | None, bytes | None], key: bytes | None) -> str | None:
    return shown(rows[key]) if key in rows else None


def _plainness(key: bytes | None) -> tuple[bool, int, bytes]:
    text = shown(key) or ""
    return text.startswith("0x") or not text, len(text), key or b""


def _lost(run: StreamsExperiment) -> tuple[list[str], list[str]]:
    """Return stores that only the old version has, and new ones that would not be empty."""
    old, new = run.names
    gone = [s for s in sorted(old - new) if run.before_a.stores.get(s)]
    added = [s for s in sorted(new - old) if run.after_a.stores.get(s)]
    return gone, added


def _named(stores: Sequence[str]) -> str:
    return f"store{'s' if len(stores) > 1 else ''} {' and '.join(stores)}"


def _renamed(run: StreamsExperiment) -> Iterator[str]:
    gone, added = _lost(run)
    if gone and added:
        keys = sum(len(run.before_a.stores[s]) for s in gone)
        verb = "starts" if len(added) == 1 else "start"
        yield (
            f"the new version no longer reads {_named(gone)} ({plural(keys, 'key')}), "
            f"and {_named(added)} {verb} empty"
        )


def _of_stores(run: StreamsExperiment) -> str | None:
    """Say why stores of the old version mean something else to the new one, None if they don't."""
    gone, added = _lost(run)
    if gone and added:
        return "the old state is lost"
    for name in sorted(run.names[0] & run.names[1]):
        old, new = (s.stores.get(name, {}) for s in (run.before_a, run.after_a))
        if (other := _owner(run, name)) is not None:
            return (
                f"in one version, store {name} has the rows that store {other} has in the other "
                "version"
            )
        common = len(old.keys() & new.keys())
        if old and new and _share(common, old) < 1 - _ORPHANED > _share(common, new):
            return f"the keys of store {name} have a different meaning in the new version"
    return None


def _owner(run: StreamsExperiment, name: str) -> str | None:
    """Return another store whose rows the store `name` has in one of both versions."""
    old, new = run.before_a.stores, run.after_a.stores
    mine, now = old.get(name, {}), new.get(name, {})
    if _alike(mine, now) >= _ADOPTED:
        return None
    for other in sorted((old.keys() | new.keys()) - {name}):
        theirs = (now, old.get(other, {})), (new.get(other, {}), mine)
        if any(len(b) >= _TELLING and _alike(a, b) >= _ADOPTED for a, b in theirs):
            return other
    return None


def _alike(one: Mapping[Entry, bytes], other: Mapping[Entry, bytes]) -> float:
    """Return the share of equal rows."""
    whole = len(one.keys() | other.keys())
    same = sum(other.get(key) == value for key, value in one.items())
    return same / whole if whole else 1.0


def _share(part: int, whole: Mapping[Entry, bytes]) -> float:
    return part / len(whole)


def _lacking(run: StreamsExperiment) -> str | None:
    """Say what the records did not reach, None if they reached everything."""
    written = sum(len(rows) for rows in run.own.outputs.values())
    updated = sum(run.own.updates.values())
    if written < LEAST_OUT and (run.own.outputs or updated < LEAST_OUT):
        return (
            f"the records after the restart produced only {plural(written, 'output record')} (a "
            f"verdict needs {LEAST_OUT})"
        )
    for title, start, later in (
        ("old", run.before_a, run.before_a),
        ("new", run.after_a, run.own),
    ):
        for store, count in start.updates.items():
            if not count and not later.updates.get(store):
                return f"no record reached store {store} of the {title} version"
    for topic in sorted(run.sinks):
        if not run.own.outputs.get(topic) and not run.after_a.outputs.get(topic):
            return f"the new version wrote no record to topic {topic}"
    return None


def _equal(run: StreamsExperiment) -> TwinVerdict:
    rows = sum(len(found) for found in run.own.outputs.values())
    keys = sum(len(found) for found in run.before_a.stores.values())
    why = (
        "after the restart, the new version wrote the same outputs as after a start from scratch "
        f"({plural(rows, 'record')}). The old version had {plural(keys, 'key')} in its stores"
    )
    differ = [
        name
        for name, own in run.own.stores.items()
        if _alike(own, run.resumed.stores.get(name, {})) < 1
    ]
    if differ:
        why += (
            f". Interactive queries on {_named(sorted(differ))} return different rows "
            "than after a start from scratch"
        )
    return TwinVerdict(outcome="resumes", why=why, mixed=bool(differ), is_exact=not differ)


def _coverage(run: StreamsExperiment) -> Iterator[OperatorRows]:
    old, new = run.names
    for name in sorted(old | new):
        before, after = run.before_a.updates, run.after_a.updates
        if name in before or name in after:
            yield OperatorRows(
                operator_id=-1,
                operator=f"store {name}",
                rows_before=before.get(name),
                rows_after=after.get(name),
            )
    for topic in run.topics:
        counts = [len(s.outputs.get(topic, ())) for s in (run.before_a, run.after_a)]
        yield OperatorRows(
            operator_id=-1, operator=f"output topic {topic}", rows_before=counts[0],
            rows_after=counts[1],
        )  # fmt: skip


def _masked(verdict: TwinVerdict) -> TwinVerdict:
    """Return it without keys and values."""
    example = verdict.counterexample
    if example is None:
        return verdict
    kept = {name: v if name == "topic" else MASK for name, v in example.key.items()}
    values = [MASK if v is not None else None for v in (example.before, example.after)]
    example = replace(example, key=kept, before=values[0], after=values[1], masked=True)
    return replace(verdict, counterexample=example)
