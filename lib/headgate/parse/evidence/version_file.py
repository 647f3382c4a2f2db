"""Write a version to a file's bytes, read it back, and say whether two versions are the same."""

from __future__ import annotations

import hashlib
import re
import threading
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from headgate.errors import ParseError
from headgate.model.topology import Topology
from headgate.model.version import Version

SCHEMA = 1
KIND = "headgate-version"

# msgspec reads the fields of a class at its first use; two threads that do so at once crash.
_READING = threading.Lock()
_BYTE = re.compile(r"\(byte (\d+)\)")
# Keys of a node's details that move while a pipeline runs.
_MOVING = frozenset({"offsets", "start_offsets", "end_offsets", "latest_offsets", "progress"})


@dataclass(frozen=True, slots=True)
class _File:
    schema: int
    kind: str
    version: Version


@dataclass(frozen=True, slots=True)
class _Head:
    schema: int = 0
    kind: str = ""


def dump(version: Version) -> bytes:
    """Return the version as JSON text; equal versions give equal bytes.

    What a version holds untyped (details, options, offsets) must be JSON values with text keys to
    come back equal.
    """
    data = msgspec.json.encode(_File(SCHEMA, KIND, version), order="deterministic")
    return msgspec.json.format(data, indent=1) + b"\n"


def load(data: bytes, *, source: str) -> Version:
    """Return the version that `dump` wrote; ParseError where `data` is damaged, foreign or newer.

    Keys that this release does not know are left out, so that files of later releases with the same
    schema number can be read.
    """
    try:
        head = msgspec.json.decode(data, type=_Head)
        if head.kind != KIND:
            raise ParseError(f"not a version file: `kind` isn't {KIND!r}", source=source, line=1)
        if head.schema > SCHEMA:
            reason = (
                f"schema {head.schema} needs a newer Headgate, because this release reads "
                f"schema {SCHEMA}. Update Headgate"
            )
            raise ParseError(reason, source=source, line=1)
        with _READING:
            return msgspec.json.decode(data, type=_File).version
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        reason = f"damaged version file: {error}"
        raise ParseError(reason, source=source, line=_line(data, str(error))) from error


def check_graph(topology: Topology, *, source: str) -> None:
    """Raise ParseError where a file's graph is none: two nodes with one id, or an edge to nowhere.

    `dump` never wrote such a file: somebody changed it, or put two together.
    """
    ids = [n.id for n in topology.nodes]
    known = set(ids)
    ends = (end for e in topology.edges for end in (e.source, e.target))
    loose = next((end for end in ends if end not in known), None)
    twice = next((i for i, n in Counter(ids).items() if n > 1), None)
    if loose is None and twice is None:
        return
    ends_at = f"an edge ends at the missing node {loose!r}"
    said = ends_at if loose is not None else f"two nodes have the id {twice!r}"
    raise ParseError(f"damaged version file: {said}", source=source, line=1)


def _line(data: bytes, message: str) -> int:
    match = _BYTE.search(message)
    end = int(match[1]) if match else len(data) if "truncated" in message else 0
    return data.count(b"\n", 0, end) + 1


def fingerprint(version: Version) -> str:
    """Return SHA-256 (hex) over what distinguishes a version from others.

    Left out is what changes while the same code runs, or depends on where it was read: offsets,
    progress, evidence, warnings, faults, ids of topics, the time of capture, and the query id,
    which only shows that the checkpoint was recreated.
    """
    kept = replace(
        version, progress=None, evidence=(), warnings=(), captured_at=None, query_id=None
    )
    content = msgspec.to_builtins(kept)
    del content["faults"], content["topic_ids"], content["checkpoint"], content["code"]
    if not content["is_partial"]:
        del content["is_partial"]
    _without_offsets(content)
    _without_output(content)
    for source in content["sources"] or ():
        source["offsets"] = source["start_offsets"] = source["advanced"] = None
        if source["log_places"] in (None, [], ()):
            del source["log_places"]
    for node in content["topology"]["nodes"]:
        node["details"] = _still(node["details"])
    return hashlib.sha256(msgspec.json.encode(content, order="sorted")).hexdigest()


def _without_offsets(content: dict[str, Any]) -> None:
    """Leave out the offsets of internal topics, and what other engines have nothing of."""
    if content["streams"] is None:
        del content["streams"]
        return
    for topic in content["streams"]["internal"] or ():
        topic["begin_offsets"] = topic["end_offsets"] = None


def _without_output(content: dict[str, Any]) -> None:
    """Leave the names of the output's columns: what else is known of them hangs on the form."""
    del content["parsed"]
    sink = content["sink"]
    if sink is None:
        return
    del sink["made_by"], sink["payloads"]
    if sink["schema"] is not None:
        sink["schema"] = [f["name"] for f in sink["schema"]["fields"]]


def _still(details: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in details.items() if key not in _MOVING}
