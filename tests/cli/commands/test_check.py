"""`headgate check`: exit codes, formats, acceptances, the gate."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner

from headgate.cli.main import headgate

CASES = Path(__file__).parents[2] / "cases"
SPARK = str(CASES / "spark" / "kafka_topic_recreated_nofail" / "before")
STREAMS = str(CASES / "kafka_streams" / "U13b_window_size_wiped" / "before")
# Those of a finding of `diff`, with a severity for the outcome.
FIELDS = ["rule", "severity", "state_effect", "where", "before", "after", "why", "question",
          "error_class", "rollback", "remedy", "scenario", "accepted", "source",
          "keeps_state"]  # fmt: skip


def check(*arguments, config=None):
    options = [f"--config={config}"] if config else []
    return CliRunner().invoke(headgate, [*options, "check", *arguments])


def findings(*arguments, config=None):
    return json.loads(check(*arguments, "--format=json", config=config).stdout)["findings"]


@pytest.mark.parametrize(
    ("fail_on", "code"),
    [
        (None, 0),
        ("none", 0),
        ("high", 1),
        ("medium,low", 1),
        ("RDY020", 1),
        ("RDY030", 0),
        ("nonsense", 2),
        ("RDY999", 2),
        ("none,high", 2),
        ("", 2),
    ],
)
def test_the_gate_closes_on_severities_and_rules(fail_on, code):
    assert (
        check(SPARK, *([f"--fail-on={fail_on}"] if fail_on is not None else [])).exit_code == code
    )


def test_json_has_the_fields_of_the_contract():
    result = check(STREAMS, "--format=json")
    data = json.loads(result.stdout)
    assert list(data) == ["schema", "name", "engine", "findings", "warnings"]
    assert (data["schema"], data["engine"]) == (1, "kafka-streams")
    assert all(list(f) == FIELDS for f in data["findings"])
    order = [("high", "medium", "low").index(f["severity"]) for f in data["findings"]]
    assert order == sorted(order) and order


def test_the_changelog_of_windows_is_read_from_the_broker_s_settings():
    (found,) = [f for f in findings(STREAMS) if f["rule"] == "RDY089"]
    # retention.ms is 87060000: a day, and eleven minutes for window and grace.
    assert "a window plus grace period of 11 minutes" in found["before"]
    assert found["question"] == "Is the longest window plus its grace period at most 11 minutes?"


def test_text_groups_what_differs_in_its_place_alone(tmp_path):
    text = CASES.parent / "golden" / "streams" / "4.3.1" / "stream_left_join.txt"
    shown = check(str(text)).stdout
    assert shown.count("· RDY001") == 1 and shown.count("has a generated name.") > 1
    assert "Not checked: the configuration" in shown


def test_markdown_begins_with_the_counts_and_shows_names_as_they_are():
    shown = check(SPARK, "--format=markdown").stdout
    assert shown.startswith("## ! 5 findings: 1 high,")
    assert "kafka source truth\\_kafka\\_topic\\_recreated\\_nofail\\_main" in shown


def test_sarif_names_rule_level_and_node():
    (run,) = json.loads(check(SPARK, "--format=sarif").stdout)["runs"]
    first = run["results"][0]
    assert (first["ruleId"], first["level"]) == ("RDY020", "error")
    assert first["locations"][0]["logicalLocations"][0]["kind"] == "operator"
    assert {r["id"] for r in run["tool"]["driver"]["rules"]} == {
        r["ruleId"] for r in run["results"]
    }


def test_junit_fails_what_closes_the_gate_alone():
    suite = ET.fromstring(check(SPARK, "--format=junit", "--fail-on=high").stdout)
    failed = [c.get("classname") for c in suite if c.find("failure") is not None]
    assert failed == ["RDY020"] and suite.get("failures") == "1"
    assert int(suite.get("tests")) > 1


def test_an_accepted_finding_stays_listed_and_does_not_close_the_gate(tmp_path):
    config = tmp_path / "headgate.toml"
    config.write_text('[[accept]]\nrule = "RDY020"\nreason = "a test topic"\nuntil = 2999-12-31\n')
    assert check(SPARK, "--fail-on=high", config=config).exit_code == 0
    found = next(f for f in findings(SPARK, config=config) if f["rule"] == "RDY020")
    assert found["accepted"] == {"reason": "a test topic", "until": "2999-12-31"}
    assert "1 accepted." in check(SPARK, config=config).stdout


@pytest.mark.parametrize(
    ("argument", "said"),
    [("nowhere", "nowhere isn't a file, folder or pipeline"), ("", "an empty path isn't a")],
)
def test_what_is_no_evidence_is_one_sentence(argument, said):
    result = check(argument)
    assert result.exit_code == 2
    assert said in result.stderr and "Traceback" not in result.stderr


def test_a_cluster_that_is_asked_for_has_to_be_configured(tmp_path):
    config = tmp_path / "headgate.toml"
    config.write_text("")
    result = check(SPARK, "--cluster", config=config)
    assert result.exit_code == 2 and "set bootstrap_servers under [kafka]" in result.stderr


def test_a_registered_pipeline_is_checked_without_a_stored_version(tmp_path):
    config = tmp_path / "headgate.toml"
    config.write_text(
        f'[[pipeline]]\nname = "shop"\nengine = "kafka-streams"\ngroup = "shop"\n'
        f'evidence = ["{STREAMS}"]\n'
    )
    result = check("shop", "--format=json", config=config)
    data = json.loads(result.stdout)
    assert (data["name"], result.exit_code) == ("shop", 0)
    assert any(f["rule"] == "RDY089" for f in data["findings"])


def test_a_registered_checkpoint_in_tmp_is_seen(tmp_path):
    config = tmp_path / "headgate.toml"
    checkpoint = CASES / "spark" / "wm_add" / "before" / "checkpoint"
    config.write_text(
        f'[[pipeline]]\nname = "shop"\nengine = "spark"\ncheckpoint = "{checkpoint}"\n'
    )
    codes = {f["rule"] for f in findings("shop", config=config)}
    # A path without a scheme is on the session's default file system, which nobody told.
    assert "RDY031" not in codes
