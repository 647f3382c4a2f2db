"""Keep the distinct plans of one run, each with the batches that it was used for."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass, replace
from hashlib import blake2b

import msgspec

from headgate.text.secrets import mask_text

# More plans than this of one run differ in what no topology shows.
MOST = 100
# A formatted plan of 5,000 operators has about 2 MB.
LARGEST = 8 << 20
_DIGITS = b"0123456789"
_FILES = re.compile(rb"(Index[^\[]{0,40}\[)[^\]]*\]")
_RANDOM = re.compile(rb"[0-9a-fA-F]{8,}(?:-[0-9a-fA-F]{4,})*")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedPlan:
    """One plan as Spark printed it; `batches` of the range first to last were seen with it."""

    first_batch: int
    last_batch: int
    batches: int
    packed: bytes

    @property
    def text(self) -> str:
        """The explain text, without what must not be kept."""
        return mask_text(_text(zlib.decompress(self.packed)))


class PlanLog:
    """The plans of one run, distinguished by what a batch does not change.

    A batch changes numbers (attributes, versions of the state, watermarks, times), the files it
    reads and random names: without those a plan is kept once. `left_out` counts batches whose plan
    was too large or exceeded the number of plans that are kept.
    """

    __slots__ = ("_exact", "_found", "left_out")

    def __init__(self) -> None:
        self._found: dict[bytes, LoggedPlan] = {}
        self._exact: dict[int, bytes] = {}
        self.left_out = 0

    def add(self, batch: int, plan: bytes) -> None:
        """Note the plan of a batch: its JSON text exactly as in the event."""
        if len(plan) > LARGEST:
            self.left_out += 1
            return
        short = plan.translate(None, _DIGITS)
        key = self._exact.get(hash(short))
        if key is None:
            key = blake2b(_still(plan), digest_size=16).digest()
            if len(self._exact) < MOST:
                self._exact[hash(short)] = key
        known = self._found.get(key)
        if known is not None:
            self._found[key] = _widened(known, batch)
        elif len(self._found) < MOST:
            packed = zlib.compress(plan, 1)
            self._found[key] = LoggedPlan(
                first_batch=batch, last_batch=batch, batches=1, packed=packed
            )
        else:
            self.left_out += 1

    @property
    def plans(self) -> tuple[LoggedPlan, ...]:
        """The distinct plans by their first batch."""
        return tuple(sorted(self._found.values(), key=lambda p: p.first_batch))


def _still(plan: bytes) -> bytes:
    """Return the plan without what a batch changes."""
    return _RANDOM.sub(b"", _FILES.sub(rb"\1]", plan)).translate(None, _DIGITS)


def _widened(plan: LoggedPlan, batch: int) -> LoggedPlan:
    return replace(
        plan,
        first_batch=min(plan.first_batch, batch),
        last_batch=max(plan.last_batch, batch),
        batches=plan.batches + (batch != plan.last_batch),
    )


def _text(plan: bytes) -> str:
    """Return the text; where it is none, an empty one: a plan nobody can read is none."""
    try:
        return msgspec.json.decode(plan, type=str)
    except ValueError:
        return ""
