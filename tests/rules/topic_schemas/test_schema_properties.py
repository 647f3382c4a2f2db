"""What must hold of any schema, and agreement with Avro's own check in Python."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.model.topic_schema import (
    Direction,
    Effect,
    Mode,
    SchemaFormat,
    SchemaText,
    TopicSchema,
)
from headgate.parse.topic_schemas.read import read_schema
from headgate.rules.topic_schemas.compare import check, compare
from rules.topic_schemas import made

pytestmark = pytest.mark.slow

BACK, FORTH = Direction.BACKWARD, Direction.FORWARD
MAKERS = {
    SchemaFormat.AVRO: (made.avro, made.changed_avro, made.text),
    SchemaFormat.PROTOBUF: (made.protobuf, made.changed_protobuf, made.proto_text),
    SchemaFormat.JSON: (made.json_schema, made.changed_json, made.text),
}
randoms = st.randoms(use_true_random=False)
formats = st.sampled_from(list(SchemaFormat))


def read(text: str, form: SchemaFormat) -> TopicSchema:
    return read_schema(SchemaText(text, form))


def pair(rng: Random, form: SchemaFormat) -> tuple[TopicSchema, TopicSchema]:
    make, change, write = MAKERS[form]
    old = make(rng)
    return read(write(old), form), read(write(change(rng, old)), form)


def broken(before: TopicSchema, after: TopicSchema, direction: Direction) -> set[tuple[str, str]]:
    found = check(before, after, direction)
    return {(f.rule, f.path) for f in found if f.effect is Effect.INCOMPATIBLE}


@settings(max_examples=60, deadline=None)
@given(randoms, formats)
def test_a_schema_is_compatible_with_itself(rng, form):
    schema, _ = pair(rng, form)
    assert compare([schema], schema, Mode.FULL_TRANSITIVE).findings == ()


@settings(max_examples=60, deadline=None)
@given(randoms, formats)
def test_backward_of_two_is_forward_of_them_the_other_way(rng, form):
    old, new = pair(rng, form)
    assert broken(old, new, BACK) == broken(new, old, FORTH)


@settings(max_examples=60, deadline=None)
@given(randoms, formats)
def test_adding_an_optional_field_is_backward(rng, form):
    make, _, write = MAKERS[form]
    old = make(rng)
    match form:
        case SchemaFormat.AVRO:
            more = {"name": "extra", "type": ["null", "string"], "default": None}
            new = {**old, "fields": [*old["fields"], more]}
        case SchemaFormat.PROTOBUF:
            new = {**old, 99: ("", "string", "extra")}
        case _:
            # Only a closed model has room for it: an open one may hold it already.
            old["additionalProperties"] = False
            new = {**old, "properties": {**old["properties"], "extra": {"type": "string"}}}
    assert not broken(read(write(old), form), read(write(new), form), BACK)


@settings(max_examples=120, deadline=None)
@given(randoms)
def test_the_answer_on_avro_is_that_of_avros_own_check(rng):
    from avro.compatibility import ReaderWriterCompatibilityChecker, SchemaCompatibilityType

    old, new = pair(rng, SchemaFormat.AVRO)
    theirs = ReaderWriterCompatibilityChecker().get_compatibility(new.tree, old.tree)
    accepts = theirs.compatibility is SchemaCompatibilityType.compatible
    assert accepts is not bool(broken(old, new, BACK))


@pytest.mark.parametrize("form", list(SchemaFormat))
def test_transitive_modes_ask_every_version_and_the_others_the_newest(form):
    make, _, write = MAKERS[form]
    versions = [read(write(make(Random(n))), form) for n in range(6)]
    old = versions[:5]
    newest = compare(old[-1:], versions[5], Mode.FULL).findings
    assert compare(old, versions[5], Mode.FULL).findings == newest
    every = compare(old, versions[5], Mode.FULL_TRANSITIVE).findings
    assert len(every) > len(newest) and set(newest) <= set(every)
