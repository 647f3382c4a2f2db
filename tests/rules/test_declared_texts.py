"""What a finding says to do, what it asks, and how bad it is: its rule declares all of it."""

import json
import re
from dataclasses import replace
from functools import cache

import pytest

from headgate.rules.catalogue import all_rules
from headgate.rules.compare.after_failed_start import REPAIR
from headgate.rules.core.report import Outcome
from headgate.rules.core.rule import RuleResult
from headgate.rules.readiness.check import check
from headgate.rules.readiness.facts.report import Severity
from support.sampled import sampled_cases

from .examples.__main__ import FOLDER
from .examples.calls import call_all
from .examples.recorded import CASES, ROOT, judge
from .examples.seen import seen_examples
from .examples.tables import compared_rows, import_tests

RULES = {rule.code: rule for rule in all_rules()}
_FIELD = re.compile(r"(?<!\$)\{\w+(?:[!:][^{}]*)?\}")
FOLDERS = sorted(p.parent for p in CASES.rglob("outcome.json"))

# Modules of unit tests, which show nearly all outcomes and severities.
SHOWING = {
    "compare": ("test_world",),
    "readiness": ("test_readiness_rules",),
    "spark": (
        *("test_rules", "test_details_of_rules", "test_same_keys", "test_what_is_said"),
        *("test_settings", "test_variables", "test_output_columns"),
    ),
    "kafka_streams": (
        *("test_same_description", "test_other_facts", "test_kinds", "test_upgrades"),
        "test_optimisation_off",
    ),
}
# Recorded cases that show what no unit test and no example of a page does.
ALSO = (
    *("spark/join_wm_removed", "spark/kafka_topic_remove_nofail"),
    "spark_fresh/third/chain_joined_windows_measure",
    "spark_pulls_ninth/kennels_lines_by_from_csv",
    *("streams_fresh/explicit_names_required_and_given", "streams_fresh/self_join_optimised"),
    *("streams_more/foreign_key_result_renamed", "streams_more/grouped_table_regrouped_named"),
    "streams_pulls_fifth/stamp_lots_for_updates",
)


@cache
def pattern(template):
    """Return what matches the texts that a template can become: any text stands for a field."""
    fixed = (
        re.escape(part.replace("{{", "{").replace("}}", "}")) for part in _FIELD.split(template)
    )
    return re.compile(".+".join(fixed), re.DOTALL)


def is_declared(text, templates):
    return any(pattern(template).fullmatch(text) for template in templates)


def undeclared(finding):
    """Return which of a finding's texts its rule does not declare."""
    rule = RULES[finding.rule]
    more = tuple(f"{remedy} {REPAIR}" for remedy in rule.remedies)
    found = []
    if finding.remedy and not is_declared(finding.remedy, (*rule.remedies, *more)):
        found.append((finding.rule, finding.remedy))
    if finding.question and not is_declared(finding.question, rule.questions):
        found.append((finding.rule, finding.question))
    return found


@pytest.mark.parametrize("folder", sampled_cases(FOLDERS))
def test_a_finding_of_a_recorded_case_says_what_its_rule_declares(folder):
    assert [x for finding in judge(folder).findings for x in undeclared(finding)] == []


@pytest.mark.slow
def test_a_finding_of_a_unit_test_says_what_its_rule_declares():
    tests = import_tests("readiness", "test_readiness_rules")
    found = [f for row in compared_rows() for f in row.report().findings]
    for _, version, known, _ in tests.CASES:
        found += check(version, now=tests.NOW, **known).findings
    assert {f.rule for f in found} > {"AGG001", "CKP007", "RDY010", "WLD001"}
    assert [x for finding in found for x in undeclared(finding)] == []


def test_a_declared_text_says_something_of_its_own():
    templates = {text for rule in RULES.values() for text in (*rule.remedies, *rule.questions)}
    assert [text for text in templates if len(_FIELD.sub("", text).split()) <= 1] == []
    assert [text for text in templates if text != text.strip()] == []


def test_an_outcome_and_a_severity_that_a_rule_does_not_declare_are_found():
    with pytest.raises(AssertionError, match="CFG003 doesn't declare REFUSES"):
        RuleResult(outcome=Outcome.REFUSES).finding("CFG003", "", "")
    tests = import_tests("readiness", "test_readiness_rules")
    version, known = next((v, k) for code, v, k, fires in tests.CASES if code == "RDY110" and fires)
    with pytest.raises(AssertionError, match="RDY110 doesn't declare HIGH"):
        rules = (replace(tests.RULE["RDY110"], severities=(Severity.LOW,)),)
        check(version, now=tests.NOW, rules=rules, **known)


@pytest.mark.slow
def test_each_declared_outcome_and_severity_is_shown(declared):
    """Without a test or a recorded case that shows it, nobody would see a verdict change."""
    declared.clear()
    for folder, names in SHOWING.items():
        for name in names:
            for called, test in vars(import_tests(folder, name)).items():
                if called.startswith("test_"):
                    call_all(test)
    seen_examples()
    examples = (e for p in FOLDER.glob("*.json") for e in json.loads(p.read_text("utf-8")).values())
    for case in {e["reported"]["case"] for e in examples}:
        if (ROOT / case / "outcome.json").is_file():
            judge(ROOT / case)
    for name in ALSO:
        known = set(declared)
        judge(CASES / name)
        assert declared > known, f"{name} shows nothing more: take it out of ALSO"
    claimed = {
        (code, one)
        for code, rule in RULES.items()
        for one in (*rule.outcomes, *getattr(rule, "severities", ()))
    }
    missing = sorted(f"{code}: {one.name.lower()}" for code, one in claimed - declared)
    assert missing == [], "write a test that shows it in a module of SHOWING, or don't declare it"


def test_outcomes_and_severities_are_declared_worst_first():
    for rule in RULES.values():
        declared = [*rule.outcomes, *getattr(rule, "severities", ())]
        assert declared == sorted(set(declared), reverse=True), rule.code
        assert declared or hasattr(rule, "effect"), rule.code


def test_another_text_is_not_declared():
    templates = ("Set {key} to {stored}.",)
    assert is_declared("Set spark.x to 3.", templates)
    assert not is_declared("Set spark.x to 3. Then restart.", ("Set {key} to 3.",))
    assert not is_declared("Delete the checkpoint.", templates)
