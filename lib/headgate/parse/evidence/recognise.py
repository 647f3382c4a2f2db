"""Recognise a file by its content, never by its name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from headgate.errors import EvidenceError
from headgate.model.evidence_kinds import EvidenceKind
from headgate.parse.spark.operators.plan_forms import read_explain
from headgate.parse.spark.plan_json.read import is_plan, read_json_plan
from headgate.parse.spark.session.capture_json import (
    Session,
    is_progress,
    read_reports,
    read_session,
)
from headgate.parse.spark.watch.mark import is_watch
from headgate.text.json_text import setting_text, whole_characters
from headgate.text.numbers import plural
from headgate.text.secrets import mask, mask_json, mask_text

if TYPE_CHECKING:
    from headgate.parse.kafka_streams.recognise import Found
from collections.abc import Iterator, Sequence

VERSION_FILE = "headgate-version"


_PACKED = {b"\x28\xb5\x2f\xfd": "zstd", b"LZ4Block": "lz4", b"\x82SNAPPY\0": "snappy"}


_HEAD = 20_000
_NOT_STARTED = "Queries with streaming sources must be executed with"
_BLANKS = 4096


@dataclass(frozen=True, slots=True)
class Piece:
    """One recognised file: `value` is what the kind says (plans, reports, a session, ...)."""

    kind: EvidenceKind
    path: str
    value: Any
    warnings: tuple[str, ...] = ()


def recognise(data: bytes, *, path: str) -> Piece | None:
    """Return the bytes as a piece of evidence, or None if their kind is unknown.

    A broken file that begins like a known kind is a piece with a warning. Only a version file
    raises ParseError, because no other evidence could complete it. Explain text that has the
    session's error and no plan raises EvidenceError.
    """
    if is_watch(data):
        # Imported where it is needed, as other kinds below: a command reads one of them.
        from headgate.parse.spark.watch.read import read_watch

        watched = read_watch(data.splitlines(keepends=True), path=path)
        return Piece(EvidenceKind.WATCH, path, watched, watched.log.warnings)
    text = _text(data)
    if text is None:
        return None
    stripped = text.lstrip("\ufeff \t\r\n")
    if stripped[:1] in ("{", "["):
        return _json_piece(stripped, data, path) or _streams_text(text, path)
    return _explain(text, path) or _streams_text(text, path)


def _explain(text: str, path: str) -> Piece | None:
    """Return explain text; EvidenceError where Spark printed its refusal and no plan."""
    if not any(mark in text for mark in ("==", "+- ", "+-\xa0")):
        return None
    # A private key has lines of its own, which no operator would keep together.
    found = read_explain(mask_text(text) if "PRIVATE KEY-----" in text else text)
    expected = "one of its query plans" if found.plans else "a query plan"
    refused = tuple(
        f"{path} has a Spark error instead of {expected}: {mask_text(r)}"
        for r in found.refusals
        # The text of a query that hasn't started: its analyzed plan is complete.
        if not (found.plans and _NOT_STARTED in r)
    )
    if refused and not found.plans:
        raise EvidenceError(
            f"{refused[0].rstrip('.')}. Correct the query, then create the explain text again"
        )
    return Piece(EvidenceKind.EXPLAIN, path, found.plans, refused) if found.plans else None


def _streams_text(text: str, path: str) -> Piece | None:
    # Imported here: a Spark query's evidence need not wait for it.
    from headgate.parse.kafka_streams.recognise import from_text

    # Before it is read: a reader cuts texts, and what is left of a key would tell nothing.
    return _streams(from_text(mask_text(text)), path)


def _streams_json(values: list[Any], path: str) -> Piece | None:
    from headgate.parse.kafka_streams.recognise import from_json

    return _streams(from_json(mask_json(values)), path)


def _streams(found: Found | None, path: str) -> Piece | None:
    return Piece(found.kind, path, found) if found else None


def not_read_yet(data: bytes) -> str | None:
    """Return what the bytes are where nothing that is known is in them: packed, or broken JSON."""
    for magic, packing in _PACKED.items():
        if data.startswith(magic):
            return f"{packing} data that doesn't start with a complete event of a Spark event log"
    text = (_text(data) or "").lstrip("\ufeff \t\r\n")
    if text[:1] in ("{", "["):
        try:
            json.JSONDecoder().raw_decode(text)
        except json.JSONDecodeError as error:
            at = len(text[: error.pos].encode("utf-8", "replace"))
            kind = "a query plan as JSON" if '"num-children"' in text[:_HEAD] else "JSON"
            return f"{kind} that ends early or is invalid at byte {at} ({error.msg})"
        except ValueError:
            return "JSON that Headgate can't read, because a number in it has thousands of digits"
        except RecursionError:
            return "JSON that is nested too deeply"
    return None


def _text(data: bytes) -> str | None:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    if b"\0" in data[:1000]:
        return None
    return data.decode("utf-8", "replace")


def _json_piece(text: str, data: bytes, path: str) -> Piece | None:
    text = whole_characters(text)
    values, broken = _values(text)
    warnings = (f"{path} ends with invalid JSON, which was not read",) if broken else ()
    if not values:
        return _cut_plan(text, path) or _explain(text, path)
    if len(values) == 1 and isinstance(values[0], list) and is_plan(values[0]):
        plan = read_json_plan(values[0])
        return Piece(EvidenceKind.PLAN_JSON, path, plan, warnings)
    reports = [r for v in values for r in (v if isinstance(v, list) else [v])]
    if reports and all(map(is_progress, reports)):
        return _progress(reports, path, warnings)
    piece = None
    if len(values) == 1 and isinstance(values[0], dict):
        piece = _object(values[0], data, path, warnings)
    piece = piece or (_streams_json(values, path) if not broken else None)
    return piece or _explain(text if broken else plan_texts(values), path)


def _cut_plan(text: str, path: str) -> Piece | None:
    """Return what is whole of a plan's JSON that breaks off, with a warning that says where."""
    head = text[:_HEAD]
    if '"class"' not in head or '"num-children"' not in head or not text.startswith("["):
        return None
    nodes, at = _elements(text)
    if not nodes or not is_plan(nodes):
        return None
    at = len(text[:at].encode("utf-8", "replace"))
    warning = (
        f"{path} looks like a query plan as JSON, but ends early at byte {at}: the file has only "
        f"{plural(len(nodes), 'operator')} of the plan"
    )
    plan = replace(read_json_plan(nodes), is_whole=False)
    return Piece(EvidenceKind.PLAN_JSON, path, plan, (warning,))


def _elements(text: str) -> tuple[list[Any], int]:
    """Return the whole elements of a list, and where in `text` the rest is broken."""
    decoder, at = json.JSONDecoder(), 1
    out: list[Any] = []
    while at < len(text):
        at += len(text[at : at + _BLANKS]) - len(text[at : at + _BLANKS].lstrip(" \t\r\n,"))
        try:
            value, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            return out, error.pos
        except (ValueError, RecursionError):
            return out, at
        out.append(value)
    return out, at


def _progress(reports: list[Any], path: str, warnings: tuple[str, ...]) -> Piece:
    try:
        read_reports(reports)
    except ValueError as error:
        broken = f"{path} looks like query progress, but can't be read: {error}"
        return Piece(EvidenceKind.PROGRESS, path, [], (*warnings, broken))
    return Piece(EvidenceKind.PROGRESS, path, mask_json(reports), warnings)


def _values(text: str) -> tuple[list[Any], bool]:
    """Return the JSON values in `text`, one or several, and whether something else follows."""
    decoder, at = json.JSONDecoder(), 0
    out: list[Any] = []
    while at < len(text):
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return out, True
        out.append(value)
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1
    return out, False


def _object(
    found: Mapping[str, Any], data: bytes, path: str, warnings: tuple[str, ...]
) -> Piece | None:
    if found.get("kind") == VERSION_FILE:
        from headgate.parse.evidence import version_file

        version = version_file.load(data, source=path)
        version_file.check_graph(version.topology, source=path)
        return Piece(EvidenceKind.VERSION, path, version, warnings)
    if _is_capture(found):
        try:
            return Piece(EvidenceKind.CAPTURE, path, read_session(found), warnings)
        except (ValueError, TypeError) as error:
            broken = f"{path} looks like a capture, but can't be read: {error}"
            return Piece(EvidenceKind.CAPTURE, path, Session(), (broken,))
    if all(isinstance(v, (str, int, float, bool)) for v in found.values()) and all(
        k.startswith("spark.") for k in found
    ):
        settings = mask({k: setting_text(v) for k, v in found.items()})
        return Piece(EvidenceKind.SETTINGS, path, settings, warnings)
    return None


def _is_capture(found: Mapping[str, Any]) -> bool:
    if isinstance(found.get("sources"), list) and "sink" in found:
        return True
    return set(found) == {"error"} and isinstance(found["error"], str)


def plan_texts(values: Sequence[Any]) -> str:
    """Return the plans' text in JSON values, one below the other; empty where there is none.

    A log may have a line of a plan in each object: then the key that holds a heading in one of
    them is read in all.
    """
    whole = [text for value in values for text in _texts(value)]
    if any("\n" in text.strip() for text in whole):
        return "\n".join(whole)
    return "\n".join(_lines(values))


def _is_plan(text: str) -> bool:
    return " Plan ==" in text or "== Subtree " in text


def _texts(value: Any) -> Iterator[str]:
    """Yield the strings that hold a heading; a list of strings is the lines of one text."""
    stack = [value]
    while stack:
        found = stack.pop()
        if isinstance(found, str):
            if _is_plan(found):
                yield found
        elif isinstance(found, list) and found and all(isinstance(v, str) for v in found):
            text = "".join(v if v.endswith("\n") else f"{v}\n" for v in found)
            if _is_plan(text):
                yield text
        elif isinstance(found, list):
            stack.extend(reversed(found))
        elif isinstance(found, dict):
            stack.extend(reversed(found.values()))


def _lines(values: Sequence[Any]) -> Iterator[str]:
    """Yield the lines that a log wrote one by one."""
    objects = [v for v in values if isinstance(v, dict)]
    key = next((k for o in objects for k, v in o.items() if isinstance(v, str) and _is_plan(v)), "")
    for found in objects:
        text = found.get(key)
        if isinstance(text, str):
            yield text.removesuffix("\n")
