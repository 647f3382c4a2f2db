"""The code of both versions: where it is imported from, and the captures of its pipelines."""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from headgate.errors import HeadgateError, with_next_step
from headgate.gateway.spark.capture import CaptureRequest, capture_queries
from headgate.gateway.spark.run_job import Checkout
from headgate.model.version import Version
from headgate.usecases.context import Context, importable_from
from headgate.usecases.evidence.capture import read_capture
from headgate.usecases.gate.base import Base
from headgate.usecases.gate.find_changes import import_folders

# Spark's own start, on a busy machine.
_START_S = 60.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """A function to capture; `query` chooses one of its queries if it starts several."""

    entry_point: str
    query: str | None = None


@dataclass(frozen=True, slots=True)
class Sides:
    """Where each version is imported from; `problem` is why the base's code can't run."""

    before: Checkout
    after: Checkout
    problem: str | None = None


Captured = Mapping[Wanted, Version | str]


def working_tree(context: Context) -> Checkout:
    """Return the code of the working tree."""
    return Checkout(importable_from(context))


def base_tree(context: Context, base: Base, folder: Path, python: Path | None) -> Checkout:
    """Return the code of the base, checked out in `folder`, imported from the same folders.

    `python` is the interpreter with the base's packages, None for Headgate's own.
    """
    paths = [base.path(f) for f in import_folders(context)]
    inside = dict.fromkeys(folder / p for p in paths if p is not None)
    current = folder / (base.path(Path.cwd()) or ".")
    # A folder that the base doesn't have can't be the current one.
    first = current if current.is_dir() else folder
    kept = (f for f in inside if f.is_dir() and f != first)
    return Checkout((first, *kept), python, base.repository.root)


def capture_both(
    sides: Sides, before: list[Wanted], after: list[Wanted], scratch: Path, seconds: float
) -> tuple[Captured, Captured]:
    """Capture the functions of both versions at the same time, each side in one Spark session.

    Each function may take `seconds`. If a capture fails, its result is the error as one sentence.
    """
    work = (
        partial(_capture, sides.before, before, scratch / "before", seconds, sides.problem),
        partial(_capture, sides.after, after, scratch / "after", seconds, None),
    )
    with ThreadPoolExecutor(2, thread_name_prefix="gate") as threads:
        old, new = (threads.submit(one) for one in work)
        return _read(old.result()), _read(new.result())


def _capture(
    checkout: Checkout, wanted: list[Wanted], folder: Path, seconds: float, problem: str | None
) -> dict[Wanted, CaptureRequest | str]:
    """Return where each function's pieces are, or the sentence that says why there are none."""
    distinct = list(dict.fromkeys(wanted))
    if problem is not None:
        return dict.fromkeys(distinct, problem)
    if not distinct:
        return {}
    requests = [
        CaptureRequest(one.entry_point, folder / str(number), one.query)
        for number, one in enumerate(distinct)
    ]
    folder.mkdir(parents=True)
    errors = capture_queries(requests, checkout, timeout_s=seconds, start_s=_START_S)
    return {
        one: _shown(error, checkout) if error else request
        for one, request, error in zip(distinct, requests, errors, strict=True)
    }


def _read(captured: Mapping[Wanted, CaptureRequest | str]) -> Captured:
    return {one: _version(one, request) for one, request in captured.items()}


def _version(one: Wanted, captured: CaptureRequest | str) -> Version | str:
    if isinstance(captured, str):
        return captured
    try:
        return read_capture(one.entry_point, captured.into)
    except HeadgateError as error:
        return with_next_step(error)


def _shown(error: HeadgateError, checkout: Checkout) -> str:
    """Return the sentence without the folder that the base was checked out into."""
    return with_next_step(error).replace(f"{checkout.importable[0]}{os.sep}", "")
