"""One case from the first record to the undo, and the table of all: `python -m trial.trial`."""

from __future__ import annotations

import json
import re
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headgate.gateway.kafka_broker.local_broker import running_broker
from trial.cases import CASES, Case
from trial.kinds import Kind
from trial.reader import Counts

HEAD = """# Trial

The trial compares what a plan announces with the output of its run. It uses other pipelines than
the demo's. Each pipeline processes generated records with unique ids.

For each row, the trial applies a plan and then undoes the run. After each of the two, an
independent consumer counts the ids in the output. Before most counts, the trial waits until the
pipeline has caught up.

- *announced*: the records that the plan reprocesses or skips, and the losses that it names.
  If Headgate blocks the plan, this is the reason.
- *lost*: ids that are missing in the output. For `windows`: records missing in the newest counts.
- *repeated*: ids that are in the output more than once. For `windows`: records that the newest
  counts contain more than once.
- *lost, undone* and *repeated, undone*: the same counts after the undo.
- *undo exact*: `yes` if the undo restored the Spark checkpoint's logs byte for byte, or for
  `skip-records` the offsets. `-` if this wasn't compared.
- *as announced*: `no` if the outputs differ from what the plan announced.

`make trial` runs the trial and writes this page.

| measured | pipeline | scenario | records | announced | lost | repeated | lost, undone | \
repeated, undone | undo exact | as announced |
|---|---|---|---|---|---|---|---|---|---|---|
"""


@dataclass
class Result:
    """What one case showed; `issues` are differences between the plan's text and the outputs."""

    case: Case
    records: int = 0
    announced: str = ""
    run: Counts | None = None
    undone: Counts | None = None
    exact: bool | None = None
    issues: list[str] = field(default_factory=list)
    text: str = ""

    def row(self) -> str:
        """Return the row of the table."""
        counts = [
            str(n) for c in (self.run, self.undone) for n in ((c.lost, c.repeated) if c else "--")
        ]
        exact = {True: "yes", False: "no", None: "-"}[self.exact]
        verdict = "yes" if not self.issues else "no: " + "; ".join(self.issues)
        scenario = " ".join((self.case.scenario, *self.case.options)).replace("{input}", "TOPIC")
        cells = (time.strftime("%Y-%m-%d"), self.case.kind.name, scenario, str(self.records))
        return "| " + " | ".join((*cells, self.announced, *counts, exact, verdict)) + " |"


def attempt(case: Case, folder: Path, broker: str) -> Result:
    """Run one case and stop its pipeline."""
    kind, result = case.kind(folder, broker), Result(case)
    try:
        _attempt(case, kind, result)
    finally:
        kind.site.run("stop")
        result.records = len(kind.site.ledger.entries())
    return result


def _attempt(case: Case, kind: Kind, result: Result) -> None:
    site = kind.site
    kind.first()
    assert site.run("start") == 0
    site.await_caught_up()
    case.prepare(kind)
    before, batch = kind.site.position(), site.batch()
    logs = site.logs(batch + 1)
    places = {**site.settings, "folder": str(site.folder)}
    options = [str(site.folder / o) if o == "new" else o.format(**places) for o in case.options]
    codes = (3,) if case.blocked else (0,)
    text = site.headgate(
        "plan", case.scenario, site.name, *options, "-o", "plan.json", codes=codes
    ).stdout
    plan = json.loads((site.folder / "plan.json").read_text())
    result.announced = _announced(plan)
    if case.blocked:
        if case.blocked not in text:
            result.issues.append(f"no blocker holds `{case.blocked}`")
        return
    result.text = text
    missing = [part for part in case.says if not re.search(part, text)]
    result.issues += [f"the plan doesn't say `{part}`" for part in missing]
    case.deploy(kind)
    run = json.loads(site.headgate("apply", "plan.json", "--format", "json").stdout)["run"]
    if case.waits:
        kind.more()
        site.await_caught_up()
    else:
        # Nothing may come: time in which it would.
        time.sleep(3)
    result.run = kind.counts()
    case.roll_back(kind)
    site.headgate("undo", run, "--format", "json")
    if case.scenario == "repair" and site.run("status") == 3:
        site.run("start")  # it was stopped before the run, and an undo leaves it so
    if site.engine == "spark":
        result.exact = site.logs(batch + 1) == logs
    if not case.waits:
        kind.more()
    if case.scenario == "skip-records":
        # It stands before the record again: time in which it would continue.
        time.sleep(3)
        result.exact = site.position() == before
    else:
        site.await_caught_up()
    result.undone = kind.counts()
    if result.run != case.run:
        result.issues.append(f"after the run {case.run.lost} lost, {case.run.repeated} repeated")
    if result.undone != case.undone:
        wanted = case.undone
        result.issues.append(f"after the undo {wanted.lost} lost, {wanted.repeated} repeated")


def _announced(plan: dict[str, Any]) -> str:
    """Return the plan's numbers and its sentences of loss, in one cell."""
    blockers = plan["blockers"]
    if blockers:
        return "blocked: " + blockers[0].replace("|", "/")
    impact = plan["impact"]
    words = [f"reprocessed {impact.get('total', 0)}"]
    if skipped := impact.get("skipped"):
        words.append(f"skipped {sum(skipped.values())}")
    words += [risk.split(".")[0] for risk in plan["risks"] if "Loss" in risk]
    return "; ".join(words).replace("|", "/")


def main() -> int:
    """Run all cases, or those named; write the table. Exits 1 if a plan and the reader differ."""
    table, names = Path(sys.argv[1]), sys.argv[2:]
    rows, bad = [], 0
    with (
        tempfile.TemporaryDirectory(prefix="headgate-trial-") as place,
        running_broker(Path(place) / "kafka") as broker,
    ):
        for n, case in enumerate(c for c in CASES if not names or c.name in names):
            try:
                result = attempt(case, Path(place) / f"t{n}", broker)
            except Exception as error:
                traceback.print_exc()
                result = Result(case, issues=[f"{type(error).__name__}: {error}".splitlines()[0]])
            if result.issues:
                print(result.text, file=sys.stderr)
            bad += bool(result.issues)
            rows.append(result.row())
            print(case.name, rows[-1], file=sys.stderr, flush=True)
            table.write_text(HEAD + "\n".join(rows).replace(place, "FOLDER") + "\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
