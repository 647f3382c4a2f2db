"""Subjects go with the internal topics that they are named by, and come back."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka.schema_registry import Schema, SchemaReference, SchemaRegistryClient

from headgate.errors import StalePlanError
from headgate.gateway.adapters.live import LiveApplier
from headgate.gateway.adapters.run_context import RunContext
from headgate.model.registered_pipelines import Registry
from headgate.reprocess.steps import load_step
from headgate.reprocess.steps.topics.delete_subjects import DeleteSubjects, RestoreSubjects, ids_of

ITEM = '{"type": "record", "name": "Item", "fields": [{"name": "price", "type": "int"}]}'
ONE = '{"type": "record", "name": "Count", "fields": [{"name": "n", "type": "int"}]}'
TWO = '{"type": "record", "name": "Count", "fields": [{"name": "item", "type": "Item"}]}'
NAME = "app-store-changelog-value"


@pytest.fixture
def applier(registry_url: str, tmp_path: Path) -> LiveApplier:
    with SchemaRegistryClient({"url": registry_url}) as client:
        client.register_schema("item", Schema(ITEM))
        for text, references in ((ONE, []), (TWO, [SchemaReference("Item", "item", 1)])):
            client.register_schema(NAME, Schema(text, "AVRO", references))
    registry = Registry(schema_registry_url=registry_url)
    return LiveApplier(RunContext(registry=registry, home=tmp_path, run="r"))


def test_a_subject_goes_and_comes_back_with_all_its_schemas(applier):
    before = applier.schemas.subjects([NAME, "nobody-value"])
    assert list(before) == [NAME] and [v.text for v in before[NAME]] == [ONE, TWO]
    assert before[NAME][1].references == (("Item", "item", 1),)
    step = DeleteSubjects(subjects=ids_of(applier, [NAME]))
    assert load_step(step.action, step.details()) == step
    step.check(applier)
    was = step.bind(applier)
    # Killed after the effect: what is gone is not deleted again, nor is it a reason to refuse.
    for _ in range(2):
        step.apply(applier, was)
        step.check(applier, again=True)
        step.verify(applier, was)
    assert step.is_applied(applier, was) and applier.schemas.subjects([NAME]) == {}
    assert list(applier.schemas.subjects(["item"])) == ["item"]

    (back,) = step.undo(was)
    assert isinstance(back, RestoreSubjects) and load_step(back.action, back.details()) == back
    for _ in range(2):
        back.apply(applier, {})
        back.verify(applier, {})
    now = applier.schemas.subjects([NAME])[NAME]
    assert [(v.type, v.text, v.references) for v in now] == [
        (v.type, v.text, v.references) for v in before[NAME]
    ]


# Neither can read what the other wrote: the level that the subject got later must come back last.
# (Apicurio takes a level NONE of a subject's own for none, so the registry's own is NONE here.)
LONG = '{"type": "record", "name": "Count", "fields": [{"name": "n", "type": "string"}]}'
OTHER = "app-other-changelog-value"


@pytest.mark.long
def test_levels_of_their_own_come_back_and_incompatible_versions_too(applier, registry_url):
    with SchemaRegistryClient({"url": registry_url}) as client:
        client.register_schema(OTHER, Schema(ONE))
        client.register_schema(OTHER, Schema(LONG))
        client.set_compatibility(OTHER, "FULL_TRANSITIVE")
        step = DeleteSubjects(subjects=ids_of(applier, [OTHER, NAME]))
        was = step.bind(applier)
        assert was["levels"][OTHER] == "FULL_TRANSITIVE"
        step.apply(applier, was)
        (back,) = step.undo(was)
        assert load_step(back.action, back.details()) == back
        assert not any("level" in risk for risk in back.risks(applier))
        for _ in range(2):
            back.apply(applier, {})
            back.verify(applier, {})
            assert back.is_applied(applier, {})
        assert dict(applier.schemas.subject_levels([OTHER, NAME])) == was["levels"]
        assert [v.text for v in applier.schemas.subjects([OTHER])[OTHER]] == [ONE, LONG]


def test_a_subject_that_got_another_version_is_left_alone(applier):
    step = DeleteSubjects(subjects={NAME: [1]})
    with pytest.raises(StalePlanError, match="changed since the plan was made"):
        step.check(applier)


def test_without_a_registry_there_are_no_subjects(tmp_path):
    applier = LiveApplier(RunContext(registry=Registry(), home=tmp_path, run="r"))
    assert applier.schemas.subjects([NAME]) == {}
