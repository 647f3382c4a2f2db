"""Collect the files of a Spark checkpoint that say something, and leave the state data alone."""

from __future__ import annotations

from collections.abc import Iterable

from headgate.gateway.evidence_files import Entry, Place, entries, read_many
from headgate.parse.spark.checkpoint import batches

_LARGEST = 32 << 20


def read_checkpoint_files(folder: Place) -> tuple[dict[str, bytes], list[str], list[str]]:
    """Return contents by relative path, all names that matter, and a sentence for each failure.

    A log contributes its newest two files, its newest committed one and its names; a state
    operator its metadata and the schemas of partition 0. That is a listing for each log and each
    store, however long the query has run.
    """
    offsets, commits = (_names(entries(folder, d)) for d in ("offsets", "commits"))
    listing = [
        *_names(entries(folder)),
        *(f"offsets/{n}" for n in offsets),
        *(f"commits/{n}" for n in commits),
        *_sources(folder),
        *_state(folder),
    ]
    wanted = [p for p in listing if _is_wanted(p)]
    wanted += _newest(offsets, commits)
    data, failures = read_many(folder, dict.fromkeys(wanted), _LARGEST)
    return data, listing, failures


def _names(found: Iterable[Entry]) -> list[str]:
    return [e.name for e in found if not e.is_folder]


def _is_wanted(path: str) -> bool:
    return path == "metadata" or path.startswith(("sources/", "state/"))


def _newest(offsets: list[str], commits: list[str]) -> list[str]:
    logged, done = batches(offsets), batches(commits)
    before = [b for b in logged if done and b <= done[-1]]
    numbers = {*logged[-3:], *before[-2:]}
    return [*(f"offsets/{b}" for b in sorted(numbers)), *(f"commits/{b}" for b in done[-1:])]


def _sources(folder: Place) -> list[str]:
    names = [e.name for e in entries(folder, "sources") if e.is_folder]
    return [
        f"sources/{n}/0"
        for n in names
        if any(e.name == "0" for e in entries(folder, f"sources/{n}"))
    ]


def _state(folder: Place) -> list[str]:
    operators = [e.name for e in entries(folder, "state") if e.is_folder and e.name.isdigit()]
    return [path for number in operators for path in _operator(folder, f"state/{number}")]


def _operator(folder: Place, base: str) -> list[str]:
    found = entries(folder, base)
    kinds = {e.name for e in found if e.is_folder}
    out = [f"{base}/{e.name}" for e in found if not e.is_folder]
    if "_metadata" in kinds:
        out += _metadata(folder, f"{base}/_metadata")
    if "_stateSchema" in kinds:
        for store in (e.name for e in entries(folder, f"{base}/_stateSchema") if e.is_folder):
            path = f"{base}/_stateSchema/{store}"
            out += [f"{path}/{n}" for n in _names(entries(folder, path)) if n[:1].isdigit()]
    partition = min((k for k in kinds if k.isdigit()), key=int, default=None)
    return out + (_partition(folder, f"{base}/{partition}") if partition is not None else [])


def _metadata(folder: Place, path: str) -> list[str]:
    found = entries(folder, path)
    out = [f"{path}/{e.name}" for e in found if e.name == "metadata"]
    if any(e.name == "v2" and e.is_folder for e in found):
        numbers = batches(_names(entries(folder, f"{path}/v2")))
        out += [f"{path}/v2/{n}" for n in numbers[-2:]]
    return out


def _partition(folder: Place, path: str) -> list[str]:
    """Return the schema files of one partition: its own, or one of each store below it."""
    folders = [e.name for e in entries(folder, path) if e.is_folder and e.name != "SSTs"]
    out = []
    for name in folders:
        inner = path if name == "_metadata" else f"{path}/{name}"
        if any(e.name == "schema" for e in entries(folder, f"{inner}/_metadata")):
            out.append(f"{inner}/_metadata/schema")
    return out
