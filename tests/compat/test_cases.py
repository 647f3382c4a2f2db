"""What Spark 4.2.0 did on restarts of changed queries, and what a comparison says of them.

A folder of `tests/cases/spark` is one measured restart: plans and checkpoint metadata of the old
version, plans of the new one, and the outcome. Where files can't decide, `unknown` is right.
"""

import json
import re
import shutil
from pathlib import Path

import pytest

from headgate.compat.compare import compare
from headgate.compat.report import Outcome, Report
from headgate.usecases.read_version import read_version

CASES = sorted((Path(__file__).parents[1] / "cases" / "spark").iterdir())
_ATTRIBUTE = re.compile(r"(?<=[^\s#])#(\d+)(?=L?\b)")
_JSON_ID = re.compile(r'("id":)(\d+)(?=,"jvmId")')
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def judge(case: Path) -> Report:
    return compare(read_version([str(case / "before")]), read_version([str(case / "after")]))


def truth(case: Path) -> dict:
    return json.loads((case / "outcome.json").read_text())


def main_condition(name: str) -> str:
    first = name.split(".")[0]
    return first if first.isupper() else name.split(".")[-1]


@pytest.mark.parametrize("case", CASES, ids=lambda p: p.name)
def test_the_verdict_is_what_the_engine_did(case):
    report, known = judge(case), truth(case)
    if not known["decidable_from_files"]:
        assert report.outcome in (Outcome.UNKNOWN, Outcome[known["outcome"].upper()])
        return
    assert report.outcome.word == known["outcome"]
    if report.outcome is Outcome.REFUSES:
        told = {f.error_class for f in report.findings if f.outcome is Outcome.REFUSES}
        assert main_condition(known["error_class"]) in told


@pytest.mark.parametrize("case", CASES, ids=lambda p: p.name)
def test_names_of_this_run_decide_nothing(case, tmp_path):
    other = shutil.copytree(case, tmp_path / "other")
    for path in (p for p in other.rglob("*") if p.is_file() and p.name != "schema"):
        path.write_text(_as_another_run(path.read_text(), case.name))
    assert _verdicts(judge(other)) == _verdicts(judge(case))


def _as_another_run(text: str, name: str) -> str:
    """Rewrite folders, topics, query ids and attribute numbers, each to one other."""
    text = _UUID.sub(lambda m: m[0].translate(str.maketrans("0123456789", "9876543210")), text)
    text = _ATTRIBUTE.sub(lambda m: f"#{int(m[1]) + 700}", text)
    text = _JSON_ID.sub(lambda m: f"{m[1]}{int(m[2]) + 700}", text)
    return text.replace(f"/data/{name}/main", "/elsewhere/x").replace(f"truth_{name}", "orders")


def _verdicts(report: Report) -> list[tuple]:
    return [(f.rule, f.outcome, f.state_effect, f.error_class) for f in report.findings]
