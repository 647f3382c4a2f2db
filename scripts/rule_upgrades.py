"""Say what each recorded upgrade did, by comparing outputs; write it as a case.

usage: rule_upgrades.py RECORDED CASES

RECORDED is what `record_upgrades.py` wrote. CASES gets NAME/{before,after,outcome.json}, and holds
`rulings.json`: {NAME: {outcome?, outcome_detail?, notes?, decidable_from_files?}} for what outputs
can't say: results that no control gave, and reasons outside the files. `judged_by`
is `reader` if the ruling gives the outcome, else `outputs`. It ends with an error if a ruling is
missing.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

SIDES = ("before", "after")
Run = Mapping[str, Any]


def main() -> None:
    """Rule over every recorded case."""
    recorded, cases = (Path(p) for p in sys.argv[1:])
    rulings = json.loads((cases / "rulings.json").read_text())
    open_ = []
    for file in sorted(recorded.glob("*/runs.json")):
        runs = json.loads(file.read_text())
        name = file.parent.name
        ruling = rulings.get(name, {})
        judge = "reader" if "outcome" in ruling else "outputs"
        said = {**ruled(runs), "judged_by": judge, **rolled_back(runs), **ruling}
        if "outcome" not in said:
            open_.append(name)
            continue
        write(file.parent, cases / name, {"id": name, "change": runs["change"], **said})
    if open_:
        sys.exit("No control gave what these upgrades gave; rule them by hand: " + ", ".join(open_))


def ruled(runs: Mapping[str, Any]) -> dict[str, Any]:
    """Return what only the outputs say; without an outcome if they equal no control's."""
    upgrade, everything = runs["upgrade"], runs["new_over_everything"]
    then, alone = upgrade["outputs"][-1], runs["new_over_later_only"]["outputs"][-1]
    found = {
        "error_class": upgrade["error"],
        "error_message": (upgrade["message"] or "")[:400] or None,
        "decidable_from_files": not runs["wiped"],
        "notes": None,
        "same_unchanged": unchanged(runs),
        "outputs": {
            "upgrade": then,
            "new_over_everything": everything["outputs"][-1],
            "new_over_later_only": alone,
        },
    }
    if upgrade["error"]:
        return found | {"outcome": "refuses", "outcome_detail": "refused"}
    if Counter(then) == Counter(everything["outputs"][-1]):
        return found | {"outcome": "resumes", "outcome_detail": "as_over_everything"}
    if rows(upgrade) == rows(everything):
        return found | {"outcome": "resumes", "outcome_detail": "same_last_rows"}
    if Counter(then) == Counter(alone):
        return found | {"outcome": "silently_wrong", "outcome_detail": "as_over_later_records_only"}
    return found


def rolled_back(runs: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the old version did after the new one, if that was recorded.

    Its control is the old version that was never upgraded, over the same records: the rows of the
    last start, or of the last two where the rollback had to read what the new version left.
    """
    upgraded, never = runs["upgrade"], runs["unchanged"]
    run, control = upgraded.get("rollback"), never.get("rollback")
    if not run:
        return {}
    own, others = (
        [Counter(r["outputs"][-1]) for r in both] for both in ((upgraded, run), (never, control))
    )
    same = own[1] == others[1] or own[0] + own[1] == others[0] + others[1]
    word = "refuses" if run["error"] else "as_without_upgrade" if same else "other_rows"
    outputs = {"rollback": run["outputs"][-1], "without_upgrade": control["outputs"][-1]}
    return {
        "rollback": word,
        "rollback_ok": not run["error"],
        "rollback_error": (run["message"] or "")[:400] or None,
        "rollback_outputs": outputs,
    }


def unchanged(runs: Mapping[str, Any]) -> bool:
    """Say whether the old version, restarted, continued from its state without an exception."""
    return runs["unchanged"]["error"] is None


def rows(run: Run) -> dict[str, str]:
    """Return the last row of each topic and key over both starts."""
    lines: Iterable[str] = (line for phase in run["outputs"] for line in phase)
    return dict(line.partition("=")[::2] for line in lines)


def write(source: Path, target: Path, outcome: Mapping[str, Any]) -> None:
    """Copy the evidence and put the outcome beside it."""
    for side in SIDES:
        (target / side).mkdir(parents=True, exist_ok=True)
        for file in (source / side).iterdir():
            if file.suffix == ".json":
                text = json.dumps(json.loads(file.read_text()), separators=(",", ":"))
                (target / side / file.name).write_text(text + "\n")
            else:
                shutil.copy(file, target / side / file.name)
    (target / "outcome.json").write_text(json.dumps(outcome, indent=1) + "\n")


if __name__ == "__main__":
    main()
