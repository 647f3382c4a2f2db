"""A twin run under other settings than the old version's makes no finding less severe."""

from dataclasses import replace

import pytest

from headgate.model.registered_pipelines import Pipeline
from headgate.model.spark_settings import PARTITIONS, WATERMARK_POLICY
from headgate.model.twin import Equivalence, TwinVerdict
from headgate.model.version import Engine, Version
from headgate.rules.compare.gated import ComparedWith, Gated, PipelineChange
from headgate.rules.core.report import Finding, Outcome, Report
from headgate.usecases.gate.old_version import OldVersion
from headgate.usecases.gate.run_twins import Pair, TwinChoice, TwinRuns, other_session
from headgate.usecases.rehearsal.twin_spark import TwinRun

LEGACY = {"spark.sql.legacy.timeParserPolicy": "LEGACY"}
RAN = Version(engine=Engine.SPARK, engine_version="4.2.0", settings={"spark.sql.a": "1"})
ONE_QUERY = TwinVerdict(
    outcome="resumes", why="one query", is_exact=True, equivalence=Equivalence(plan=True)
)
OPEN = Finding(
    rule="CFG011", outcome=Outcome.UNKNOWN, why="parser", source="x", question="Which parser?"
)


def outcome(old, compared_with):
    """Return the outcome and note of the gate after a run that found one query."""
    pipeline = Pipeline(name="p", engine=Engine.SPARK)
    pair = Pair(
        pipeline=pipeline,
        registered_before=pipeline,
        old=OldVersion(compared_with=compared_with, name="p.headgate.json", version=old),
        before=old,
        after=RAN,
    )
    gated = Gated(pipeline="p", change=PipelineChange.CHANGED, report=Report(findings=(OPEN,)))
    found = TwinRun(Report(), ONE_QUERY, (), (RAN, RAN))
    runs = TwinRuns(None, None, None, TwinChoice.AUTO, 1.0)
    told = runs._with_run(gated, pair, found)
    return told.outcome, told.twin_note


@pytest.mark.parametrize("compared_with", [ComparedWith.BASELINE, ComparedWith.RUNNING])
def test_a_question_about_settings_stays_open_under_other_settings(compared_with):
    told, note = outcome(replace(RAN, settings=RAN.settings | LEGACY), compared_with)
    assert told is Outcome.UNKNOWN and "spark.sql.legacy.timeParserPolicy" in note
    assert outcome(RAN, compared_with) == (Outcome.RESUMES, "")


@pytest.mark.parametrize(
    ("old", "said"),
    [
        (replace(RAN, engine_version="4.1.1"), "Spark's release"),
        (replace(RAN, engine_version=None), "Spark's release"),
        (replace(RAN, settings={}), "settings aren't known"),
        (replace(RAN, pinned={WATERMARK_POLICY: "max"}), WATERMARK_POLICY),
    ],
)
def test_what_differs_or_is_not_known_is_said(old, said):
    assert said in other_session(old, RAN)


def test_partitions_and_defaults_differ_in_no_session():
    assert (
        other_session(replace(RAN, pinned={PARTITIONS: "200", WATERMARK_POLICY: "min"}), RAN) == ""
    )
