"""What the plan of a late batch asks, reads and refuses, without Spark."""

from dataclasses import replace

import pytest
from late_cluster import DAY, NO_TIME, TOTAL, TOUCH, WINDOW, Cluster, argument, plan_of, topic

from headgate.errors import RefusedError, ScenarioError
from headgate.reprocess.plan import dump_plan, load_plan
from headgate.reprocess.scenarios.shared import processing_mode
from headgate.text.times import milliseconds


def test_the_load_on_the_brokers_is_named(monkeypatch):
    monkeypatch.setattr(processing_mode, "MANY", 150)
    (load,) = (r for r in plan_of(Cluster(), WINDOW).risks if "as fast as Spark can" in r)
    assert "To limit the load, set the quota consumer_byte_rate" in load


def test_records_that_expire_before_the_run_needs_them_are_a_risk():
    orders = replace(topic("orders", (0, 100)), retention_ms=1000)
    cluster = Cluster(logs={"orders": orders, "late": topic("late", (3, 9))})
    assert any(
        "Kafka may delete the first record that the run needs" in r
        for r in plan_of(cluster, WINDOW).risks
    )


def test_a_topic_is_planned_with_the_offsets_that_it_has_now():
    cluster = Cluster()
    plan = plan_of(cluster, WINDOW)
    assert plan.can_apply, plan.blockers
    assert [step.action for step in plan.steps] == ["replace_results", "install_results"]
    process, install = plan.steps
    assert process.late.offsets == {"late": {"0": (3, 9)}}
    assert process.offsets == {"orders": {"0": (0, 100), "1": (0, 50)}}
    assert (process.input_start, process.input_until) == (
        "2026-04-01T00:00:00.000Z",
        "2026-04-03T00:00:00.001Z",
    )
    assert install.replaced == process.content == "h1"
    assert plan.options["late"] == ["late:0:3-9"]
    assert plan.preconditions["contents"] == {"/data/totals": "h1"}
    (job, inputs) = cluster.asked[0]
    assert job.program == "late.measure_late"
    assert inputs == {"orders": "id-orders", "late": "id-late", "/data/totals": "h1"}
    again = plan_of(Cluster(), WINDOW, **plan.options)
    assert again.hash == plan.hash
    assert load_plan(dump_plan(plan), source="plan").hash == plan.hash
    assert "2 of 300 results (0.667 %) are replaced" in plan.risks[0]
    one = plan_of(Cluster(replace(TOUCH, touched_rows=1)), WINDOW)
    assert "1 of 300 results (0.333 %) is replaced" in one.risks[0]
    assert any("1 of 300 results is replaced or deleted. New" in s for s in one.outputs.run)
    assert "new folder: it rewrites 1 of 4 files (1 kB of 4 kB), and" in plan.risks[-1]


def test_a_step_says_all_that_the_program_needs():
    files = plan_of(
        Cluster(), TOTAL, late=["/data/late"], late_format="json", duplicates=["value.id"]
    )
    process = files.steps[0]
    job = process.job("--to", "/data/staged")
    assert job.program == "late.replace_results"
    assert argument(job, "--late-files") == "json:/data/late"
    assert argument(job, "--duplicates") == "value.id"
    assert argument(job, "--target") == "parquet:/data/totals"
    assert argument(job, "--to") == "/data/staged"
    assert process.late.content == "h2"


def test_lateness_reads_only_what_arrived_around_the_windows():
    since, until = milliseconds(DAY) - 2 * 86_400_000, milliseconds(DAY) + 2 * 86_400_000 + 1
    arrivals = {(("orders", 0), since): 20, (("orders", 0), until): 60, (("orders", 1), until): 7}
    plan = plan_of(Cluster(arrivals=arrivals), WINDOW, lateness="1d")
    assert plan.steps[0].offsets == {"orders": {"0": (20, 60), "1": (50, 50)}}
    assert plan.steps[0].late.known_offsets == {"orders": {"0": (0, 100), "1": (0, 50)}}
    assert plan.impact["total"] == 40
    with pytest.raises(ScenarioError, match="must have exactly one stateful operator"):
        plan_of(Cluster(NO_TIME), TOTAL, lateness="1d")
    plan = plan_of(Cluster(), WINDOW, lateness="1d", duplicates=["value.id"])
    assert "with --lateness Headgate reads only a part" in plan.blockers[0]


def test_records_that_arrived_before_the_windows_may_expire_before_the_run():
    since, until = milliseconds(DAY) - 2 * 86_400_000, milliseconds(DAY) + 2 * 86_400_000 + 1
    arrivals = {(("orders", 0), since): 20, (("orders", 0), until): 60, (("orders", 1), until): 7}
    cluster = Cluster(arrivals=arrivals)
    plan = plan_of(cluster, WINDOW, lateness="1d")
    cluster.logs["orders"] = topic("orders", (15, 100), (0, 50))
    now = plan_of(cluster, WINDOW, again=True, **plan.options)
    assert now.can_apply, now.blockers
    assert now.hash == plan.hash
    plan.steps[0].check(cluster)
    cluster.logs["orders"] = topic("orders", (21, 100), (0, 50))
    with pytest.raises(RefusedError, match="begins at offset 21, after the planned offset 20"):
        plan.steps[0].check(cluster)


def test_a_window_at_another_time_than_the_watermark_leaves_no_record_out():
    other = replace(WINDOW, watermark_column="s0.timestamp")
    step = plan_of(Cluster(), other).steps[0]
    assert (step.input_start, step.input_until) == (None, None)
    step = plan_of(Cluster(), WINDOW, TOTAL).steps[0]
    assert (step.input_start, step.input_until) == (None, None)
    # All days of a customer are replaced: none of the columns is the window.
    step = plan_of(Cluster(NO_TIME), WINDOW).steps[0]
    assert (step.input_start, step.input_until) == (None, None)


def test_results_are_not_replaced_by_ones_that_lack_expired_records():
    logs = {"orders": topic("orders", (10, 100), (0, 50)), "late": topic("late", (3, 9))}
    plan = plan_of(Cluster(logs=logs), WINDOW)
    assert "Kafka has deleted the first records of orders (10 offsets)" in plan.blockers[0]
    assert not plan.steps
    accepted = plan_of(Cluster(logs=logs), WINDOW, accept_expired=True)
    assert accepted.can_apply
    said = "Kafka has deleted the first records of orders (10 offsets). The new results lack these"
    assert any(r.startswith(said) and r.endswith("are deleted") for r in accepted.risks)
    # All that arrived since then is still there.
    since = milliseconds(DAY) - 2 * 86_400_000
    arrivals = {(("orders", 0), since): 11}
    assert plan_of(Cluster(logs=logs, arrivals=arrivals), WINDOW, lateness="1d").can_apply
    arrivals = {(("orders", 0), since): 10}
    (said,) = plan_of(Cluster(logs=logs, arrivals=arrivals), WINDOW, lateness="1d").blockers
    assert "need only later records, pass --lateness with a shorter time. To" in said


def test_lateness_is_proposed_only_if_the_query_allows_it():
    logs = {"orders": topic("orders", (10, 100), (0, 50)), "late": topic("late", (3, 9))}
    (said,) = plan_of(Cluster(logs=logs), WINDOW).blockers
    assert "need only later records, pass --lateness. To accept" in said
    (said,) = plan_of(Cluster(NO_TIME, logs=logs), TOTAL).blockers
    assert "--lateness" not in said and "pass --accept-expired" in said


@pytest.mark.parametrize(
    ("scan", "count"),
    [
        (["orders:0:30-100", "orders:1:0-50"], 30),
        (["orders:0:0-100"], 50),
        (["orders:0:10-100", "orders:1:50-50"], 60),
        (["orders:0:0-90", "orders:1:0-0"], 0),
    ],
)
def test_results_are_not_replaced_by_ones_of_a_part_of_the_input(scan, count):
    plan = plan_of(Cluster(), WINDOW, scan=scan)
    assert plan.can_apply is not bool(count)
    said = f"--scan leaves out earlier records of orders ({count} offsets). "
    assert [b.startswith(said) for b in plan.blockers] == [True] * bool(count)
    accepted = plan_of(Cluster(), WINDOW, scan=scan, accept_expired=True)
    assert accepted.can_apply
    assert any(r.startswith(said) for r in accepted.risks) is bool(count)


@pytest.mark.parametrize(
    ("touch", "said"),
    [
        (replace(TOUCH, late=0, new=0), "no records found"),
        (replace(TOUCH, new=0), "only duplicates found (12 records), so"),
        (replace(TOUCH, pairs=0), "the query produces no result from the late records"),
    ],
)
def test_late_records_that_change_nothing_are_a_blocker(touch, said):
    plan = plan_of(Cluster(touch), WINDOW)
    assert said in plan.blockers[0]
    assert not plan.can_apply


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"to": "totals"}, "expected an absolute path"),
        ({"to": "/data/none"}, "/data/none not found"),
        ({"late": ["/data/none"]}, "--late: folder /data/none not found"),
        ({"late": ["orders"]}, "orders:PARTITION:FROM-TO"),
        ({"late": ["nothing"]}, "topic nothing does not exist"),
        (
            {"late": ["late:0:0-9"]},
            "late[0] doesn't have all offsets from 0 to 9. Pass a range within 3-9",
        ),
        ({"late": ["late:1:0-9"]}, "late has no partition 1"),
        ({"late": ["late:0:5-5"]}, "no records found"),
        ({"late": ["/data/late", "/data/totals"]}, "several folders were passed"),
        ({"input": "clicks"}, "clicks isn't an input of the query. Pass one of orders"),
        ({"duplicates": ["none", "key"]}, "--duplicates: pass either none or key, not both"),
        ({"duplicates": ["key", "id"]}, "none, offsets, key or value.FIELD, found 'id'"),
        ({"scan": ["orders:0:0-100", "orders:1:0-50"], "late": ["late"]}, None),
    ],
)
def test_what_is_wrong_is_said_before_spark_starts(options, said):
    cluster = Cluster()
    plan = plan_of(cluster, WINDOW, **options)
    if said is None:
        assert plan.can_apply
        return
    assert said in plan.blockers[0]
    assert not cluster.asked


def test_a_folder_of_a_query_or_without_permission_is_not_replaced():
    plan = plan_of(Cluster(contents={"/data/sink": "h"}), WINDOW, to="/data/sink")
    assert "is, contains or is inside the output of totals. The run would" in plan.blockers[0]
    plan = plan_of(Cluster(writable=False), WINDOW)
    assert plan.blockers == ("--to: Headgate can't write to /data. Check its permissions",)


def test_own_late_offsets_belong_to_their_topic():
    plan = plan_of(Cluster(), WINDOW, late=["orders:0:90-95"])
    assert plan.steps[0].late.input == "orders"
    assert plan.steps[0].late.offsets == {"orders": {"0": (90, 95)}}


def test_a_total_without_windows_warns_of_the_state_that_lacks_the_records():
    said = "this result lacks the late records again"
    assert any(said in risk for risk in plan_of(Cluster(NO_TIME), TOTAL).risks)
    assert not any(said in risk for risk in plan_of(Cluster(), WINDOW).risks)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"contents": {"/data/totals": "other", "/data/late": "h2"}}, "files in /data/totals"),
        ({"contents": {"/data/totals": "h1", "/data/late": "other"}}, "files in /data/late"),
        ({"logs": {"orders": topic("orders", (0, 100), (5, 50))}}, "orders[1] now begins"),
    ],
)
def test_a_run_does_not_begin_if_what_it_reads_has_changed(changed, said):
    step = plan_of(Cluster(), WINDOW, late=["/data/late"]).steps[0]
    step.check(Cluster())
    with pytest.raises(RefusedError, match=said.replace("[", r"\[")):
        step.check(Cluster(**changed))


def test_late_records_that_expired_stop_the_run():
    step = plan_of(Cluster(), WINDOW).steps[0]
    cluster = Cluster()
    cluster.logs["late"] = topic("late", (4, 9))
    said = r"late\[0\] now has earliest offset 4 and latest offset 9, but the plan needs offsets 3 "
    with pytest.raises(RefusedError, match=said):
        step.check(cluster)


def test_the_plan_says_that_records_are_processed_as_a_batch():
    said = (
        "Spark processes the records as a batch. In a batch no record is late, so the new results"
    )
    assert any(risk.startswith(said) for risk in plan_of(Cluster(), WINDOW).risks)
