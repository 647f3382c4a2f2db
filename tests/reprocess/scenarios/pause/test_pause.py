"""Pause and resume, over a pipeline made of shell commands: as a stop, and by a pause command."""

from dataclasses import replace

import pytest

from headgate.errors import RefusedError, StepError
from headgate.model.cluster import Group, GroupOffset, Member, Partition, Topic
from headgate.reprocess.execution.undo import Past, build_undo
from headgate.reprocess.plan import dump_plan, load_plan
from headgate.reprocess.ports.processes import Status
from headgate.reprocess.scenarios.build import build_plan
from headgate.reprocess.steps.process import pause
from headgate.worker.run_journal import RunJournal
from support.crashing import COMMANDS, QuickProcesses
from support.flat_ports import FlatPorts

pytestmark = pytest.mark.slow

HELD = replace(
    COMMANDS,
    pause="echo >> pauses; touch held",
    resume="rm -f held",
    status="[ -e held ] && exit 4; [ -e running ] && exit 0 || exit 3",
    notify='echo "$HEADGATE_MESSAGE" >> told',
)


@pytest.fixture
def held(lab, monkeypatch):
    """A lab whose status command is asked in earnest: it knows paused."""
    made = lab(HELD)
    monkeypatch.delattr(QuickProcesses, "status")
    return made


def undo_of(lab, run, plan):
    journal = RunJournal(lab.store, run, plan, undo_of=None)
    records = {n: journal.record(n) for n in range(len(plan.steps))}
    return build_undo(Past(run=run, plan=plan, records=records), lab.applier())


def test_a_pause_stops_says_what_was_in_flight_and_its_undo_goes_on(lab):
    made = lab()
    plan = build_plan("pause", "q", made.applier())
    assert plan.can_apply
    assert load_plan(dump_plan(plan), source="x").hash == plan.hash
    run = made.enqueue(plan)
    made.execute(run, plan)
    assert not (made.folder / "running").exists()
    assert any("paused after batch 4: no batch is uncommitted" in note for note in made.notes)
    back = undo_of(made, run, plan)
    assert back.can_apply, back.blockers
    assert [s.action for s in back.steps] == ["start_pipeline"]
    made.execute(made.enqueue(back, undo_of=run), back, run)
    assert (made.folder / "running").exists()


def test_a_batch_that_was_under_way_is_named(lab):
    made = lab()
    (made.folder / "ck" / "commits" / "4").rename(made.folder / "ck" / "commits" / "3")
    plan = build_plan("pause", "q", made.applier())
    made.execute(made.enqueue(plan), plan)
    assert any("Batch 4 is uncommitted" in note for note in made.notes)


def test_resume_by_the_scenario_starts_it(lab):
    made = lab()
    (made.folder / "running").unlink()
    plan = build_plan("pause", "q", made.applier(), {"resume": True})
    assert plan.command.startswith("headgate plan pause q --resume")
    made.execute(made.enqueue(plan), plan)
    assert (made.folder / "running").exists()


def test_a_pause_command_holds_it_and_people_are_told(held):
    plan = build_plan("pause", "q", held.applier())
    assert [s.action for s in plan.steps] == ["pause_processing", "notify"]
    run = held.enqueue(plan)
    held.execute(run, plan)
    assert (held.folder / "running").exists()
    assert held.applier().processes.status("q") is Status.PAUSED
    back = undo_of(held, run, plan)
    assert back.can_apply, back.blockers
    held.execute(held.enqueue(back, undo_of=run), back, run)
    assert held.applier().processes.status("q") is Status.RUNS
    told = (held.folder / "told").read_text().splitlines()
    assert [line.partition(" (run")[0] for line in told] == ["q is paused", "q is being resumed"]


def test_what_is_paused_or_stopped_already_is_refused(held):
    (held.folder / "held").touch()
    refused = build_plan("pause", "q", held.applier()).blockers
    assert refused == ("q is already paused. To resume it, pass --resume",)
    (held.folder / "held").unlink()
    refused = build_plan("pause", "q", held.applier(), {"resume": True}).blockers
    assert refused == ("q runs: there is nothing to resume",)
    (held.folder / "running").unlink()
    refused = build_plan("pause", "q", held.applier()).blockers
    assert refused == ("q is stopped: there is nothing to pause",)


@pytest.mark.parametrize(
    ("start", "said"), [("run", "Headgate starts it again"), (None, "you must start it yourself")]
)
def test_a_pause_without_a_pause_command_says_who_starts_the_pipeline(lab, start, said):
    risks = build_plan("pause", "q", lab(replace(COMMANDS, start=start)).applier()).risks
    assert [said in risk for risk in risks if "no pause" in risk or "a pause nor" in risk] == [True]


def test_without_a_command_it_says_what_is_needed(lab):
    (reason,) = build_plan("pause", "q", lab(replace(COMMANDS, stop=None)).applier()).blockers
    assert "a registered `stop` command" in reason
    assert "watch = true" in reason


def test_a_pause_that_nothing_proves_is_refused_as_long_as_something_moves(lab, monkeypatch):
    monkeypatch.setattr(pause, "MOST_SECONDS", 5.0)
    monkeypatch.setattr(pause, "STILL_SECONDS", 3.0)
    made = lab(replace(HELD, status=None))
    step = build_plan("pause", "q", made.applier()).steps[0]
    moving = made.applier("r")
    monkeypatch.setattr(moving.processes, "status", lambda _pipeline: Status.UNKNOWN)
    moves = iter(range(100))

    def move(_seconds):
        (made.folder / "ck" / "offsets" / str(10 + next(moves))).write_text("v1")

    monkeypatch.setattr(moving, "pause", move)
    with pytest.raises(RefusedError, match="still makes progress 5 s after its pause"):
        step.verify(moving, {})
    monkeypatch.setattr(moving, "pause", lambda _seconds: None)
    step.verify(moving, {})
    assert any("the pause of q is not verified" in note for note in made.notes)


class Idle(FlatPorts):
    """A group that never moves; it has read t[0] to 5, and another topic no longer."""

    run = "r"

    def __init__(self, status, end, *, first=True):
        self.told, self.end, self.first, self.notes = status, end, first, []

    def status(self, name):
        return self.told

    def has_cluster(self):
        return True

    def group(self, name):
        offsets = tuple(GroupOffset(topic=t, partition=0, offset=5) for t in ("t", "old"))
        member = Member(id="m", assignment=(("t", 0),))
        return Group(id=name, state="stable", members=(member,), offsets=offsets)

    def topics(self, names):
        ends = {"t": self.end, "old": 99}
        return {
            n: Topic(name=n, partitions=(Partition(number=0, begin=0, end=ends[n]),)) for n in names
        }

    def first_records(self, ranges):
        return {part: at for part, (at, _) in ranges.items() if self.first}

    def pause(self, seconds):
        pass

    def note(self, text):
        self.notes.append(text)


PAUSE = pause.PauseProcessing(pipeline="q", command="true", resume="true", group="g")


@pytest.mark.parametrize("status", [Status.RUNS, Status.UNKNOWN])
def test_unread_records_that_stay_unread_verify_a_pause(status):
    world = Idle(status, end=9)
    PAUSE.verify(world, {})
    assert "it has unread records, and has committed nothing for 65 s" in world.notes[0]


@pytest.mark.parametrize("world", [{"end": 5}, {"end": 6, "first": False}])
def test_offsets_of_an_idle_pipeline_verify_nothing(world):
    """Nothing is unread but a transaction's marker, and a topic that no member reads."""
    with pytest.raises(RefusedError, match="status of q is still running after its pause command"):
        PAUSE.verify(Idle(Status.RUNS, **world), {})
    unknown = Idle(Status.UNKNOWN, **world)
    PAUSE.verify(unknown, {})
    assert unknown.notes[0].startswith("the pause of q is not verified")


def test_nobody_told_is_no_reason_to_fail(held):
    pipeline = replace(held.registry.pipelines[0], commands=replace(HELD, notify="exit 7"))
    held.registry = replace(held.registry, pipelines=(pipeline,))
    plan = build_plan("pause", "q", held.applier())
    plan.steps[1].apply(held.applier("r"), {})
    assert any(
        "the notification failed" in note and "exited with code 7" in note for note in held.notes
    )


def test_a_resume_that_does_not_take_fails(held):
    plan = build_plan("pause", "q", held.applier())
    (held.folder / "held").touch()
    (step,) = plan.steps[0].undo({})
    with pytest.raises(StepError, match="still paused"):
        step.verify(held.applier("r"), {})


@pytest.mark.parametrize("resume", [False, True])
def test_crashes_at_every_point(lab, resume):
    at = 0
    while True:
        made = lab()
        if resume:
            (made.folder / "running").unlink()
        plan = build_plan("pause", "q", made.applier(), {"resume": resume})
        run = made.enqueue(plan)
        crashed = made.crash(run, plan, at)
        made.execute(run, plan)
        assert (made.folder / "running").exists() is resume
        assert not (made.folder / "twice").exists()
        if not crashed:
            break
        at += 1
    assert at >= 5
