"""What a printed plan says of the query that it is of: id, name, checkpoint, runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from headgate.parse.spark.explain.printed_plan import Plan

_QUERY_ID = re.compile(r", (?P<id>[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})(?:,|$)")
_NAME = re.compile(r"\bqueryName=(?P<name>[^,\]]+)")
_CHECKPOINT = re.compile(r"\bcheckpointLocation=(?P<path>[^,\]]+)")
_STATE = re.compile(r"state info \[ checkpoint = (?P<path>[^,]+)/state, runId = (?P<run>[^,]+),")
_SCHEME = re.compile(r"^file:/+")


@dataclass(frozen=True, slots=True)
class Identity:
    """None and empty where the plan does not say; before its start a query has none of them."""

    query_id: str | None = None
    name: str | None = None
    checkpoint: str | None = None
    runs: frozenset[str] = frozenset()

    def agrees(self, other: Identity) -> bool | None:
        """Whether both are of one query; None where they say nothing that can be compared."""
        if self.query_id and other.query_id:
            return self.query_id == other.query_id
        if self.checkpoint and other.checkpoint:
            return self.checkpoint == other.checkpoint
        if self.runs and other.runs and self.runs & other.runs:
            return True
        if self.name and other.name:
            return self.name == other.name
        return None

    def joined(self, other: Identity) -> Identity:
        """Return what both say together."""
        return Identity(
            self.query_id or other.query_id,
            self.name or other.name,
            self.checkpoint or other.checkpoint,
            self.runs | other.runs,
        )


def identity_of(plans: Sequence[Plan]) -> Identity:
    """Return what the plans of one print say of their query."""
    out = Identity()
    for plan in plans:
        for node in plan.nodes:
            text = node.argument()
            if node.name.startswith("WriteTo"):
                out = out.joined(_of_sink(text))
            elif "state info [ checkpoint = " in text and (match := _STATE.search(text)):
                out = out.joined(_of_state(match))
    return out


def checkpoint_of(plans: Sequence[Plan]) -> str | None:
    """Return where the query keeps its checkpoint: as its state has it, else as its writer says.

    The state's address has its scheme, `file:` among them; a writer's may have none.
    """
    nodes = [node.argument() for plan in plans for node in plan.nodes]
    for pattern in (_STATE, _CHECKPOINT):
        if found := next((m for m in map(pattern.search, nodes) if m), None):
            return found["path"].strip().rstrip("/")
    return None


def _of_sink(text: str) -> Identity:
    query, name, checkpoint = (p.search(text) for p in (_QUERY_ID, _NAME, _CHECKPOINT))
    return Identity(
        query["id"] if query else None,
        name["name"] if name else None,
        _path(checkpoint["path"]) if checkpoint else None,
    )


def _of_state(match: re.Match[str]) -> Identity:
    return Identity(checkpoint=_path(match["path"]), runs=frozenset((match["run"],)))


def _path(text: str) -> str:
    """Return a checkpoint's address as both, the writer's option and the state, may name it."""
    return _SCHEME.sub("/", text.strip()).rstrip("/")
