"""Distinguish streaming leaves from static ones, and a stream-stream join from a static one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from headgate.parse.spark.explain.printed_plan import PHYSICAL
from headgate.parse.spark.operators.relation import LEAVES, Query, Relation


def settle_streaming(query: Query, known: Mapping[int, bool]) -> Query:
    """Return the query with `streaming` decided for every operator and leaf.

    `known` says of attribute numbers whether a streaming leaf of another form makes them. A leaf
    that nothing decides counts as streaming: every query has one, static ones are rare.
    """
    consumers = {i: index for index, r in enumerate(query.relations) for i in r.inputs}
    initial = _initial_states(query.relations)
    view = _View(query, known)
    done: list[Relation] = []
    flags: list[bool] = []
    for index, relation in enumerate(query.relations):
        if relation.kind in LEAVES:
            above = query.relations[consumers[index]] if index in consumers else None
            streaming = index not in initial and view.streams(relation, above)
            kind = "source" if streaming else "static"
            same = relation.kind == kind and relation.streaming is streaming
            done.append(relation if same else replace(relation, streaming=streaming, kind=kind))
        else:
            inputs = [flags[i] for i in relation.inputs]
            streaming = any(inputs)
            # Steps between operators are never asked, and by far the most relations.
            step = relation.kind in ("project", "filter")
            done.append(relation if step else _inner(relation, streaming, all(inputs)))
        flags.append(bool(streaming))
    return replace(query, relations=tuple(done))


def streaming_attributes(query: Query) -> dict[int, bool]:
    """Return for each attribute that a leaf makes whether the leaf streams."""
    return {
        c.id: bool(r.streaming)
        for r in query.relations
        if r.kind in LEAVES
        for c in r.outputs
        if c.id is not None
    }


def by_folder(query: Query, streamed: Sequence[str]) -> dict[int, bool]:
    """Return for each attribute of a scan of files whether its files lie where a stream reads.

    A batch's plan scans the files of a stream like those of a static relation.
    """
    folders = [folder(f) for f in streamed]
    scans = [r for r in query.relations if r.kind in LEAVES and "path" in r.extra]
    return {
        c.id: any(folder(r.extra["path"]).startswith(f) for f in folders)
        for r in scans
        for c in r.outputs
        if c.id is not None
    }


def folder(path: str) -> str:
    """Return a local path without its scheme and with one slash at its end."""
    return path.removeprefix("file:").rstrip("/") + "/"


def is_settled(query: Query) -> bool:
    """Whether it is known which leaves stream: no join with a static relation has only streams.

    The plan of a batch scans a stream's files as it scans a static relation's; if nothing else
    distinguishes them, both count as streaming, which such a join contradicts.
    """
    has_only_streams: list[bool] = []
    for relation in query.relations:
        inputs = [has_only_streams[i] for i in relation.inputs]
        if relation.kind == "static_join" and len(inputs) > 1 and all(inputs):
            return False
        has_only_streams.append(all(inputs) if inputs else relation.kind == "source")
    return True


def _initial_states(relations: Sequence[Relation]) -> frozenset[int]:
    """Return all relations that feed the second input of an operator of groups with state.

    Spark fails to start with an initial state that streams.
    """
    found: set[int] = set()
    for index in range(len(relations) - 1, -1, -1):
        relation = relations[index]
        if index in found:
            found.update(relation.inputs)
        elif relation.kind in ("transform_with_state", "map_groups"):
            found.update(relation.inputs[1:])
    return frozenset(found)


class _View:
    """What one form says of its leaves: by `~` (Spark 4), by renamed columns, or nothing."""

    def __init__(self, query: Query, known: Mapping[int, bool]) -> None:
        self.known = known
        inner = [r for r in query.relations if r.kind not in LEAVES]
        logical = query.form not in PHYSICAL
        self.marked = logical and any(r.streaming for r in inner)
        self.renamed = query.form in ("analyzed", "parsed") and any(
            _renames(r, query.relations[r.inputs[0]]) for r in inner if r.inputs
        )

    def streams(self, leaf: Relation, above: Relation | None) -> bool:
        """Whether a leaf is a streaming source."""
        if leaf.streaming is not None:
            return leaf.streaming
        found = [self.known[c.id] for c in leaf.outputs if c.id is not None and c.id in self.known]
        if found:
            return found[0]
        if self.marked and above is not None:
            return len(above.inputs) == 1 and bool(above.streaming)
        if self.renamed and above is not None:
            return "empty_batch" in leaf.extra or _renames(above, leaf)
        return True


def _renames(above: Relation, leaf: Relation) -> bool:
    """Whether a projection gives every column of a leaf another attribute and its own name.

    In the analysed plan of a started query each batch's data comes under one; a static relation
    is read as it is.
    """
    if above.kind != "project" or leaf.kind not in LEAVES or not leaf.outputs:
        return False
    texts = [c.text for c in above.outputs]
    names = [(c.text or "").partition("#")[0] for c in above.outputs]
    return (
        len(texts) == len(leaf.outputs)
        and names == [c.name for c in above.outputs]
        and all(t != f"{c.name}#{c.id}" for t, c in zip(texts, above.outputs, strict=True))
    )


def _inner(relation: Relation, streaming: bool, both: bool) -> Relation:
    if relation.kind != "join":
        same = relation.streaming is streaming
        return relation if same else replace(relation, streaming=streaming)
    symmetric = "symmetric" in relation.extra
    plain = relation.name in ("Join",)
    kind = "stream_join" if symmetric or (plain and both) else "static_join"
    return replace(relation, streaming=streaming, kind=kind)
