"""`headgate apply` asks a person before steps that can't be undone, and no script."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from headgate.cli.commands import apply
from headgate.cli.main import headgate
from headgate.errors import RefusedError
from headgate.reprocess.plan import Plan, dump_plan
from headgate.reprocess.steps.topics.delete_records import DeleteRecords

ASKED = "No undo is possible for 1 step: delete all records of bills. Start the run? [y/N]"
QUEUED = "it was queued"
DECLINED = "Nothing was changed. To start the run, apply the plan again and answer y, or pass --yes"


@pytest.fixture
def call(tmp_path, monkeypatch):
    """Call `headgate apply` for a plan that empties a topic, on a terminal or without one."""
    monkeypatch.chdir(tmp_path)

    def queue(*_, **__):
        raise RefusedError(QUEUED)

    monkeypatch.setattr(apply, "apply_plan", queue)

    def run(*options, backed_up=False, terminal=True, says=""):
        monkeypatch.setattr(apply, "is_interactive", lambda: terminal)
        topics = {"bills": {"id": "a", "partitions": 1}}
        step = DeleteRecords(topics=topics, backed_up=backed_up)
        plan = Plan(scenario="from-scratch", pipeline="billing", steps=(step,))
        Path("plan.json").write_text(dump_plan(plan))
        return CliRunner().invoke(headgate, ["apply", "plan.json", *options], input=says)

    return run


@pytest.mark.parametrize(("says", "error"), [("y\n", QUEUED), ("n\n", DECLINED), ("\n", DECLINED)])
def test_a_person_is_asked_once(call, says, error):
    ended = call(says=says)
    assert ASKED in ended.stderr and ASKED not in ended.stdout
    assert error in ended.stderr
    assert ended.exit_code == 3


@pytest.mark.parametrize(
    ("options", "how"), [(("--yes",), {}), ((), {"terminal": False}), ((), {"backed_up": True})]
)
def test_nobody_is_asked_with_yes_or_without_a_terminal_or_if_all_can_be_undone(call, options, how):
    ended = call(*options, **how)
    assert "undo" not in ended.output
    assert QUEUED in ended.stderr
