"""Whether what runs is the version that was judged, as far as evidence of what runs can show."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from headgate.compat.naming import is_located, location
from headgate.compat.partial import counted
from headgate.compat.timing import output_mode
from headgate.compat.upstream import is_drawn, is_stateless, meaning
from headgate.model.topology import Node
from headgate.model.version import OperatorKind, Sink, Source, StatefulOperator, Version

# A running plan writes these in other words than a plan that never ran.
_OTHER_WORDS = ("ubquery", "_metadata")
_BY_CODE = (OperatorKind.MAP_GROUPS, OperatorKind.TRANSFORM_WITH_STATE)
# What an event log or a UI has of a plan is unresolved: steps are written in other words there.
_RESOLVED = "watch"
_EPOCH = re.compile(r", -?\d+$")
_SHOWN = 90


@dataclass(frozen=True, slots=True)
class Likeness:
    """`differs` are sentences about what is another one, `untold` about what nothing shows."""

    differs: tuple[str, ...] = ()
    untold: tuple[str, ...] = ()


def liken(judged: Version, running: Version) -> Likeness:
    """Compare two Spark versions that should be one.

    What only one side tells is no difference; nor are session settings, which the session that
    captured the version need not share with the one that runs.
    """
    judged, running = counted(judged), counted(running)
    if not (is_drawn(judged.topology) and is_drawn(running.topology)):
        side = "what runs" if is_drawn(judged.topology) else "the version that was judged"
        return Likeness(untold=(f"no plan of {side} was read",))
    steps = tuple(_transforms(judged, running))
    is_resolved = any(e.kind == _RESOLVED for e in running.evidence)
    differs = (
        *(steps if is_resolved else ()),
        *_operators(judged, running, is_resolved),
        *(_watermarks(judged, running) if is_resolved else ()),
        *_sources(judged, running),
        *_outputs(judged, running, is_resolved),
    )
    return Likeness(differs, tuple(_untold(judged, running, () if is_resolved else steps)))


def _transforms(judged: Version, running: Version) -> Iterator[str]:
    was, now = _steps(judged), _steps(running)
    yield from (f"it lacks {_named(step)}" for step in was - now)
    yield from (f"it has {_named(step)}" for step in now - was)


def _steps(version: Version) -> Counter[tuple[Any, ...]]:
    made = {_function(f) for o in version.stateful or () for f in o.functions or ()}
    nodes = [n for n in version.topology.nodes if is_stateless(n) and not _in_other_words(n)]
    return Counter(meaning(n) for n in nodes if not _names_only(n, made))


def _names_only(node: Node, made: set[str]) -> bool:
    """Say whether a projection only names what an aggregation has made: not each plan shows it."""
    columns = node.details.get("columns")
    if node.operator != "project" or not isinstance(columns, dict):
        return False
    return bool(columns) and {_function(str(v)) for v in columns.values()} <= made


def _function(text: str) -> str:
    return text.partition("(")[0].lower()


def _in_other_words(node: Node) -> bool:
    text = f"{node.label} {node.details}"
    return any(word in text for word in _OTHER_WORDS)


def _named(step: tuple[Any, ...]) -> str:
    _, operator, label, _ = step
    return f"the {operator.replace('_', ' ')} {_short(label)}"


def _operators(judged: Version, running: Version, is_resolved: bool) -> Iterator[str]:
    if judged.stateful is None or running.stateful is None:
        return
    for was, now in zip_longest(judged.stateful, running.stateful):
        if was is None or now is None:
            verb, there = ("has", now) if was is None else ("lacks", was)
            yield f"it {verb} the stateful operator {there.kind.value}"
            continue
        if was.kind is not now.kind:
            yield f"it has the stateful operator {now.kind.value}, not {was.kind.value}"
            continue
        for what, old, new in _facts(was, now) if is_resolved else ():
            if not _agree(old, new):
                yield f"its {was.kind.value} has other {what}: {_short(new)}, not {_short(old)}"


def _facts(was: StatefulOperator, now: StatefulOperator) -> Iterator[tuple[str, Any, Any]]:
    yield "keys", was.keys, now.keys
    yield "right keys", was.right_keys, now.right_keys
    yield "functions", was.functions, now.functions
    yield "join type", was.join_type, now.join_type
    yield "condition", was.condition, now.condition
    yield "window", was.window, now.window
    yield "limit", was.extra.get("limit"), now.extra.get("limit")
    yield "timeout", was.extra.get("timeout"), now.extra.get("timeout")
    yield "time mode", was.extra.get("time_mode"), now.extra.get("time_mode")
    known = {s.store: s.value_schema for s in now.stores if s.value_schema}
    for store in was.stores:
        if store.value_schema and store.store in known:
            old, new = store.value_schema.describe(), known[store.store].describe()
            yield f"state columns in {store.store}", old, new


def _watermarks(judged: Version, running: Version) -> Iterator[str]:
    was, now = (
        {f"{w.column} {_EPOCH.sub('', w.delay)}" for w in v.watermarks} for v in (judged, running)
    )
    if was != now:
        yield f"its watermarks are {_listed(now)}, not {_listed(was)}"


def _sources(judged: Version, running: Version) -> Iterator[str]:
    if judged.sources is None or running.sources is None:
        return
    for was, now in zip_longest(judged.sources, running.sources):
        if was is None or now is None:
            verb, there = ("reads", now) if was is None else ("does not read", was)
            yield f"it {verb} {_place(there)}"
            continue
        if not _agree(_where(was), _where(now)):
            yield f"it reads {_place(now)}, not {_place(was)}"
        elif not _agree(_options(was), _options(now)):
            yield f"it reads {_place(now)} with other options"
        elif columns := _other_columns(was, now):
            yield f"it reads {_place(now)} with other columns: {', '.join(columns)}"


def _where(source: Source) -> tuple[Any, ...]:
    topics = tuple(sorted(source.topics)) or None
    return (source.name, topics, source.pattern, location(source) or None, _format(source.format))


def _format(name: str | None) -> str | None:
    """Return a format; a started query's plan calls all that reads or writes files `file`."""
    return None if name is None or name.lower() == "file" else name.lower()


def _place(source: Source) -> str:
    topics = ", ".join(sorted(source.topics))
    found = topics or source.pattern or location(source) or source.name or source.format
    return str(found or "a source")


def _options(source: Source) -> tuple[tuple[str, str], ...] | None:
    """Return what changes how it reads: a client's own settings differ from place to place."""
    told = {k.lower(): v for k, v in source.options.items()}
    kept = {k: v for k, v in told.items() if not k.startswith("kafka.") and k != "path"}
    return tuple(sorted(kept.items())) if told else None


def _other_columns(was: Source, now: Source) -> list[str]:
    """Return the columns of other types; a running plan leaves out what nothing needs."""
    if not (was.columns and now.columns and was.column_types and now.column_types):
        return []
    old = dict(zip(was.columns, was.column_types, strict=False))
    new = dict(zip(now.columns, now.column_types, strict=False))
    return [name for name in new if name in old and not _agree(old[name], new[name])]


def _outputs(judged: Version, running: Version, is_resolved: bool) -> Iterator[str]:
    was, now = judged.sink, running.sink
    if was is not None and now is not None:
        if not _agree(_format(was.format), _format(now.format)):
            yield f"its sink is {now.format}, not {was.format}"
        if not _agree(_target(was), _target(now)):
            yield f"it writes to {now.target}, not to {was.target}"
        if not _agree(was.partition_by, now.partition_by):
            yield f"its sink is partitioned by {_short(now.partition_by)}"
        if is_resolved and not _agree(_columns(was), _columns(now)):
            yield f"it writes the columns {_short(_columns(now))}, not {_short(_columns(was))}"
    if not _agree(output_mode(judged), output_mode(running)):
        yield f"its output mode is {output_mode(running)}, not {output_mode(judged)}"


def _target(sink: Sink) -> str | None:
    """Return where it writes: a topic, a folder's path, or a table's own name."""
    # A dot in the name of a topic stands for no catalog.
    if sink.target is None or _format(sink.format) == "kafka":
        return sink.target
    if "/" in sink.target:
        return "/" + sink.target.removeprefix("file:").strip("/")
    return sink.target.replace("`", "").rpartition(".")[2].lower()


def _columns(sink: Sink) -> tuple[str, ...] | None:
    return tuple(f.name for f in sink.schema.fields) if sink.schema else None


def _untold(judged: Version, running: Version, steps: tuple[str, ...]) -> Iterator[str]:
    if steps:
        yield "what was read of its plan has its steps in other words than the judged one"
    yield from (
        f"what its source {s.name or s.position} reads is not told"
        for s in running.sources or ()
        if not is_located(s)
    )
    if judged.sink is not None and (running.sink is None or running.sink.format is None):
        yield "where it writes is not told"
    names = [f.name for f in judged.functions] or list(judged.user_functions)
    by_code = [o.kind.value for o in judged.stateful or () if o.kind in _BY_CODE]
    if named := [*names, *by_code]:
        yield f"a plan does not show the code of {', '.join(dict.fromkeys(named))}"
    if any(_in_other_words(n) for n in judged.topology.nodes if is_stateless(n)):
        yield "subqueries and metadata columns look otherwise in a running plan"
    old, new = judged.engine_version, running.engine_version
    if old and new and old != new:
        yield f"it runs on Spark {new}, and Spark {old} was judged"


def _agree(old: Any, new: Any) -> bool:
    """Say whether two values are equal, part by part; None is what nobody told."""
    if isinstance(old, tuple) and isinstance(new, tuple) and len(old) == len(new):
        return all(map(_agree, old, new))
    return old is None or new is None or bool(old == new)


def _listed(watermarks: set[str]) -> str:
    return ", ".join(sorted(watermarks)) or "none"


def _short(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
