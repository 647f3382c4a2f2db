"""What `make score` prints of twin runs is what their page counts."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from score import of_twins  # noqa: E402
from twin_corpus import Scored, page, section  # noqa: E402


def case(name: str, recorded: str, rules: str, twin: str, both: str) -> Scored:
    return Scored(name=name, recorded=recorded, error_class=None, rules=rules, twin=twin, both=both)


def test_the_page_of_twin_runs_is_read_back():
    wrong = case("a", "silently_wrong", "resumes", "silently_wrong", "silently_wrong")
    fine = case("b", "resumes", "resumes", "unknown", "resumes")
    written = page([section(Path("spark_pulls"), [wrong, fine])], "")
    rules, twin, both = of_twins(written)
    assert rules.startswith("spark_pulls, rules: 1 of 2") and "dangerous 1" in rules
    assert "twin run, 20" in twin and "1 of 2" in twin and "unknown 1" in twin
    assert "2 of 2" in both


def test_a_corpus_that_did_not_run_keeps_its_section():
    fine = case("b", "resumes", "resumes", "resumes", "resumes")
    old = page([section(Path("spark"), [fine]), section(Path("spark_pulls"), [fine])], "")
    new = page([section(Path("spark_pulls"), [fine, fine])], old)
    assert [line.split(",")[0] for line in of_twins(new)] == ["spark"] * 3 + ["spark_pulls"] * 3
    assert "| 2 of 2" in new and "| 1 of 1" in new
