"""From two states and two outputs to a verdict: what the engine would do with the old state."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from headgate.model.stateful_operators import OPERATOR_KINDS
from headgate.model.twin import Counterexample, FailedStart, FilterRows, OperatorRows, TwinVerdict
from headgate.model.version import OperatorKind
from headgate.text.numbers import plural
from headgate.twin.experiment import Experiment, Store, StoreId
from headgate.twin.judge_store import LEAST_ROWS, LIMIT, Said, judge_store, output_of

# Below these no `resumes` is said.
_LEAST_OUT, _LEAST_KEYS, _CONSTANT_OVER = 10, 2, 5
_GROUPS = (OperatorKind.AGGREGATE, OperatorKind.SESSION_AGGREGATE)
# Of keys that may have another expression: two or three keys can be equal by chance.
_LEAST_OTHER_KEYS = 8
_OF_RESTART = re.compile(
    "STATE_|STREAM|CHECKPOINT|OFFSET|SCHEMA|INCOMPAT|AssertionError|EVENT_TIME|UNSUPPORTED|"
    "IllegalState|SparkUnsupported|SOURCE|METADATA"
)
# The buffer of approx_count_distinct() has 52 words, of which a few rows fill some. That of a sum
# of decimals says whether it has no value yet, which is so only for a key whose rows are all null.
_WORD_OF_SKETCH, _IS_EMPTY = re.compile(r"MS\[\d+\]$"), "isEmpty"
_MORE_ROWS = "Do more rows (--rows) or real rows (--sample) reach every operator?"
_UNDECODED = "Py4JException"


def judge(run: Experiment) -> TwinVerdict:
    """Return the verdict on one experiment."""
    verdict = _verdict(run)
    return replace(
        verdict,
        operators=_operators(run),
        filters=_filters(run),
        rows_out=len(run.resumed.rows),
        left_out=tuple(sorted(run.left_out)),
        equivalence=run.equivalence,
    )


def _verdict(run: Experiment) -> TwinVerdict:
    for step in (_stopped, _failed_start, _without_control, _uncovered_time, _later_mode):
        if (said := step(run)) is not None:
            return said
    found = list(_of_stores(run))
    wrong = [s for s in found if s.outcome == "silently_wrong"]
    if wrong and run.takes_otherwise:
        return _unknown(
            (
                "the two versions split texts in different ways, and generated texts may fit "
                f"only one version: {wrong[0].why}"
            ),
            "Does a twin run on real rows (--sample) give the same result?",
        )
    if wrong:
        verdict = _told(wrong[0], [s.why for s in wrong])
        return replace(verdict, is_scaled=all(s.is_scaled for s in wrong))
    same = output_of(run.resumed, run) == output_of(run.own, run)
    if not found and not same:
        return _of_output(run)
    if (open_ := [s for s in found if s.outcome == "unknown"]) and not same:
        said = _unknown(open_[0].why, "Does the state have the same meaning in both versions?")
        return replace(said, is_thin=all(s.is_thin for s in open_))
    if unreached := _unreached(run):
        return _unknown(unreached, _MORE_ROWS)
    if lacking := _lacking(run):
        return replace(_unknown(lacking, _MORE_ROWS), is_thin=True)
    if not found:
        keys = sum(len(s.rows) for s in run.state_before.values())
        return TwinVerdict(
            outcome="resumes",
            why=(
                f"both versions produce the same state ({plural(keys, 'key')}) and the same "
                f"output ({plural(len(run.own.rows), 'row')})"
            ),
            is_exact=True,
        )
    return replace(_told(found[0], [s.why for s in found]), mixed=any(s.mixed for s in found))


def _told(said: Said, why: Sequence[str]) -> TwinVerdict:
    return TwinVerdict(
        outcome=said.outcome,
        why="; ".join(dict.fromkeys(why)),
        counterexample=said.example,
        mixed=said.mixed,
    )


def _unknown(why: str, question: str) -> TwinVerdict:
    return TwinVerdict(outcome="unknown", why=why, question=question)


def _stopped(run: Experiment) -> TwinVerdict | None:
    """Return the verdict if the old version itself can't run on the generated rows."""
    own_is_late = run.after_a.late and run.resumed.error is None
    controls = (run.own, *([run.again] if run.again else []))
    if run.before_a.late or own_is_late or run.resumed.late or any(c.late for c in controls):
        return _unknown(
            ("a version did not process all rows within --timeout"),
            "Is a longer --timeout enough?",
        )
    if run.before_a.error is None:
        return None
    return _unknown(
        f"the old version fails on generated rows: {_short(run.before_a.error)}",
        "Does the old version run on a sample of real rows (--sample)?",
    )


def _failed_start(run: Experiment) -> TwinVerdict | None:
    error, own = run.resumed.error, run.after_a.error
    if error is None:
        if own is None:
            return None
        return _unknown(
            f"the new version fails on generated rows: {_short(own)}",
            "Does the new version run on a sample of real rows (--sample)?",
        )
    name = str(error["class"])
    alone = [e for e in (own, run.own.error) if e is not None]
    by_itself = error.get("stage") == "batch" and any(
        e["stage"] == "batch" and e["class"] == name for e in alone
    )
    if by_itself and not is_of_restart(error):
        return _unknown(
            "the new version fails on generated rows, with and without the old version's "
            f"checkpoint: {_short(error)}",
            "Does the new version run on a sample of real rows (--sample)?",
        )
    if own is None and name.endswith(_UNDECODED):
        return TwinVerdict(
            outcome="silently_wrong",
            why="Spark starts, but the new version can't decode the stored state",
        )
    if error["is_around"]:
        return _unknown(
            f"the new version fails on the old version's checkpoint: {_short(error)}",
            "Did this machine cause the error (network, disk, jars)?",
        )
    return TwinVerdict(
        outcome="refuses",
        why=f"Spark fails with {name} on the old version's checkpoint",
        refusal=FailedStart(
            error_class=name, condition=error["condition"], message=str(error["message"])
        ),
    )


def is_of_restart(error: Mapping[str, Any]) -> bool:
    """Say whether an error speaks of the checkpoint or of the state, and not of a row's value."""
    return bool(_OF_RESTART.search(str(error["class"])))


def _short(error: Any) -> str:
    return f"{error['class']}: {str(error['message'])[:200]}"


def _without_control(run: Experiment) -> TwinVerdict | None:
    """Return the verdict if the new version takes B on the old one's checkpoint only."""
    if run.own.error is None:
        return None
    return _unknown(
        (
            "the new version fails when it restarts on the checkpoint that it wrote itself: "
            f"{_short(run.own.error)}"
        ),
        "Does the new version run on a sample of real rows (--sample)?",
    )


def _uncovered_time(run: Experiment) -> TwinVerdict | None:
    if run.inside is None:
        return None
    return _unknown(
        (
            f"{run.inside} returns different values in every run, and a key, a filter or the "
            "state depends on these values"
        ),
        "Do both versions use this function in the same way?",
    )


def _later_mode(run: Experiment) -> TwinVerdict | None:
    before, after = run.modes
    # Other stateful operators emit the same rows in every mode that they support.
    is_held_back = any(OPERATOR_KINDS.get(name) in _GROUPS for _, name, _ in run.state_before)
    if before != "Append" or after == "Append" or not is_held_back:
        return None
    lacking = "already evicted from its state" if after == "Complete" else "had not emitted yet"
    return TwinVerdict(
        outcome="silently_wrong",
        why=(
            f"output mode {before} -> {after}: the new version's output lacks groups that the old "
            f"version {lacking}"
        ),
    )


def _of_stores(run: Experiment) -> Iterator[Said]:
    for store in run.state_before:
        if store in run.state_after and (said := judge_store(run, store)):
            yield said
    gone = run.state_before.keys() - run.state_after.keys()
    new = run.state_after.keys() - run.state_before.keys()
    if gone and new:
        yield Said(
            "silently_wrong",
            f"the new version no longer reads {_names(gone)}, and {_start_empty(new)}",
        )
    elif new:
        yield Said("resumes", f"the new {_start_empty(new)}", mixed=True)


def _names(stores: set[StoreId]) -> str:
    return " and ".join(f"store {name} of {operator}" for _, operator, name in sorted(stores))


def _start_empty(stores: set[StoreId]) -> str:
    return f"{_names(stores)} {'starts' if len(stores) == 1 else 'start'} empty"


def _of_output(run: Experiment) -> TwinVerdict:
    """Return the verdict on equal states whose outputs differ."""
    resumed, own = output_of(run.resumed, run), output_of(run.own, run)
    if run.again is not None and output_of(run.again, run) != own:
        return _unknown(
            "the new version's output differs from run to run, so Headgate can't compare it",
            "Does the output depend on the order of rows, on the time or on random values?",
        )
    only, lacking = resumed - own, own - resumed
    if run.added_sources and not run.removed_sources and not lacking:
        return TwinVerdict(
            outcome="resumes", why="Spark reads the new source from the beginning", mixed=True
        )
    # A group's rows of a batch depend on which other rows the batch has. Rows that an added source
    # alone can't explain are told in append mode, where each group has one row.
    if run.removed_sources or (run.added_sources and run.modes[1] != "Append"):
        said = _unknown(
            "the states are equal, but the versions read different streams, so their outputs "
            "differ in any case",
            "Does each source still have the same meaning?",
        )
        return replace(said, is_thin=True)
    example = Counterexample(
        kind="output",
        key={},
        before=json.loads(next(iter(sorted(only)), "null")),
        after=json.loads(next(iter(sorted(lacking)), "null")),
    )
    return TwinVerdict(
        outcome="silently_wrong",
        why=(
            f"the states are equal, but the outputs differ: {plural(sum(only.values()), 'row')} "
            "only after a restart on the old version's checkpoint, "
            f"{plural(sum(lacking.values()), 'row')} only on the new version's own checkpoint"
        ),
        counterexample=example,
    )


def _unreached(run: Experiment) -> str | None:
    """Name a filter that no row passed, or an operator that none reached."""
    for version, ran in (("old", run.before_a), ("new", run.after_a)):
        if unreached := ran.unreached():
            return f"{unreached} in the {version} version"
    return None


def _lacking(run: Experiment) -> str | None:
    """Say what too few rows exercised, or rows that are too much alike."""
    if not run.state_before and len(run.own.rows) >= _LEAST_OUT:
        return None
    limits = any(operator == LIMIT for _, operator, _ in run.state_before)
    if len(run.own.rows) < _LEAST_OUT and not limits:
        return (
            f"the rows after the restart produced only {plural(len(run.own.rows), 'output row')} "
            f"(a verdict needs {_LEAST_OUT})"
        )
    for (number, operator, name), store in run.state_before.items():
        if operator == LIMIT:
            continue
        if store.error and len(run.own.rows) < LEAST_ROWS:
            return f"Headgate can't read store {name} of {operator}: {store.error}"
        is_known = run.equivalence is not None and run.equivalence.has_same_keys(number)
        least = _LEAST_KEYS if is_known else _LEAST_OTHER_KEYS
        if not store.error and len(store.rows) < least:
            return (
                f"store {name} of {operator} has only {plural(len(store.rows), 'key')} (a verdict "
                f"needs {least})"
            )
        # The only value of other operators may be the same for all keys: a time, or nothing.
        least = 1 if OPERATOR_KINDS.get(operator) in _GROUPS else 2
        constant = _constant(store, least)
        twin = run.state_after.get((number, operator, name))
        if constant is not None and (twin is None or _constant(twin, least) is not None):
            return (
                f"value column {constant + 1} of store {name} ({operator}) is the same for all "
                "keys, so the run may miss a difference"
            )
    return None


def _constant(store: Store, least: int) -> int | None:
    """Return a value column with the same value for all keys, if there are at least so many."""
    rows = [v for v in store.rows.values() if isinstance(v, tuple) and v and v[0] != "several"]
    if len(rows) < _CONSTANT_OVER or len({len(v) for v in rows}) != 1 or len(rows[0]) < least:
        return None
    alike = [len({repr(v[i]) for v in rows}) == 1 for i in range(len(rows[0]))]
    names = (*store.values, *([""] * len(alike)))
    words = [i for i, _ in enumerate(alike) if _WORD_OF_SKETCH.match(names[i])]
    if words and all(alike[i] for i in words):
        return words[0]
    ours = (i for i in range(len(alike)) if i not in words and names[i] != _IS_EMPTY)
    return next((i for i in ours if alike[i]), None)


def _operators(run: Experiment) -> tuple[OperatorRows, ...]:
    before, after = run.before_a.changed_rows(), run.after_a.changed_rows()
    names = {i: name for i, name, _ in (*run.state_after, *run.state_before)}
    return tuple(
        OperatorRows(
            operator_id=number,
            operator=names.get(number, ""),
            rows_before=before[number] if number < len(before) else None,
            rows_after=after[number] if number < len(after) else None,
            reached_before=run.before_a.reached(number),
            reached_after=run.after_a.reached(number),
            keys=max(
                (len(s.rows) for (i, _, _), s in run.state_before.items() if i == number), default=0
            ),
        )
        for number in range(max(len(before), len(after)))
    )


def _filters(run: Experiment) -> tuple[FilterRows, ...]:
    """Return the filters of both versions; one that both have is listed once."""
    before, after = run.before_a.filters(), run.after_a.filters()
    return tuple(
        FilterRows(condition=key[0], before=before.get(key), after=after.get(key))
        for key in dict.fromkeys((*before, *after))
    )
