"""Where no command starts a pipeline a person is asked, waited for, and not simply believed."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from headgate.errors import RunCancelledError, StepError
from headgate.gateway.checkpoint.folders import tree_hash
from headgate.model.registered_pipelines import Commands
from headgate.reprocess.execution.execute import Executor
from headgate.reprocess.scenarios.build import build_plan
from headgate.reprocess.steps.process.clear_local_state import ClearLocalState
from headgate.reprocess.steps.process.stop_start import ManualStep
from headgate.store.rows import Event
from headgate.worker.run_journal import RunJournal

STATUS = "[ -e running ] && exit 0 || exit 3"
STOPS = Commands(stop="rm -f running", status=STATUS)
SUSPENDED = Commands(
    stop="rm -f running", status=STATUS, suspend="touch suspended", reenable="rm -f suspended"
)


def reset_of(lab):
    plan = build_plan("from-scratch", "q", lab.applier())
    assert plan.can_apply, plan.blockers
    return plan


def starter(lab, *, after=2):
    """A person who starts the query and confirms it when they are asked for the n-th time."""
    asked = []

    def person(word, request):
        asked.append((word, request))
        if len(asked) < after:
            return None
        (lab.folder / "running").touch()
        ck = lab.folder / "ck"
        (ck / "offsets").mkdir(parents=True, exist_ok=True)
        if not (ck / "metadata").exists():
            (ck / "metadata").write_text('{"id":"new"}')
        return "ann"

    vars(person)["asked"] = asked
    return person


def test_the_run_goes_on_when_it_is_confirmed_and_the_query_shows_itself(lab):
    here = lab(STOPS)
    plan = reset_of(here)
    here.person = starter(here, after=5)
    run = here.enqueue(plan)
    here.execute(run, plan)
    assert [word for word, _ in here.person.asked] == ["start"] * 5
    assert here.person.asked[0][1] == "Start q"
    said = "confirm the step on the Runs page of the console, or run: headgate confirm"
    assert f"Start q. Then {said}" in " ".join(here.notes)
    assert "ann confirmed: Start q" in here.notes


def test_a_confirmation_alone_is_not_believed(lab):
    here = lab(STOPS)
    plan = reset_of(here)
    here.person = lambda _word, _request: "ann"
    run = here.enqueue(plan)
    with pytest.raises(StepError, match="q is not running"):
        here.execute(run, plan)
    # What the run did stays: a resume asks again, an undo takes it back.
    assert list(here.folder.glob(".ck.before-*"))
    here.person = starter(here, after=1)
    here.execute(run, plan)
    assert (here.folder / "running").exists()


def test_nobody_for_a_day_fails_the_step_and_takes_nothing_back(lab):
    here = lab(STOPS)
    plan = reset_of(here)
    run = here.enqueue(plan)
    with pytest.raises(StepError, match="nobody confirmed the manual step within a day"):
        here.execute(run, plan)
    assert list(here.folder.glob(".ck.before-*"))


@pytest.mark.slow
def test_killed_at_any_point_it_is_asked_and_done_once(lab):
    for at in itertools.count():
        here = lab(SUSPENDED)
        old = tree_hash(here.folder / "ck")
        plan = reset_of(here)
        here.person = starter(here)
        run = here.enqueue(plan)
        crashed = here.crash(run, plan, at)
        here.execute(run, plan)
        assert (here.folder / "running").exists() and not (here.folder / "suspended").exists()
        undo = here.undo(run, plan)
        here.person = starter(here)
        here.execute(here.enqueue(undo, undo_of=run), undo, undo_of=run)
        assert tree_hash(here.folder / "ck") == old
        assert (here.folder / "running").exists() and not (here.folder / "suspended").exists()
        if not crashed:
            break
    assert at > 20


def test_a_cancel_reaches_a_run_that_waits_for_a_person(lab):
    here = lab(STOPS)
    plan = reset_of(here)
    run = here.enqueue(plan)
    applier = here.applier(run)
    asked = []
    applier.context.ask = lambda word, request: asked.append(word)

    def pause(_seconds):
        if len(asked) > 3:
            raise RunCancelledError("the run was cancelled")

    applier.context.pause = pause
    journal = RunJournal(here.store, run, plan, undo_of=None)
    executor = Executor(applier, journal)
    with pytest.raises(RunCancelledError):
        for position, step in enumerate(plan.steps):
            executor.apply(position, step)
    last = here.store.journal.entries(run)[-1]
    assert (last.event, last.position) == (Event.FAILED, len(plan.steps) - 1)


def test_who_stopped_it_before_the_run_is_told_and_not_waited_for(lab):
    here = lab(Commands(status=STATUS))
    (here.folder / "running").unlink()
    plan = reset_of(here)
    assert plan.steps[-1].describe().startswith("manual step after the run: start q")
    here.execute(here.enqueue(plan), plan)
    assert here.notes[-1] == "Manual step: start q."


def test_a_version_that_is_configured_first_stays_suspended_until_it_is(lab):
    here = lab(SUSPENDED)
    (here.folder / "suspended").touch()
    seen = []

    def person(_word, _request):
        seen.append((here.folder / "suspended").exists())
        (here.folder / "running").touch()
        return "ann"

    here.person = person
    step = ManualStep(
        pipeline="q",
        request="configure q",
        stop=SUSPENDED.stop,
        has_status=True,
        suspend=SUSPENDED.suspend,
        reenable=SUSPENDED.reenable,
        reenable_first=False,
    )
    assert step.describe().endswith(
        "re-enable restarts with `rm -f suspended`, and verify that q runs"
    )
    applier = here.applier("r")
    step.apply(applier, step.bind(applier))
    assert seen == [True] and not (here.folder / "suspended").exists()
    stop: Any
    (stop,) = step.rebind(SUSPENDED).undo({"head": None})
    assert (stop.suspend, stop.command) == (SUSPENDED.suspend, SUSPENDED.stop)


@pytest.mark.parametrize(
    ("waits", "words"), [(True, "manual step: "), (False, "manual step after the run: ")]
)
def test_local_state_is_waited_for_where_the_run_starts_the_application(lab, waits, words):
    here = lab()
    here.person = lambda word, request: "ann" if word == "clean" else None
    step = ClearLocalState(
        pipeline="q", command=None, instances=(), group="g", group_type="classic", waits=waits
    )
    applier = here.applier("r")
    step.apply(applier, {})
    assert step.describe().startswith(words)
    assert any("confirmed" in note for note in here.notes) is waits
    assert any("UNVERIFIED" in note for note in here.notes) is waits
