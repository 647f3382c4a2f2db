"""The verdict's gate, and the way back from an upgrade, over checkpoints that Spark wrote."""

import itertools
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from headgate.errors import RefusedError, ScenarioError, StalePlanError, StepError
from headgate.gateway.adapters.processes import ProcessAdapter
from headgate.gateway.checkpoint.folders import tree_hash
from headgate.model.cluster import Partition, Topic
from headgate.model.registered_pipelines import Commands
from headgate.model.version import Engine
from headgate.reprocess.execution.execute import Executor
from headgate.reprocess.plan import dump_plan, load_plan
from headgate.reprocess.scenarios.build import build_plan, drift
from headgate.usecases.compare.connect_evidence import with_judge
from headgate.usecases.context import Context
from headgate.worker.run_journal import RunJournal
from support.sampled import crash_points
from support.watched_run import tell_run

pytestmark = pytest.mark.slow

CASES = Path(__file__).parents[3] / "cases" / "spark"
COMMANDS = Commands(
    stop="rm -f running",
    start="[ -e running ] && echo >> twice; touch running; sh code.sh",
    status="[ -e running ] && exit 0 || exit 3",
    deploy="cp new.sh code.sh",
    rollback="cp old.sh code.sh",
)
# What a version does at its start: a batch; a batch that it is refused in; nothing.
BATCH = "cp ck/offsets/0 ck/offsets/1; cp ck/commits/0 ck/commits/1\n"
REFUSED = "cp ck/offsets/0 ck/offsets/1; rm -f running\n"
IDLE = "true\n"
ACTIONS = [
    "stop_pipeline",
    "recheck_version",
    "back_up_checkpoint",
    "deploy_version",
    "start_version",
    "verify_version",
    "compare_version",
]


@pytest.fixture
def query(lab):
    """Makes labs whose query has the checkpoint of a recorded case, and runs."""

    def make(case="agg_map_add", new=BATCH, commands=COMMANDS):
        here = lab(commands)
        shutil.rmtree(here.folder / "ck")
        shutil.copytree(CASES / case / "before" / "checkpoint", here.folder / "ck")
        for name, text in (("old.sh", IDLE), ("code.sh", IDLE), ("new.sh", new)):
            (here.folder / name).write_text(text)
        here.case = CASES / case
        plain = here.applier
        here.applier = lambda run="preview": with_judge(
            plain(run), Context(here.registry, "sqlite://", here.home)
        )
        return here

    return make


def upgrade_of(here, **options):
    given = {"after": str(here.case / "after"), "before": str(here.case / "before"), **options}
    return build_plan("offline-upgrade", "q", here.applier(), given)


def assert_back(here, old):
    assert tree_hash(here.folder / "ck") == old
    assert (here.folder / "code.sh").read_text() == IDLE
    assert (here.folder / "running").exists() and not (here.folder / "twice").exists()
    assert not list(here.folder.glob(".ck.before-*"))


def test_an_open_gate_gives_the_steps_and_both_fingerprints(query):
    here = query()
    plan = upgrade_of(here)
    assert plan.can_apply, plan.blockers
    assert [s.action for s in plan.steps] == ACTIONS
    assert set(plan.preconditions["versions"]) == {"before", "after"}
    assert plan.impact["verdict"] == "resumes"
    assert load_plan(dump_plan(plan), source="the file").hash == plan.hash
    assert not drift(plan, upgrade_of(here, **plan.options))


def test_a_closed_gate_shows_the_findings_and_what_gets_over_them(query):
    here = query("agg_add_column")
    plan = upgrade_of(here)
    assert not plan.steps
    assert "(fails to start)" in plan.blockers[0]
    assert "use `headgate plan from-scratch`" in plan.blockers[0]


def test_another_version_than_ran_does_not_open_the_gate(query):
    here = query("agg_add_column")
    # The new version compared with itself: only the state knows that something else ran.
    plan = upgrade_of(here, before=str(here.case / "after"))
    assert not plan.steps and "(fails to start)" in plan.blockers[0]


def test_what_the_gate_lets_pass_is_a_risk(query):
    plan = upgrade_of(query("agg_add_column"), **{"fail-on": "none"})
    assert plan.can_apply, plan.blockers
    assert any("(fails to start)" in risk for risk in plan.risks)


@pytest.mark.parametrize("given", ["refuse", ",", "none,refuses"])
def test_a_word_that_closes_nothing_is_wrong(query, given):
    with pytest.raises(ScenarioError, match="--fail-on: expected"):
        upgrade_of(query(), **{"fail-on": given})


@pytest.mark.parametrize("word", ["deploy", "rollback"])
def test_without_a_way_to_deploy_and_back_nothing_is_planned(query, word):
    plan = upgrade_of(query(commands=replace(COMMANDS, **{word: None})))
    assert not plan.steps and f"no {word} command" in plan.blockers[0]


def test_code_that_lies_in_its_place_needs_no_deploy(query):
    plan = upgrade_of(query(commands=replace(COMMANDS, deploy=None)), deployed=True)
    assert plan.can_apply and "is already deployed" in plan.steps[3].describe()


def test_a_version_that_changed_since_is_stale(query, tmp_path):
    here = query()
    after = tmp_path / "after"
    shutil.copytree(here.case / "after", after)
    plan = upgrade_of(here, after=str(after))
    shutil.rmtree(after)
    shutil.copytree(CASES / "agg_min_to_max" / "after", after)
    now = upgrade_of(here, after=str(after), **{"fail-on": "none"})
    assert any(reason.startswith("versions: ") for reason in drift(plan, now))
    gate = plan.steps[1]
    with pytest.raises(StalePlanError, match="has changed since the plan was made"):
        gate.apply(here.applier(), {})


def test_the_gate_looks_again_after_the_stop(query):
    here = query()
    plan = upgrade_of(here)
    # A batch of the old version that came between made the log go back.
    (here.folder / "ck" / "metadata").unlink()
    with pytest.raises(RefusedError, match="fails the check on the state of the stopped q: CKP001"):
        plan.steps[1].apply(here.applier(), {})


@crash_points
def test_an_upgrade_survives_a_crash_at_every_point_and_goes_back(query, step):
    for at in itertools.count(0, step):
        here = query()
        old = tree_hash(here.folder / "ck")
        plan = upgrade_of(here)
        run = here.enqueue(plan)
        crashed = here.crash(run, plan, at)
        here.execute(run, plan)
        assert (here.folder / "ck" / "commits" / "1").exists()
        assert tree_hash(here.folder / f".ck.before-{run}") == old
        assert (here.folder / "running").exists() and not (here.folder / "twice").exists()
        undo = here.undo(run, plan)
        here.execute(here.enqueue(undo, undo_of=run), undo, undo_of=run)
        assert_back(here, old)
        if not crashed:
            break
    assert at > 20


@pytest.mark.long
def test_what_a_crash_left_of_an_upgrade_can_be_undone_instead(query):
    for at in itertools.count():
        here = query()
        old = tree_hash(here.folder / "ck")
        plan = upgrade_of(here)
        run = here.enqueue(plan)
        if not here.crash(run, plan, at):
            break
        undo = here.undo(run, plan)
        here.execute(here.enqueue(undo, undo_of=run), undo, undo_of=run)
        assert_back(here, old)
    assert at > 20


def test_a_version_that_ends_in_its_first_batch_is_taken_back(query):
    here = query("agg_add_column", new=REFUSED)
    old = tree_hash(here.folder / "ck")
    plan = upgrade_of(here, **{"fail-on": "none"})
    run = here.enqueue(plan)
    with pytest.raises(
        RefusedError,
        match="starting the new version failed: 20 s after the start, q is not running",
    ):
        here.execute(run, plan)
    assert (here.folder / "ck" / "offsets" / "1").exists()
    journal = RunJournal(here.store, run, plan, undo_of=None)
    Executor(here.applier(run), journal).roll_back(plan.steps)
    assert_back(here, old)


def test_a_version_that_ends_later_in_its_first_batch_is_taken_back(query):
    here = query(new=IDLE)
    plan = upgrade_of(here)
    run = here.enqueue(plan)
    applier = here.applier(run)
    keep, prove = plan.steps[2], plan.steps[5]
    (here.folder / "running").unlink()
    keep.apply(applier, keep.bind(applier))
    shutil.copy(here.folder / "ck" / "offsets" / "0", here.folder / "ck" / "offsets" / "1")
    with pytest.raises(RefusedError, match="ended before it completed its first batch"):
        prove.apply(applier, {})


def test_a_version_without_input_is_said_to_be_unproven(query):
    here = query(new=IDLE)
    plan = upgrade_of(here)
    run = here.enqueue(plan)
    here.execute(run, plan)
    assert any(
        "did not verify that the new version completes a batch" in note for note in here.notes
    )


def test_a_version_that_leaves_records_waiting_is_no_success(query):
    here = query("kafka_topic_change", new=IDLE)
    plan = upgrade_of(here, **{"fail-on": "none"})
    run = here.enqueue(plan)
    applier = here.applier(run)
    keep, prove = plan.steps[2], plan.steps[5]
    keep.apply(applier, keep.bind(applier))
    # A cluster that is written down: its log goes on beyond where the query stands.
    parts = (Partition(number=0, begin=0, end=9),)
    applier.kafka.has_cluster = lambda: True
    applier.kafka.topics = lambda names: {n: Topic(name=n, id=n, partitions=parts) for n in names}
    with pytest.raises(StepError, match="has not committed any batch after 600 s"):
        prove.apply(applier, {})


def test_without_a_status_silence_is_no_proof(query):
    here = query(new=IDLE, commands=replace(COMMANDS, status=None))
    plan = upgrade_of(here)
    assert any("no status command" in risk for risk in plan.risks)
    run = here.enqueue(plan)
    applier = here.applier(run)
    keep, prove = plan.steps[2], plan.steps[5]
    keep.apply(applier, keep.bind(applier))
    applier.processes.status = lambda _pipeline: ProcessAdapter.status(applier.processes, "q")
    with pytest.raises(StepError, match="nor its driver reports that the query runs"):
        prove.apply(applier, {})


def test_a_consumer_group_is_asked_for_no_version():
    from headgate.reprocess.scenarios.build import SCENARIOS

    asks = [o.name for o in SCENARIOS["offline-upgrade"].asks(Engine.CONSUMER_GROUP)]
    assert asks == ["deployed"]


@pytest.fixture
def watched(query):
    """Makes labs whose new version, at its start, tells a watch of the run that it is."""

    def make(runs):
        here = query(new=f"{BATCH}cp told/*.jsonl watch/\n")
        (here.folder / "watch").mkdir()
        pipeline = replace(here.registry.pipelines[0], watch=str(here.folder / "watch"))
        here.registry = replace(here.registry, pipelines=(pipeline,))
        metadata = json.loads((here.folder / "ck" / "metadata").read_text())
        tell_run(here.folder / "told", here.case / runs, query=metadata["id"])
        return here

    return make


def test_what_runs_is_seen_to_be_what_was_judged(watched):
    here = watched("after")
    plan = upgrade_of(here)
    assert not any("no source reports" in risk for risk in plan.risks)
    here.execute(here.enqueue(plan), plan)
    assert any("shows that q runs the checked version" in note for note in here.notes)


def test_another_version_than_was_judged_fails_and_can_be_taken_back(watched):
    here = watched("before")
    old = tree_hash(here.folder / "ck")
    plan = upgrade_of(here)
    run = here.enqueue(plan)
    with pytest.raises(StepError, match="doesn't run the version that the plan checked") as error:
        here.execute(run, plan)
    assert "The stateless operator project was removed (v -> none, TRF001)" in str(error.value)
    assert f"To roll back, run `headgate undo {run}`" in str(error.value)
    undo = here.undo(run, plan)
    here.execute(here.enqueue(undo, undo_of=run), undo, undo_of=run)
    assert_back(here, old)


@pytest.mark.parametrize("told", [1, 2])
def test_the_old_runs_end_is_not_the_new_ones(watched, told):
    here = watched("before")
    query = json.loads((here.folder / "ck" / "metadata").read_text())["id"]
    folder, recorded = here.folder / "watch", here.case / "before"
    tell_run(folder, recorded, query=query, run=1, batch=0, ended=True)
    plan = upgrade_of(here)
    applier = here.applier(here.enqueue(plan))
    keep, prove = plan.steps[2], plan.steps[5]
    (here.folder / "running").unlink()
    keep.apply(applier, keep.bind(applier))
    (here.folder / "running").touch()
    was = prove.bind(applier)
    if told == 1:
        # The new version comes up, and has told nothing of itself yet.
        prove.apply(applier, was)
        assert any(
            "did not verify that the new version completes a batch" in note for note in here.notes
        )
        return
    tell_run(folder, recorded, query=query, run=2, batch=0, ended=True)
    with pytest.raises(RefusedError, match="ended before it completed its first batch"):
        prove.apply(applier, was)


def test_not_to_be_told_is_said_before_and_after(query):
    here = query()
    plan = upgrade_of(here)
    assert any("evidence shows it. Register the query's `watch`" in risk for risk in plan.risks)
    here.execute(here.enqueue(plan), plan)
    assert any(
        note.startswith("Headgate can't verify that q runs the checked version")
        for note in here.notes
    )
