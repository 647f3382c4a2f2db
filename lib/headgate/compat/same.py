"""Whether two versions look equal in everything that evidence can show."""

from __future__ import annotations

from typing import Any

from headgate.compat.naming import location
from headgate.compat.rule import Comparison
from headgate.compat.upstream import transforms
from headgate.model.version import Source, StatefulOperator, Version


def looks_equal(c: Comparison) -> bool:
    """Say whether nothing visible differs: operators, state columns, sources, sink, settings.

    Then what did change lies where evidence does not reach, such as a function's body.
    """
    return (
        transforms(c.before.topology) == transforms(c.after.topology)
        and _operators(c.before) == _operators(c.after)
        and _sources(c.before) == _sources(c.after)
        and _sink(c.before) == _sink(c.after)
        and c.before.settings == c.after.settings
    )


def _operators(version: Version) -> list[tuple[Any, ...]]:
    return [_operator(o) for o in version.stateful or ()]


def _operator(o: StatefulOperator) -> tuple[Any, ...]:
    columns = tuple((s.store, s.value_schema.describe()) for s in o.stores if s.value_schema)
    inside = (o.extra.get("outputs"), o.extra.get("timeout"), columns)
    return (o.kind, o.keys, o.right_keys, o.functions, o.join_type, o.condition, o.window, inside)


def _sources(version: Version) -> list[tuple[Any, ...]]:
    return [_source(s) for s in version.sources or ()]


def _source(s: Source) -> tuple[Any, ...]:
    options = tuple(sorted((k.lower(), v) for k, v in s.options.items()))
    return (s.format, s.name, s.topics, s.pattern, location(s), options)


def _sink(version: Version) -> tuple[Any, ...] | None:
    s = version.sink
    return None if s is None else (s.format, s.target, s.output_mode, s.partition_by)
