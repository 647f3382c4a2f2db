"""Acceptances in headgate.toml: what they let through, and what is said of the others."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner

from headgate.cli.main import headgate

CASE = Path(__file__).parents[2] / "cases" / "spark" / "agg_min_to_max"
RULE = "AGG002"


def diff(folder, accept, *options):
    config = folder / "headgate.toml"
    config.write_text("".join(f"{line}\n" for line in accept))
    sides = [f"--before={CASE / 'before'}", f"--after={CASE / 'after'}"]
    return CliRunner().invoke(headgate, ["diff", f"--config={config}", *sides, *options])


def table(**values):
    lines = [f'{k} = "{v}"' for k, v in values.items() if k != "until"]
    until = values.get("until", "2999-12-31")
    return ["[[accept]]", *lines, *([f"until = {until}"] if until else [])]


def accepted(result):
    return [f["accepted"] for f in json.loads(result.stdout)["findings"] if f["rule"] == RULE]


def test_an_accepted_finding_counts_and_does_not_close_the_gate(tmp_path):
    assert diff(tmp_path, []).exit_code == 1
    result = diff(tmp_path, table(rule=RULE, reason="a new metric"), "--format=json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["outcome"] == "silently_wrong"
    assert accepted(result) == [{"reason": "a new metric", "until": "2999-12-31"}]


@pytest.mark.parametrize(
    ("more", "holds"),
    [
        ({"where": "aggregate"}, True),
        ({"where": "somewhere else"}, False),
        ({"until": "2001-01-01"}, False),
        ({"until": '"2999-01-01"'}, True),
    ],
)
def test_an_acceptance_holds_where_and_as_long_as_it_says(tmp_path, more, holds):
    result = diff(tmp_path, table(rule=RULE, reason="known", **more))
    assert result.exit_code == (0 if holds else 1)


def test_one_that_has_ended_is_said(tmp_path):
    result = diff(tmp_path, table(rule=RULE, reason="known", until="2001-01-01"), "--format=json")
    assert "headgate.toml:1: the acceptance of AGG002 expired on 2001-01-01" in str(
        json.loads(result.stdout)["warnings"]
    )


def test_a_code_that_no_rule_has_is_said(tmp_path):
    result = diff(tmp_path, table(rule="AGG999", reason="known"), "--format=json")
    assert result.exit_code == 1
    assert "AGG999 names an unknown rule" in str(json.loads(result.stdout)["warnings"])


def test_a_pipelines_acceptance_holds_for_that_pipeline_alone(tmp_path):
    accept = table(rule=RULE, reason="known", pipeline="orders")
    unknown = diff(tmp_path, accept, "--format=json")
    assert unknown.exit_code == 1
    assert "name the pipeline with --pipeline" in str(json.loads(unknown.stdout)["warnings"])
    assert diff(tmp_path, accept, "--pipeline=orders").exit_code == 0
    assert diff(tmp_path, accept, "--pipeline=billing").exit_code == 1


def test_a_declared_checkpoint_says_which_pipeline_it_is(tmp_path):
    declared = ["[[pipeline]]", 'name = "orders"', 'engine = "spark"', 'checkpoint = "unused"']
    declared += [f'evidence = ["{CASE / "before"}"]']
    accept = table(rule=RULE, reason="known", pipeline="orders")
    assert diff(tmp_path, [*declared, *accept]).exit_code == 0


def test_every_writing_shows_it(tmp_path):
    accept = table(rule=RULE, reason="a new metric")
    assert "Accepted until 2999-12-31: a new metric" in diff(tmp_path, accept).stdout
    assert "a new metric" in diff(tmp_path, accept, "--format=markdown").stdout
    run = json.loads(diff(tmp_path, accept, "--format=sarif").stdout)["runs"][0]
    held = [r["suppressions"] for r in run["results"] if r["ruleId"] == RULE]
    assert held == [[{"kind": "external", "status": "accepted", "justification": "a new metric"}]]
    suite = ET.fromstring(diff(tmp_path, accept, "--format=junit").stdout.split("?>", 1)[1])
    assert suite.get("failures") == "0"
    skipped = suite.find(f"./testcase[@classname='{RULE}']/skipped")
    assert skipped is not None
    assert "a new metric" in skipped.get("message")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (['rule = "A"', "until = 2999-01-01"], "needs `reason`"),
        (['rule = "A"', 'reason = "r"'], "needs `until`"),
        (['reason = "r"', "until = 2999-01-01"], "needs `rule`"),
        (['rule = "A"', 'reason = "r"', 'until = "soon"'], "must be a date"),
        (['rule = "A"', 'reason = "r"', "until = 3"], "must be a date"),
        (
            ['rule = "A"', 'reason = "r"', "until = 2999-01-01", 'were = "x"'],
            "did you mean 'where'",
        ),
    ],
)
def test_a_wrong_table_is_one_sentence_with_its_line(tmp_path, lines, said):
    result = diff(tmp_path, ["[[accept]]", *lines])
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr
    assert "headgate.toml:" in result.stderr
