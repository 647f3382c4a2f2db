"""What a finding says to do, what it asks, and how bad it is: its rule declares all of it."""

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

from .examples.recorded import CASES, judge
from .examples.tables import compared_rows, import_tests

RULES = {rule.code: rule for rule in all_rules()}
_FIELD = re.compile(r"(?<!\$)\{\w+(?:[!:][^{}]*)?\}")
FOLDERS = sorted(p.parent for p in CASES.rglob("outcome.json"))


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
