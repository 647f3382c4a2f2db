"""A setting that says where the state is: whether there is other state now is asked."""

from dataclasses import replace

from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine
from headgate.rules.compare.gated import PipelineChange
from headgate.usecases.gate.find_changes import FoundChange
from headgate.usecases.gate.gate import _setting_questions

OLD = Pipeline(name="orders", engine=Engine.SPARK, checkpoint="/a")


def asked(checkpoint: str | None) -> list[str]:
    return [
        *_setting_questions(
            FoundChange(
                pipeline=replace(OLD, checkpoint=checkpoint),
                change=PipelineChange.CHANGED,
                before=OLD,
                settings=("checkpoint",),
            )
        )
    ]


def test_another_checkpoint_is_asked_about():
    assert [q[:57] for q in asked("/b")] == [
        "headgate.toml changes the checkpoint from /a to /b. Does "
    ]


def test_a_setting_that_is_gone_names_no_new_checkpoint():
    (question,) = asked(None)
    assert question.startswith("headgate.toml no longer has `checkpoint` (in the base: /a). Does")
    assert "new checkpoint" not in question
