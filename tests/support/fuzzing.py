"""Real inputs of every kind, damaged in every way: what reads them, and what it may raise."""

from __future__ import annotations

import json
import re
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from headgate.errors import HeadgateError
from headgate.gateway.checkpoint.files import read_checkpoint_files, read_log_files
from headgate.gateway.files.evidence_files import find
from headgate.gateway.spark.event_logs import event_log_of
from headgate.model.evidence_kinds import EvidenceKind
from headgate.model.version import Version
from headgate.parse.config import headgate_toml
from headgate.parse.evidence import version_file
from headgate.parse.evidence.assemble import Gathered, assemble
from headgate.parse.evidence.recognise import Piece, recognise
from headgate.parse.spark.checkpoint.batches import read_batch_logs
from headgate.parse.spark.checkpoint.checkpoint import read_checkpoint
from headgate.reprocess.plan import Plan, _sha, dump_plan, load_plan
from headgate.reprocess.steps.checkpoint.replace import SnapshotCheckpoint
from headgate.reprocess.steps.process.stop_start import StopPipeline
from headgate.rules.compare.compare_versions import compare

TESTS = Path(__file__).parents[1]
GOLDEN = TESTS / "golden"
FOUND = GOLDEN / "fuzz"
"""What once raised something else, one file each, in a folder of its kind."""
_MOST_SEEDS = 60
_LARGEST = 60_000

SCRAPS = (
    *(b"", b"(", b")", b"[", b"]", b"{", b"}", b",", b":", b'"', b"'", b"\\", b"\n", b"\0"),
    *(b"#1", b" AS ", b"== Physical Plan ==\n", b"+- ", b":- ", b"CASE WHEN ", b"cast(", b"()"),
    *(b"isnotnull()", b"window()", b"null", b"true", b"NaN", b"Infinity", b"-1", b"1e999"),
    *(b"9" * 30, b"\xff", b"\xed\xa0\x80", "²".encode(), "\u202e".encode(), b"<-- ", b"--> "),
    *(b"Sub-topology: 0\n", b"(topics: [", b"v1\n", b"v2\n", b"[[a]]\n", b"${X}", b"(1) X\n"),
)
ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 2**63, 10**40, 0.5, float("inf"), float("nan"), "", "x", "²"),
    *("\ud800", "1", [], {}, [[]], [None], [{}], {"": None}, {"class": "x"}, "a\nb", "9" * 5000),
)
_NUMBER = re.compile(rb"\d+")
_INSIDE = re.compile(rb"[(\[]([^()\[\]\n]+)[)\]]")


@cache
def seeds(kind: str) -> tuple[bytes, ...]:
    """Return real inputs of a kind, evenly spread over what there is."""
    if kind in MADE:
        return MADE[kind]()
    found = sorted({f for pattern in SEEDS[kind] for f in TESTS.glob(pattern) if f.is_file()})
    small = [f for f in found if f.stat().st_size <= _LARGEST]
    return tuple(f.read_bytes() for f in small[:: max(1, len(small) // _MOST_SEEDS)])


SEEDS: Mapping[str, tuple[str, ...]] = {
    "explain": ("golden/spark/**/*.txt", "golden/forms/**/*.txt"),
    "plan": ("golden/**/logical.json", "golden/**/physical.json"),
    "progress": ("golden/**/progress.json",),
    "event-log": ("golden/event_logs/**/*", "golden/spark/**/events.jsonl"),
    "describe": ("golden/streams/**/*.txt", "cases/kafka_streams/*/after/describe.txt"),
    "streams": ("cases/kafka_streams/*/after/*.json",),
    "settings": ("golden/**/conf.json",),
    "capture": ("golden/**/capture.json",),
}


def _versions() -> tuple[bytes, ...]:
    out = []
    for kind in ("explain", "describe", "plan"):
        for seed in seeds(kind)[::6]:
            if (version := _assembled(recognise(seed, path="x"))) is not None:
                out.append(version_file.dump(version))
    return tuple(out)


def _plans() -> tuple[bytes, ...]:
    steps = (
        StopPipeline(pipeline="orders", command="stop", start="start", has_status=False),
        SnapshotCheckpoint(pipeline="orders", checkpoint="/c", query_id="q"),
    )
    plan = Plan(
        scenario="from-scratch",
        pipeline="orders",
        steps=steps,
        preconditions={"kafka": "c1", "offsets": {"orders-0": 5}},
        impact={"records": {"orders": 5}, "total": 5},
        risks=("Duplicates.",),
        options={"outputs": "empty"},
        resources=("checkpoint:/c",),
    )
    undo = Plan(scenario="undo", pipeline="orders", options={"run": "r1"}, undoes=(1, None, 0))
    return tuple(dump_plan(p).encode() for p in (plan, undo))


def _registries() -> tuple[bytes, ...]:
    fences = re.compile(r"```toml\n(.*?)```", re.S)
    pages = (TESTS.parent / "README.md", *sorted((TESTS.parent / "docs").glob("*.md")))
    return tuple(t.encode() for p in pages for t in fences.findall(p.read_text()))


def _checkpoint_files() -> tuple[bytes, ...]:
    return tuple(d for f in _checkpoints() for d in f[0].values())


MADE: Mapping[str, Callable[[], tuple[bytes, ...]]] = {
    "version": _versions,
    "plan-file": _plans,
    "registry": _registries,
    "checkpoint": _checkpoint_files,
}
KINDS = (*SEEDS, *MADE)


@cache
def _checkpoints() -> tuple[tuple[dict[str, bytes], tuple[Any, ...], dict[str, bytes]], ...]:
    out = []
    for folder in sorted((GOLDEN / "checkpoints").glob("*/checkpoint")):
        place = find(str(folder))
        assert place is not None
        files, listing, _ = read_checkpoint_files(place)
        out.append((dict(files), tuple(listing), dict(read_log_files(place, None)[0])))
    return tuple(out)


def _text_edit(draw: st.DrawFn, data: bytes) -> bytes:
    at = draw(st.integers(0, len(data)))
    size = draw(st.sampled_from((0, 0, 1, 2, 8, 40, 300)))
    match draw(st.integers(0, 7)):
        case 0:
            return data[:at]
        case 1:
            return data[at:]
        case 2:
            return data[:at] + data[at : at + size] * 2 + data[at + size :]
        case 3:
            lines = data.split(b"\n")
            one, other = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
            lines[one], lines[other] = lines[other], lines[one]
            return b"\n".join(lines)
        case 4 if (number := _NUMBER.search(data, at)) is not None:
            odd = draw(st.sampled_from((b"", b"-1", b"0", b"9" * 25, b"1.5", b"x", "²".encode())))
            return data[: number.start()] + odd + data[number.end() :]
        case 5 | 6 if (inside := _INSIDE.search(data, at)) is not None:
            items = inside[1].split(b", ")
            kept = items[: draw(st.integers(0, len(items) - 1))]
            return data[: inside.start(1)] + b", ".join(kept) + data[inside.end(1) :]
    return data[:at] + draw(st.sampled_from(SCRAPS)) + data[at + size :]


def _json_edit(draw: st.DrawFn, found: Any) -> Any:
    """Return JSON in which one value, wherever it stands, is another one or gone."""
    if not isinstance(found, (dict, list)) or not found or draw(st.integers(0, 9)) == 0:
        return draw(st.sampled_from(ODD))
    key = draw(st.sampled_from(sorted(found) if isinstance(found, dict) else range(len(found))))
    changed: Any = dict(found) if isinstance(found, dict) else list(found)
    if draw(st.integers(0, 14)) == 0:
        del changed[key]
    else:
        changed[key] = _json_edit(draw, found[key])
    return changed


@st.composite
def damaged(draw: st.DrawFn, kind: str) -> bytes:
    """Return a real input of the kind with some damage."""
    data = draw(st.sampled_from(seeds(kind)))
    edits = draw(st.integers(1, 4))
    if data[:1] in (b"{", b"[") and draw(st.booleans()):
        try:
            found = json.loads(data)
        except ValueError:
            pass
        else:
            for _ in range(edits):
                found = _json_edit(draw, found)
            return _sealed(draw, kind, found)
    for _ in range(edits):
        data = _text_edit(draw, data)
    return data


def _sealed(draw: st.DrawFn, kind: str, found: Any) -> bytes:
    """Return JSON as text; a plan's may have a hash and a seal that fit."""
    if kind == "plan-file" and isinstance(found, dict) and draw(st.booleans()):
        with suppress(UnicodeEncodeError):
            found["seal"] = _sha({k: v for k, v in found.items() if k != "seal"})
    return json.dumps(found).encode()


def _assembled(piece: Piece | None) -> Version | None:
    return assemble(Gathered(pieces=[piece])) if piece else None


def _read_evidence(whole: Version | None, data: bytes) -> None:
    log = event_log_of(data, "x")
    if log is not None:
        read = log.read()
        piece: Piece | None = Piece(EvidenceKind.EVENT_LOG, "x", read, read.warnings)
    else:
        piece = recognise(data, path="x")
    version = _assembled(piece)
    if version is None:
        return
    version_file.fingerprint(version)
    version_file.load(version_file.dump(version), source="x")
    if whole is not None:
        compare(whole, version)
        compare(version, whole)


@cache
def _reference(kind: str) -> Version | None:
    try:
        return _assembled(recognise(seeds(kind)[0], path="x"))
    except HeadgateError:
        return None


def _read_checkpoint(data: bytes) -> None:
    files, listing, logs = _checkpoints()[len(data) % len(_checkpoints())]
    names = sorted(files)
    name = names[sum(data[:50]) % len(names)]
    found = read_checkpoint({**files, name: data}, listing, source="ck")
    gathered = Gathered()
    gathered.checkpoints.append(("ck", found))
    version_file.dump(assemble(gathered))
    name = sorted(logs)[sum(data[-50:]) % len(logs)]
    read_batch_logs({**logs, name: data}, source="ck")


def _read_registry(data: bytes) -> None:
    headgate_toml.parse(data.decode("utf-8", "replace"), path="/x/headgate.toml", env={})


def _read_plan(data: bytes) -> None:
    dump_plan(load_plan(data.decode("utf-8", "replace"), source="p"))


READERS: Mapping[str, Callable[[bytes], None]] = {
    "checkpoint": _read_checkpoint,
    "registry": _read_registry,
    "plan-file": _read_plan,
}


def fault_of(kind: str, data: bytes) -> str | None:
    """Return what reading raised and where, None for nothing and for our own errors."""
    reader = READERS.get(kind) or partial(_read_evidence, _reference(kind))
    try:
        reader(data)
    except HeadgateError as error:
        str(error).encode()
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        ours = [f for f in traceback.extract_tb(error.__traceback__) if "headgate" in f.filename]
        frame = ours[-1] if ours else frame
        return f"{type(error).__name__} at {Path(frame.filename).name}:{frame.lineno} ({error})"
    return None
