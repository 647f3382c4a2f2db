"""What a comparison says of Kafka as it is now, and of a checkpoint that somebody changed."""

import pytest

from headgate.rules.compare.compare_versions import compare
from headgate.rules.core.report import Outcome
from rules import checkpoint_cases, open_cases, spark_cases
from rules.world_cases import CASES, LOSSY, PLAIN, now, topic

EVERY = CASES | checkpoint_cases.CASES | spark_cases.CASES | open_cases.CASES
ALL = [(code, *case) for code, cases in EVERY.items() for case in cases]


@pytest.mark.parametrize(("code", "before", "after", "cluster", "outcome"), ALL)
def test_a_rule_of_the_world_speaks_where_it_should(code, before, after, cluster, outcome):
    report = compare(before, after, cluster=cluster)
    found = [f.outcome for f in report.findings if f.rule == code]
    assert found or outcome is None, (
        f"{code} did not speak: write its check, and in CASES a change that it reports"
    )
    assert found == ([] if outcome is None else [outcome])


def test_a_cluster_that_has_everything_adds_nothing_but_its_time():
    report = compare(PLAIN, PLAIN, cluster=now())
    assert report.findings == ()
    assert report.judged_for == "spark 4.2.0 against Kafka as of 2026-03-01T11:00:00.000+00:00"


def test_what_fails_on_data_loss_names_the_class_and_the_way_back():
    found = compare(PLAIN, PLAIN, cluster=now(topic("orders", (7, 8)))).findings[0]
    assert (found.error_class, found.rollback) == ("KAFKA_DATA_LOSS", "repairable")
    assert "failOnDataLoss=false" in found.remedy
    lossy = compare(PLAIN, LOSSY, cluster=now(topic("orders", (7, 8)))).findings[0]
    assert (lossy.outcome, lossy.error_class) == (Outcome.SILENTLY_WRONG, None)


def test_no_name_of_an_operator_is_compared_on_a_checkpoint_of_spark_3_5():
    """Measured: 4.2.0 runs without the aggregate that 3.5.8 left state of, and starts anew."""
    was, now_ = spark_cases.on("3.5.8"), spark_cases.version(engine_version="4.2.0")
    found = {f.rule: f.outcome for f in compare(was, now_).findings}
    assert "OPS001" not in found
    assert found["OPS003"] is Outcome.SILENTLY_WRONG
    assert compare(spark_cases.on("4.2.0"), now_).outcome is Outcome.REFUSES
