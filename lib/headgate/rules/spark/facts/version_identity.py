"""Whether two versions look equal in everything that evidence can show."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from headgate.model.evidence_kinds import EvidenceKind
from headgate.model.version import Source, StatefulOperator, Version
from headgate.rules.core.rule import Comparison
from headgate.rules.core.source_names import family, location
from headgate.rules.core.upstream import transforms

_ADVICE = "Check that both belong to the same pipeline."


def unrelated_versions(before: Version, after: Version) -> Iterator[str]:
    """Yield a warning where two versions have nothing in common that a change would leave.

    The verdict holds all the same, as what the engine does when the one is started on the other's
    state; but somebody may have mixed up two files.
    """
    if before.engine is not after.engine:
        return
    old, new = _reads(before), _reads(after)
    if not old or not new or old & new:
        return
    kinds = _kinds(before), _kinds(after)
    if any(kinds):
        is_other = kinds[0].isdisjoint(kinds[1])
    else:
        is_other = _families(before).isdisjoint(_families(after))
    if is_other:
        shared = "stateful operators or stores" if any(kinds) else "type of source"
        yield (
            f"The old version reads {_shown(old)}, and the new version reads {_shown(new)}. The "
            f"two versions share no {shared}. {_ADVICE}"
        )


def _reads(version: Version) -> set[str]:
    """Return what a version reads: topics, patterns and paths, as far as that is known."""
    return {read for s in version.sources or () for read in _locations(s)}


def _locations(source: Source) -> Iterator[str]:
    yield from source.topics
    yield from filter(None, (source.pattern, location(source)))


def _families(version: Version) -> set[str]:
    return {f for s in version.sources or () if (f := family(s))}


def _kinds(version: Version) -> set[str]:
    spark = {o.kind.value for o in version.stateful or ()}
    return spark | {s.name for s in (version.streams.stores if version.streams else ())}


def _shown(locations: set[str]) -> str:
    first, *rest = sorted(locations)
    return f"{first} and {len(rest)} more" if rest else first


def looks_equal(c: Comparison) -> bool:
    """Say whether nothing visible differs: operators, state columns, sources, sink, settings.

    Then what did change is beyond the evidence, such as a function's body. What only one side's
    evidence shows isn't a difference.
    """
    return (
        transforms(c.before.topology) == transforms(c.after.topology)
        and _operators_agree(c)
        and _sources_agree(c)
        and _agree(_sink(c.before), _sink(c.after))
        and _agree(_settings(c.before), _settings(c.after))
    )


def _agree(old: Any, new: Any) -> bool:
    """Say whether two values are equal, part by part; None is unknown, and equals all."""
    if isinstance(old, tuple) and isinstance(new, tuple) and len(old) == len(new):
        return all(map(_agree, old, new))
    return old is None or new is None or bool(old == new)


def _operators_agree(c: Comparison) -> bool:
    pairs = zip_longest(c.before.stateful or (), c.after.stateful or ())
    return all(b and a and _agree(_operator(b), _operator(a)) and _columns(b, a) for b, a in pairs)


def _operator(o: StatefulOperator) -> tuple[Any, ...]:
    inside = (o.extra.get("function"), o.extra.get("outputs"), o.extra.get("timeout"))
    return (o.kind, o.keys, o.right_keys, o.functions, o.join_type, o.condition, o.window, inside)


def _columns(before: StatefulOperator, after: StatefulOperator) -> bool:
    """Say whether the values of the stores that both sides show have the same columns."""
    new = {s.store: s.value_schema for s in after.stores if s.value_schema}
    shared = [s for s in before.stores if s.value_schema and s.store in new]
    return all(
        s.value_schema and s.value_schema.describe() == new[s.store].describe() for s in shared
    )


def _sources_agree(c: Comparison) -> bool:
    pairs = zip_longest(c.before.sources or (), c.after.sources or ())
    return all(b and a and _agree(_source(b), _source(a)) for b, a in pairs)


def _source(s: Source) -> tuple[Any, ...]:
    options = tuple(sorted((k.lower(), v) for k, v in s.options.items())) or None
    return (s.name, s.topics or None, s.pattern, location(s) or None, s.column_types, options)


def _sink(version: Version) -> tuple[Any, ...] | None:
    s = version.sink
    return None if s is None else (s.format, s.target, s.output_mode, s.partition_by)


def _settings(version: Version) -> dict[str, str] | None:
    known = bool(version.settings) or any(e.kind == EvidenceKind.SETTINGS for e in version.evidence)
    return version.settings if known else None
