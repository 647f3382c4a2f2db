"""The cases of tests/cases/spark_pulls are whole, and as they were recorded."""

import hashlib
import json
from pathlib import Path

import pytest

HOME = Path(__file__).parents[1] / "cases" / "spark_pulls"
CASES = sorted(file.parent for file in HOME.glob("*/outcome.json"))
OUTCOMES = {"resumes", "no_effect", "refuses", "silently_wrong"}
SIDES = ("formatted.txt", "logical.json", "capture.json", "conf.json")


def test_files_have_the_recorded_hashes():
    lines = (HOME / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    recorded = {name: digest for digest, name in (line.split("  ", 1) for line in lines)}
    files = {str(p.relative_to(HOME)): p for c in CASES for p in c.rglob("*") if p.is_file()}
    digests = {name: hashlib.sha256(p.read_bytes()).hexdigest() for name, p in files.items()}
    assert len(CASES) == 102
    assert digests == recorded


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case_is_whole(case):
    known = json.loads((case / "outcome.json").read_text(encoding="utf-8"))
    versions = [(case / f"{side}.py").read_text(encoding="utf-8") for side in ("before", "after")]
    assert known["id"] == case.name
    assert known["outcome"] in OUTCOMES
    assert (known["error_class"] is not None) == (known["outcome"] == "refuses")
    assert known["judged_by"] == "controls" or known["notes"]
    assert versions[0] != versions[1]
    assert all("def build(spark" in text for text in versions)
    assert all((case / side / name).is_file() for side in ("before", "after") for name in SIDES)
    assert "== Physical Plan ==" in (case / "before" / "explain.txt").read_text(encoding="utf-8")
    assert not (case / "after" / "explain.txt").exists()
    assert (case / "before" / "progress.json").is_file()
    assert (case / "before" / "checkpoint" / "metadata").is_file()
