"""An undo isn't planned again with `headgate plan`."""

from types import SimpleNamespace

import pytest

from headgate.worker.run_journal import RunJournal, of_undo

CHANGED = "the stop command of q has changed since the plan was made. Run `headgate plan` again"


@pytest.mark.parametrize(
    ("undo_of", "command"), [(None, "`headgate plan` again"), ("r1", "`headgate undo r1` again")]
)
def test_an_error_names_the_command_that_makes_the_plan(undo_of, command):
    assert of_undo(CHANGED, undo_of).endswith(f"Run {command}")
    written = []
    store = SimpleNamespace(journal=SimpleNamespace(add=lambda *entry: written.append(entry)))
    plan = SimpleNamespace(undoes=())
    RunJournal(store, "r2", plan, undo_of=undo_of).failed(0, CHANGED, 5)
    assert written[0][-1]["error"].endswith(f"Run {command}")
