"""Judge a restart by its controls; say so where they leave it to a reader."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from recorder.case import Case
from recorder.restart import Restart
from recorder.run import Ran

_LOOK = "look"


def ruled(case: Case, known: dict[str, Any], folder: Path, rulings: dict[str, Any]) -> None:
    """Put into an outcome what the controls can't tell: a pinned setting, and a reader's ruling."""
    if known["error_class"]:
        return
    if known["outcome"] == "resumes" and _pinned(case, folder):
        known |= {"outcome": "no_effect", "state_effect": "pinned"}
    if case.name in rulings:
        keys = ("outcome", "state_effect", "notes")
        known |= dict(zip(keys, rulings[case.name], strict=True)) | {"judged_by": "reader"}


def _pinned(case: Case, folder: Path) -> bool:
    """Say whether nothing changed but settings that the offset log records."""
    old, new = case.old, case.new
    same = (old.build, old.mode, old.trigger) == (new.build, new.mode, new.trigger)
    keys = {k for k, _ in set(old.settings.items()) ^ set(new.settings.items())}
    logs = (folder / "before" / "checkpoint" / "offsets").glob("[0-9]*")
    newest = max(logs, key=lambda file: int(file.name))
    recorded = json.loads(newest.read_text(encoding="utf-8").splitlines()[1])["conf"]
    return same and bool(keys) and keys <= recorded.keys()


def outcome(case: Case, found: Restart) -> dict[str, Any]:
    """Return what a corpus's `outcome.json` says, and the rows that it was judged by.

    `judged_by` is `controls` where equality with a control decides, `reader` where it does not:
    then `outcome` is `look`, and a ruling with its reason has to be given by hand.
    """
    new = found.new
    return {
        "id": case.name,
        "change": case.change,
        **_verdict(case, found),
        "error_class": new.error,
        "exception": new.exception,
        "error_message": new.message,
        "stage": _stage(found) if new.error else None,
        "rollback": "FAILS " + str(found.back.error) if found.back.error else "runs",
        "rollback_ok": found.back.error is None,
        "decidable_from_files": case.files_tell,
        "proof": _proof(found),
    }


def _verdict(case: Case, found: Restart) -> dict[str, Any]:
    equal = _equalities(case, found)
    word, effect = _judged(found, equal)
    by = "reader" if word == _LOOK else "controls"
    return {"outcome": word, "state_effect": effect, "judged_by": by, "equal_to": equal}


def _judged(found: Restart, equal: dict[str, bool | None]) -> tuple[str, str]:
    if found.new.error:
        return "refuses", "n/a"
    stateful = any(json.loads(r.json)["stateOperators"] for r in found.new.reports)
    if equal["replay"] and (not stateful or equal["fresh"] is not True):
        return "resumes", "kept" if stateful else "none (stateless)"
    if equal["fresh"] and not equal["replay"]:
        return "silently_wrong", "orphaned"
    return _LOOK, _LOOK


def _equalities(case: Case, found: Restart) -> dict[str, bool | None]:
    def same(other: Ran | None) -> bool | None:
        if other is None or other.error:
            return None
        return _comparable(case, found.new) == _comparable(case, other, of=found.new)

    return {"same": same(found.same), "replay": same(found.replay), "fresh": same(found.fresh)}


def _comparable(case: Case, ran: Ran, of: Ran | None = None) -> Any:
    """Return all rows, or the last of each key: of those keys that the restart emitted."""
    if not case.keys:
        return ran.output
    last = _last(case, ran)
    wanted = _last(case, of) if of else last
    return {key: row for key, row in last.items() if key in wanted}


def _last(case: Case, ran: Ran) -> dict[str, str]:
    rows = [row for _, row in ran.rows] if ran.seen is None else ran.seen
    return {repr([json.loads(row).get(k) for k in case.keys]): row for row in rows}


def _stage(found: Restart) -> str:
    if found.new.at_start:
        return "start() call, before anything is written"
    if found.written["offsets"]:
        return f"first batch, AFTER writing offsets/{found.written['offsets'][0]} (no commit)"
    return "query thread, before writing a new offsets/ entry"


def _proof(found: Restart) -> dict[str, Any]:
    runs = {"new": found.new, "same": found.same, "replay": found.replay, "fresh": found.fresh}
    out: dict[str, Any] = {name: _shown(ran) for name, ran in runs.items()}
    out["first"] = _shown(found.first)
    out["operators"] = [_operators(r) for r in found.new.reports]
    out["written"] = found.written
    return out


def _shown(ran: Ran | None) -> Any:
    if ran is None:
        return None
    if ran.error:
        return f"{ran.error}: {(ran.message or '')[:160]}"
    return ran.rows if ran.seen is None else ran.seen


def _operators(report: Any) -> Any:
    known = json.loads(report.json)
    states = [
        [
            s["operatorName"],
            s["numRowsTotal"],
            s["numRowsUpdated"],
            s["numRowsDroppedByWatermark"],
        ]
        for s in known["stateOperators"]
    ]
    watermark = known.get("eventTime", {}).get("watermark")
    return [known["batchId"], known["numInputRows"], states, watermark]
