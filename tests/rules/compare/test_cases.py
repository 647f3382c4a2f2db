"""What Spark 4.2.0 did on restarts of changed queries, and what a comparison says of them.

A folder of `tests/cases/spark` is one measured restart: plans and checkpoint metadata of the old
version, plans of the new one, and the outcome. Where files can't decide, `unknown` is right, and
so is any answer that is true.
"""

import json
import re
from functools import cache
from pathlib import Path

import pytest

from headgate.rules.compare.compare_versions import compare
from headgate.rules.core.report import Outcome, Report, Rollback
from headgate.usecases.evidence.read_version import read_version
from support.sampled import sampled_cases

ROOT = Path(__file__).parents[2] / "cases"
CASES, STREAMS = (sorted((ROOT / engine).iterdir()) for engine in ("spark", "kafka_streams"))
FRESH = sorted(p.parent for p in (ROOT / "spark_fresh").glob("*/*/outcome.json"))
SCENARIOS = {
    *("from-scratch", "from-point", "rewind", "new-checkpoint", "historical-range", "bounded"),
    *("incremental", "offline-upgrade", "online-upgrade", "pause", "late-batch", "dead-letters"),
    *("ab", "repair", "repartition", "skip-records", "chain", "decommission"),
}
_ATTRIBUTE = re.compile(r"(?<=[^\s#])#(\d+)(?=L?\b)")
_JSON_ID = re.compile(r'("id":)(\d+)(?=,"jvmId")')
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_REPORTED = re.compile(r'(?m)(^ *"batchId" ?: ?)(\d+)')
_LATER = 40
# Taking numbers from it turns their order around: neither they nor which comes first decide.
_MOST = 1_000_000


@cache
def judge(case: Path) -> Report:
    return compare(read_version([str(case / "before")]), read_version([str(case / "after")]))


def truth(case: Path) -> dict:
    return json.loads((case / "outcome.json").read_text())


def main_condition(name: str) -> str:
    first = name.split(".")[0]
    return first if first.isupper() else name.split(".")[-1]


@pytest.mark.parametrize("case", sampled_cases(CASES))
def test_the_verdict_is_what_the_engine_did(case):
    report, known = judge(case), truth(case)
    says_what_to_do(report)
    if not known["decidable_from_files"]:
        # Surgery on the checkpoint, a changed world, a function's body: the files show nothing of
        # it, and nothing may be made up.
        harm = Outcome[known["outcome"].upper()]
        assert report.outcome in {Outcome.RESUMES, Outcome.NO_EFFECT, Outcome.UNKNOWN, harm}
        return
    assert report.outcome.word == known["outcome"]
    if report.outcome is Outcome.REFUSES and known["error_class"]:
        told = {f.error_class for f in report.findings if f.outcome is Outcome.REFUSES}
        assert main_condition(known["error_class"]) in told
    knows_the_way_back(report, known["rollback_ok"])


@pytest.mark.parametrize("case", sampled_cases(STREAMS))
def test_an_upgrade_says_what_to_do(case):
    says_what_to_do(judge(case))


def says_what_to_do(report: Report) -> None:
    for finding in report.findings:
        if finding.outcome is Outcome.UNKNOWN:
            assert finding.question and finding.remedy
        if finding.outcome in (Outcome.REFUSES, Outcome.SILENTLY_WRONG):
            assert finding.remedy
            assert finding.scenario in SCENARIOS
        if finding.outcome is Outcome.REFUSES and finding.rollback is Rollback.REPAIRABLE:
            assert "offsets/" in finding.remedy or report.upgrade


def knows_the_way_back(report: Report, started_again: bool | None) -> None:
    """Compare with what happened when the old version was started once more."""
    back = {f.rollback for f in report.findings if f.outcome is report.outcome}
    if started_again is False:
        assert back & {Rollback.REPAIRABLE, Rollback.LOST}
    elif started_again and report.outcome is Outcome.REFUSES:
        assert back == {Rollback.SAFE}


@pytest.mark.slow
@pytest.mark.parametrize("case", [*CASES, *FRESH], ids=lambda p: p.name)
def test_names_and_numbers_of_this_run_decide_nothing(case, tmp_path):
    other = tmp_path / "other"
    # That a query has run one batch says that it began with it.
    later = _LATER if len(list(case.glob("before/checkpoint/offsets/*"))) > 1 else 0
    for path in (p for p in case.rglob("*") if p.is_file()):
        target = other / _renamed(path.relative_to(case), later)
        target.parent.mkdir(parents=True, exist_ok=True)
        binary = path.name == "schema" or "_stateSchema" in path.parts
        data = path.read_bytes()
        if not binary:
            data = _as_another_run(data.decode(), case.name, later).encode()
        target.write_bytes(data)
    assert _verdicts(judge(other)) == _verdicts(judge(case))


def _renamed(path: Path, later: int) -> Path:
    """Return where a file of a checkpoint is, had the query run for some batches before.

    The logs of file sources count by themselves.
    """
    if path.parent.name in ("offsets", "commits") and path.name.isdigit():
        return path.with_name(str(int(path.name) + later))
    return path.with_name(_UUID.sub(_other_id, path.name))


def _other_id(found: re.Match[str]) -> str:
    return found[0].translate(str.maketrans("0123456789", "9876543210"))


def _as_another_run(text: str, name: str, later: int) -> str:
    """Rewrite folders, topics, ids, attribute numbers and batches, each to one other."""
    text = _UUID.sub(_other_id, text)
    text = _ATTRIBUTE.sub(lambda m: f"#{_MOST - int(m[1])}", text)
    text = _JSON_ID.sub(lambda m: f"{m[1]}{_MOST - int(m[2])}", text)
    text = _REPORTED.sub(lambda m: f"{m[1]}{int(m[2]) + later}", text)
    text = text.replace(f"/data/{name}/main", "/elsewhere/x").replace(f"truth_{name}", "orders")
    return text.replace(name, "another_case")


def _verdicts(report: Report) -> list[tuple]:
    return [(f.rule, f.outcome, f.state_effect, f.error_class) for f in report.findings]
