"""Topics get more partitions on a real broker, killed before or after any effect."""

import itertools

import pytest

from headgate.errors import RefusedError, StalePlanError, StepError
from headgate.model.registered_pipelines import Commands, Pipeline, Registry
from headgate.model.version import Engine
from headgate.reprocess.plan import Plan
from headgate.reprocess.steps import load_step
from headgate.reprocess.steps.topics import add_partitions as raising
from headgate.reprocess.steps.topics.add_partitions import AddPartitions, VerifyPartitions

pytestmark = pytest.mark.kafka


@pytest.fixture
def raising_lab(lab, broker, topic):
    """Two topics of two partitions and one, in a lab."""
    here = lab()
    here.registry = Registry(path=here.registry.path, bootstrap_servers=broker)
    return here, (topic("orders", partitions=2), topic("users"))


def planned(lab, names, to, **more):
    now = lab.applier().kafka.identities(names)
    topics = {name: {"id": now[name][0], "partitions": now[name][1]} for name in names}
    step = AddPartitions(topics=topics, to=to, **more)
    facts = {"cluster_id": lab.applier().kafka.cluster_id()}
    return Plan(scenario="repartition", pipeline=None, steps=(step,), preconditions=facts)


def counts(lab, names):
    return [lab.applier().kafka.identities(names)[name][1] for name in names]


def test_all_have_so_many_wherever_it_crashes(raising_lab):
    here, names = raising_lab
    for at in itertools.count():
        before = counts(here, names)
        plan = planned(here, names, to=3 + at)
        run = here.enqueue(plan)
        crashed = here.crash(run, plan, at)
        left = here.undo(run, plan).blockers
        raised = counts(here, names) != before
        assert any("can't be undone" in reason for reason in left) is raised
        here.execute(run, plan)
        assert counts(here, names) == [3 + at, 3 + at]
        (why,) = [r for r in here.undo(run, plan).blockers if r.startswith("can't")]
        assert f"keep {3 + at} partitions" in why and all(name in why for name in names)
        if not crashed:
            break
    assert at > 4


def test_one_that_was_made_anew_or_raised_since_is_left_alone(raising_lab):
    here, names = raising_lab
    applier, plan = here.applier(), planned(here, names, to=4)
    applier.kafka.add_partitions(names[1], 2)
    with pytest.raises(StalePlanError, match="now has 2 partitions, but the plan was made with 1"):
        here.execute(here.enqueue(plan), plan)
    plan, shape = planned(here, names, to=4), applier.kafka.shapes(names)[names[0]]
    applier.kafka.delete_topic(shape)
    applier.kafka.create_topic(shape)
    with pytest.raises(StalePlanError, match="recreated since"):
        here.execute(here.enqueue(plan), plan)
    assert counts(here, names) == [2, 2]


def test_the_broker_s_own_check_refuses_before_anything(raising_lab):
    here, names = raising_lab
    assert here.applier().kafka.unraisable(dict.fromkeys(names, 4)) == {}
    (why,) = here.applier().kafka.unraisable(dict.fromkeys(names, 2)).values()
    assert names[0] in why
    assert counts(here, names) == [2, 1]
    plan = planned(here, names, to=2)
    with pytest.raises(RefusedError, match=f"{names[0]} can't be increased to 2: "):
        here.execute(here.enqueue(plan), plan)
    assert counts(here, names) == [2, 1]
    with pytest.raises(StepError, match="could not be increased to 1"):
        here.applier().kafka.add_partitions(names[0], 1)


def test_nothing_is_raised_while_its_application_runs(raising_lab):
    here, names = raising_lab
    commands = Commands(status="[ -e running ] && exit 0 || exit 3")
    app = Pipeline(name="q", engine=Engine.KAFKA_STREAMS, group="app", commands=commands)
    here.registry = Registry(
        path=here.registry.path, bootstrap_servers=here.registry.bootstrap_servers, pipelines=(app,)
    )
    plan = planned(here, names, to=3, pipeline="q")
    with pytest.raises(RefusedError, match="its status is running"):
        here.execute(here.enqueue(plan), plan)
    assert counts(here, names) == [2, 1]


def test_an_application_that_ends_or_never_comes_is_not_proven(raising_lab, monkeypatch):
    here, names = raising_lab
    monkeypatch.setattr(raising, "PROVE_SECONDS", 8.0)
    step = VerifyPartitions(pipeline="q", group="nobody", topics={names[0]: 2}, to=3)
    with pytest.raises(StepError, match=r"q was not ready after 8 s \(group nobody has no"):
        step.apply(here.applier(), {})
    (here.folder / "running").unlink()
    with pytest.raises(
        StepError, match=r"q ended \(group nobody has no members\)\. See the log of q"
    ):
        step.apply(here.applier(), {})


def test_the_steps_read_back_as_they_were_written(raising_lab):
    here, names = raising_lab
    raises = planned(here, names, to=3).steps[0]
    for step in (raises, VerifyPartitions(pipeline="q", group="g", topics={"c": 2}, to=3)):
        assert load_step(step.action, step.details()) == step
