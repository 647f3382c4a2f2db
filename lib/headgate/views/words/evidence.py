"""What a piece of evidence is, in the words of whoever made it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headgate.model.evidence_kinds import EvidenceKind
from headgate.model.topology import NodeKind
from headgate.model.version import Version
from headgate.parse.evidence.recognise import Piece
from headgate.text.numbers import plural

_LOGICAL = frozenset(("parsed", "analyzed", "optimized"))


def piece_words(piece: Piece, text: str = "") -> str:
    """Return a piece in a few words: `extended explain, 4 plans`, `query progress, 12 batches`.

    `text` is the beginning of the piece, for what the plans themselves don't keep.
    """
    if piece.kind is EvidenceKind.EXPLAIN:
        return explain_words(piece.value, text)
    if piece.kind is EvidenceKind.PROGRESS:
        return f"{piece.kind.words}, {_batches(piece.value)}"
    return piece.kind.words


def explain_words(plans: Sequence[Any], text: str = "") -> str:
    """Return how `explain` was asked, and the number of plans that were read."""
    forms = {p.form for p in plans}
    if "Subtree" in text and "WholeStageCodegen" in text:
        mode = "codegen"
    elif "Statistics(sizeInBytes" in text:
        mode = "cost"
    elif "formatted" in forms:
        mode = "formatted"
    else:
        mode = "extended" if forms & _LOGICAL else "simple"
    return f"{mode} explain, {plural(len(plans), 'query plan')}"


def _batches(reports: Sequence[Any]) -> str:
    return plural(len(reports), "batch")


def version_words(version: Version, pieces: str = "") -> str:
    """Return what was read: `extended explain, 4 query plans of Spark 4.2: 5 nodes, 1 store`."""
    engine = version.engine.words
    if version.engine_version:
        engine = f"{engine} {_release(version.engine_version)}"
    what = f"{pieces} of {engine}" if pieces else engine
    nodes = plural(len(version.topology.nodes), "node")
    stores = sum(n.kind is NodeKind.STATE_STORE for n in version.topology.nodes)
    return f"{what}: {nodes}" + (f", {plural(stores, 'state store')}" if stores else "")


def _release(version: str) -> str:
    """Return `4.2` for `4.2.0`: the common name."""
    return version.removesuffix(".0") if version.count(".") == 2 else version
