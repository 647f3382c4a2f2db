"""Every rule has a pair that makes it speak and one that keeps it silent."""

from dataclasses import replace

import pytest

from headgate.model.state_schema import Field
from headgate.model.version import Evidence
from headgate.rules.compare.compare_versions import compare
from headgate.rules.core.report import Outcome
from headgate.rules.spark.codes import RULES
from rules import (
    checkpoint_cases,
    input_cases,
    output_cases,
    setting_cases,
    spark_cases,
    state_cases,
    variable_cases,
    world_cases,
)
from rules.build import aggregate, deduplicate, files, join, kafka, sources, version
from rules.output_cases import ID, reading, to_topic
from rules.spark_cases import on
from rules.state_cases import CHECK, GROUPS
from rules.variable_cases import SAME, older, remembering, variables
from rules.variable_cases import N as NUMBER

N, R, U = Outcome.NO_EFFECT, Outcome.RESUMES, Outcome.UNKNOWN
CASES = {
    **input_cases.CASES,
    **state_cases.CASES,
    **setting_cases.CASES,
    **output_cases.CASES,
}


@pytest.mark.parametrize("code", CASES)
def test_a_rule_speaks_where_it_should(code):
    before, after, outcome, _ = CASES[code]
    found = [f for f in compare(before, after).findings if f.rule == code]
    assert found, f"{code} did not speak: write its check, and in CASES a change that it reports"
    assert max(f.outcome for f in found) is outcome
    assert all(f.why and f.source for f in found)


# Two keys that differ only for null, and two that only a rehearsal can tell apart.
KEY, FOR_NULL = ("concat(s0.k, -, s0.d)",), ("concat_ws(-, s0.k, s0.d)",)
FIRST, IN_FRONT = ("split(s0.k, ., -1)[0]",), ("substring_index(s0.k, ., 1)",)


# A query that could run with every trigger.
TRIGGERED = replace(to_topic(ID), sources=(kafka(),), trigger={"availableNow": True})
EXPLAINED = (Evidence(kind="explain", path="after.txt"),)


def by(keys):
    return version(replace(GROUPS, keys=keys))


def swapped(a, b):
    """Return two named file sources at these offsets, and the same in the other order."""
    return (
        sources(files(0, "/a", name="a", offsets=a), files(1, "/b", name="b", offsets=b)),
        sources(files(0, "/b", name="b"), files(1, "/a", name="a")),
    )


@pytest.mark.parametrize(
    ("code", "before", "after", "outcome"),
    [
        ("SRC005", sources(kafka()), sources(kafka(name="a")), N),
        ("SRC005", sources(kafka(name="a")), sources(kafka()), N),
        ("SRC005", sources(files(name="a")), sources(files(), evidence=EXPLAINED), U),
        ("SRC007", *swapped({"logOffset": 1}, {"logOffset": 1}), R),
        ("SRC007", *swapped(None, None), U),
        ("OPS003", on("3.5.8", aggregate(), deduplicate(operator_id=1)), on("3.5.8"), R),
        (
            "STA004",
            version(aggregate(value=(Field("c", "integer", False),))),
            version(aggregate(value=(Field("c", "long", False),)), settings={CHECK: "false"}),
            U,
        ),
        (
            "TWS006",
            remembering(SAME, past={"d": [older(NUMBER)]}),
            variables(c=(NUMBER,), d=(NUMBER,)),
            R,
        ),
        ("TRG001", TRIGGERED, replace(TRIGGERED, trigger={"continuous": "1 second"}), U),
        ("TRG003", TRIGGERED, replace(TRIGGERED, trigger={"realTime": "5 minutes"}), U),
        (
            "RDS006",
            reading(function="from_avro"),
            reading(function="from_avro", mode="PERMISSIVE"),
            R,
        ),
        ("DED001", version(deduplicate(KEY)), version(deduplicate(FOR_NULL)), R),
        ("GRP001", by(KEY), by(FOR_NULL), R),
        ("GRP001", by(FIRST), by(IN_FRONT), U),
        ("JOI001", version(join(KEY)), version(join(FOR_NULL)), R),
        ("JOI001", version(join(FIRST)), version(join(IN_FRONT)), U),
    ],
)
def test_a_rule_has_its_other_outcomes(code, before, after, outcome):
    found = [f for f in compare(before, after).findings if f.rule == code]
    assert {f.outcome for f in found} == {outcome}
    assert all((f.question is not None) is (outcome is U) for f in found)


@pytest.mark.parametrize("code", CASES)
def test_a_rule_stays_silent_where_nothing_changed_for_it(code):
    before, _, _, after = CASES[code]
    assert code not in {f.rule for f in compare(before, after).findings}


def test_every_rule_has_a_case_and_a_code_of_its_own():
    codes = [r.code for r in RULES]
    assert len(codes) == len(set(codes))
    elsewhere = (world_cases, checkpoint_cases, variable_cases, spark_cases)
    assert set(codes) == CASES.keys() | {code for m in elsewhere for code in m.CASES}
