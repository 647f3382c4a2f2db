"""What a comparison says of Kafka as it is now, and of a checkpoint that somebody changed."""

import pytest

from headgate.compat.compare import compare
from headgate.compat.report import Outcome

from . import checkpoint_cases
from .world_cases import CASES, LOSSY, PLAIN, now, topic

EVERY = CASES | checkpoint_cases.CASES
ALL = [(code, *case) for code, cases in EVERY.items() for case in cases]


@pytest.mark.parametrize(("code", "before", "after", "cluster", "outcome"), ALL)
def test_a_rule_of_the_world_speaks_where_it_should(code, before, after, cluster, outcome):
    report = compare(before, after, cluster=cluster)
    found = [f.outcome for f in report.findings if f.rule == code]
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
