"""`headgate diff`: exit codes, formats, the gate."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner

from headgate.cli.main import headgate

CASES = Path(__file__).parents[2] / "cases" / "spark"
FIELDS = {
    "rule",
    "outcome",
    "state_effect",
    "where",
    "before",
    "after",
    "why",
    "question",
    "error_class",
    "rollback",
    "remedy",
    "scenario",
    "accepted",
    "source",
}


def diff(case, *options):
    sides = [f"--before={CASES / case / 'before'}", f"--after={CASES / case / 'after'}"]
    return CliRunner().invoke(headgate, ["diff", *sides, *options])


def exit_code(case, *options):
    return diff(case, *options).exit_code


@pytest.mark.parametrize(
    ("case", "fail_on", "code"),
    [
        ("agg_add_column", None, 1),
        ("agg_add_column", "none", 0),
        ("agg_add_column", "silently_wrong,unknown", 0),
        ("agg_min_to_max", None, 1),
        ("tws_rename_var", None, 1),
        ("agg_filter_remove", None, 0),
        ("agg_filter_remove", "mixed", 1),
        ("conf_compression_codec", None, 0),
        ("conf_compression_codec", "no_effect", 1),
        ("agg_add_column", "nonsense", 2),
        ("agg_add_column", "none,refuses", 2),
    ],
)
def test_the_gate_closes_on_what_it_is_told(case, fail_on, code):
    assert exit_code(case, *([f"--fail-on={fail_on}"] if fail_on else [])) == code


def test_json_has_every_field_of_the_contract_and_nothing_else_on_stdout():
    answer = json.loads(diff("agg_map_add", "--format=json").stdout)
    assert answer["schema"] == 1
    assert answer["outcome"] == "resumes"
    assert answer["findings"]
    assert all(f.keys() == FIELDS for f in answer["findings"])
    assert all(c.keys() == {"kind", "before", "after", "what"} for c in answer["changes"])


def test_an_unknown_has_its_question():
    answer = json.loads(diff("tws_rename_var", "--format=json").stdout)
    assert answer["outcome"] == "unknown"
    assert all(f["question"] for f in answer["findings"] if f["outcome"] == "unknown")


def test_the_version_of_spark_changes_the_verdict():
    old = json.loads(diff("agg_to_dedup", "--format=json", "--spark-version=3.5.8").stdout)
    new = json.loads(diff("agg_to_dedup", "--format=json").stdout)
    assert (old["outcome"], new["outcome"]) == ("silently_wrong", "refuses")
    assert old["judged_for"] == "spark 3.5.8"
    conditions = {f["error_class"] for f in new["findings"]}
    assert "STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA" in conditions


def test_text_says_verdict_remedy_and_source():
    out = diff("agg_add_column").stdout
    assert out.startswith("Fails to start.")
    assert "Remedy:" in out
    assert "Source:" in out


def test_markdown_has_a_heading_and_a_diff():
    out = diff("agg_add_column", "--format=markdown").stdout
    assert out.startswith("## ")
    assert "```diff" in out


def test_sarif_is_one_run_with_the_refusal_as_error():
    run = json.loads(diff("agg_add_column", "--format=sarif").stdout)["runs"][0]
    assert {r["level"] for r in run["results"]} == {"error"}
    assert {r["ruleId"] for r in run["results"]} <= {
        r["id"] for r in run["tool"]["driver"]["rules"]
    }


def test_junit_fails_what_closes_the_gate():
    suite = ET.fromstring(diff("agg_add_column", "--format=junit").stdout.split("?>", 1)[1])
    assert suite.get("failures") == "1"
    silent = ET.fromstring(
        diff("agg_add_column", "--format=junit", "--fail-on=none").stdout.split("?>", 1)[1]
    )
    assert silent.get("failures") == "0"


def test_a_wrong_rename_is_said_in_one_sentence():
    answer = diff("agg_add_column", "--rename=nonsense")
    assert answer.exit_code != 0


@pytest.mark.parametrize(
    ("version", "code"), [("4.1.0-SNAPSHOT", 1), ("3.5", 1), ("4", 2), ("9x", 2)]
)
def test_a_version_of_spark_that_is_none_is_refused(version, code):
    result = diff("agg_add_column", f"--spark-version={version}")
    assert result.exit_code == code
    assert ("expected a version such as" in result.stderr) == (code == 2)


def test_a_path_that_no_file_can_have_is_one_sentence():
    result = CliRunner().invoke(headgate, ["diff", "--before", "x" * 5000, "--after", "y"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "unexpected" not in result.stderr
