"""The same query, built in two sessions, is one topology; and the one that was recorded."""

import sys

import pytest

from headgate.parse.spark.operators.plan_forms import read_plans
from headgate.parse.spark.query.version import Pieces, build_version
from support.spark_golden import ROOT

pytestmark = pytest.mark.spark

MAKING = str(ROOT / "making")
QUERIES = (
    "source_json",
    "aggregate_by_key",
    "aggregate_rollup",
    "window_of_windows",
    "window_session_dynamic",
    "deduplicate_within_watermark",
    "stream_join_left",
    "chain_union_aggregate",
    "static_join_broadcast",
    "static_side_window",
    "generate_explode",
    "subquery_in",
    "limit_five",
    "apply_in_pandas_with_state",
)


@pytest.fixture(scope="module")
def build(spark, tmp_path_factory):
    sys.path.insert(0, MAKING)
    try:
        import rows  # noqa: F401
        import sources_and_sinks  # noqa: F401
        import state  # noqa: F401
        from query import QUERIES as KNOWN
        from query import Place
    finally:
        sys.path.remove(MAKING)
    root = tmp_path_factory.mktemp("twice")

    def topology(name):
        session = spark.newSession()
        session.conf.set("spark.sql.session.timeZone", "UTC")
        made = KNOWN[name].build(Place(session, root / name, "broker:9092"))
        frame = made._df if hasattr(made, "_df") else made
        execution = frame._jdf.queryExecution()
        planner = session._jsparkSession.sessionState()
        default = getattr(planner, "executePlan$default$2")()
        planned = planner.executePlan(execution.analyzed(), default)
        text = session._jvm.PythonSQLUtils.explainString(planned, "extended")
        return build_version(Pieces(plans=read_plans(text))).topology

    return topology


@pytest.mark.parametrize("name", QUERIES)
def test_two_sessions_give_one_topology(build, name):
    first, second = build(name), build(name)
    assert first == second
    recorded = (ROOT / "4.2.0" / name / "capture" / "explain.txt").read_text()
    ids = {n.id for n in build_version(Pieces(plans=read_plans(recorded))).topology.nodes}
    assert ids == {n.id for n in first.nodes}
