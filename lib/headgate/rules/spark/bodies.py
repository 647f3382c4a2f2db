"""Whether the bodies of the functions that a query calls are equal, as far as captures tell.

A plan has a function's name alone; a capture adds a hash of its code, equal only for equal code.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from headgate.model.sinks import sink_format
from headgate.model.version import OperatorKind, Version
from headgate.rules.core.rule import Comparison
from headgate.rules.core.upstream import feeding_state

PROCESSOR = "stateful_processor"
_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Body:
    """One function on both sides; a hash is None where the evidence has no body of it."""

    name: str
    before: str | None
    after: str | None

    @property
    def is_known(self) -> bool:
        """Say whether both bodies were captured."""
        return self.before is not None and self.after is not None

    @property
    def changed(self) -> bool:
        """Say whether the code is certainly another."""
        return self.is_known and self.before != self.after


def body(c: Comparison, old: str | None, new: str | None) -> Body:
    """Return a function of each side as one; names are those of the plans."""
    return Body(new or old or "?", _hash(c.before, old), _hash(c.after, new))


def processors(c: Comparison) -> Body | None:
    """Return the code of all transformWithState processors as one; None where no side has any.

    Plans call each by PySpark's own wrapper, so that several can't be told apart by name: they
    are compared in the order in which the code makes them.
    """
    old, new = (_of_kind(v, PROCESSOR) for v in (c.before, c.after))
    names = sorted(
        {f.name for v in (c.before, c.after) for f in v.functions if f.kind == PROCESSOR}
    )
    return Body(", ".join(names), old, new) if old or new else None


def called(c: Comparison) -> Iterator[Body]:
    """Yield the functions that a version calls on rows, by name; those of operators are not."""
    of_state = {
        o.extra.get("function")
        for v in (c.before, c.after)
        for o in v.stateful or ()
        if o.kind is OperatorKind.MAP_GROUPS
    }
    for name in sorted((_names(c.before) | _names(c.after)) - of_state):
        yield body(c, name, name)


def feeds_state(c: Comparison, name: str) -> bool:
    """Say whether a function's results may get into the state; True where no node shows it."""
    seen = False
    for topology in (c.before.topology, c.after.topology):
        feeding = feeding_state(topology)
        for node in topology.nodes:
            if name in (node.details.get("user_functions") or ()):
                seen = True
                if node.id in feeding:
                    return True
    return not seen


def short(found: str | None) -> str:
    """Return the beginning of a hash, enough to tell two apart."""
    return found[:_SHOWN] if found else "not captured"


def _names(version: Version) -> set[str]:
    rows = (f for f in version.functions if f.kind != PROCESSOR)
    captured = {f.name for f in rows if not sink_format(f.kind).calls_function}
    return captured | set(version.user_functions)


def _hash(version: Version, name: str | None) -> str | None:
    """Return the hash of a function by its name; of several so called all of them together."""
    found = sorted({f.hash for f in version.functions if f.name == name})
    return " ".join(found) or None


def _of_kind(version: Version, kind: str) -> str | None:
    return " ".join(f.hash for f in version.functions if f.kind == kind) or None
