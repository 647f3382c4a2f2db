"""A real registry is read, and our answer on new versions is its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random

import pytest
from confluent_kafka.schema_registry import Schema, SchemaReference, SchemaRegistryClient

from headgate.cli.main import headgate
from headgate.errors import NotFoundError
from headgate.gateway.schema_registry.client import SchemaRegistry
from headgate.model.output_columns import Parsed
from headgate.model.topic_schema import Direction, Effect, Mode, SchemaFormat, SchemaText
from headgate.model.version import Engine, Source, Version
from headgate.parse.evidence.version_file import dump
from headgate.parse.topic_schemas.read import read_schema
from headgate.rules.topic_schemas.compare import check
from headgate.usecases.setup.diagnose import State, diagnose
from rules.topic_schemas import made

PAIRS = 40
ITEM = '{"type": "record", "name": "Item", "fields": [{"name": "price", "type": "int"}]}'
ORDER = '{"type": "record", "name": "Order", "fields": [{"name": "item", "type": "Item"}]}'


@pytest.fixture(scope="module")
def client(registry_url: str) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": registry_url}) as opened:
        yield opened


@pytest.mark.parametrize(
    ("form", "make", "change", "write"),
    [
        (SchemaFormat.AVRO, made.avro, made.changed_avro, made.text),
        (SchemaFormat.JSON, made.json_schema, made.changed_json, made.text),
        pytest.param(
            *(SchemaFormat.PROTOBUF, made.protobuf, made.changed_protobuf, made.proto_text),
            marks=pytest.mark.long,
        ),
    ],
)
def test_the_answer_on_changed_schemas_is_the_registrys(client, form, make, change, write):
    """Apicurio's Protobuf rules are its own and refuse more: there it may only refuse more."""
    accepted = 0
    for number in range(PAIRS):
        rng = Random(number)
        old = make(rng)
        before, after = write(old), write(change(rng, old))
        subject = f"{form}-{number}-value"
        client.register_schema(subject, Schema(before, form.value))
        for direction in Direction:
            client.set_compatibility(subject, direction.value.upper())
            theirs = client.test_compatibility(subject, Schema(after, form.value))
            old, new = (read_schema(SchemaText(t, form)) for t in (before, after))
            found = check(old, new, direction)
            ours = not any(f.effect is Effect.INCOMPATIBLE for f in found)
            assert theirs <= ours, (before, after, direction, found)
            assert theirs == ours or form is SchemaFormat.PROTOBUF, (before, after, direction)
            accepted += theirs
    assert PAIRS / 4 < accepted < 2 * PAIRS


def test_versions_references_and_level_are_read(registry_url, client):
    client.register_schema("item", Schema(ITEM, "AVRO"))
    reference = SchemaReference("Item", "item", 1)
    client.register_schema("orders-value", Schema(ORDER, "AVRO", [reference]))
    client.set_compatibility("orders-value", "FULL_TRANSITIVE")
    registry = SchemaRegistry(registry_url, {})
    assert {"item", "orders-value"} <= set(registry.subjects())
    assert registry.mode("orders-value") is Mode.FULL_TRANSITIVE
    assert registry.mode("item") is Mode.NONE
    (version,) = registry.versions("orders-value")
    assert version.version == 1
    assert [f.path for f in read_schema(version.text).fields] == ["item", "item.price"]
    with pytest.raises(NotFoundError, match="does not have subject nothing"):
        registry.versions("nothing")
    registry.close()


def test_the_command_checks_against_every_registered_version(
    registry_url, client, tmp_path, monkeypatch, capsys
):
    def customer(*fields: tuple[str, str]) -> str:
        listed = [{"name": n, "type": t, "default": d} for n, t, d in map(_field, fields)]
        return json.dumps({"type": "record", "name": "Customer", "fields": listed})

    for fields in ((("a", "int"), ("b", "string")), (("a", "int"),)):
        client.register_schema("customers-value", Schema(customer(*fields), "AVRO"))
    client.set_compatibility("customers-value", "BACKWARD_TRANSITIVE")
    (tmp_path / "new.avsc").write_text(customer(("a", "int"), ("b", "long")))
    (tmp_path / "headgate.toml").write_text(f'[schema_registry]\nurl = "{registry_url}"\n')
    monkeypatch.chdir(tmp_path)
    code, said = run(capsys, "schemas", "check", "customers", "--new", "new.avsc")
    assert code == 1
    assert said["mode"] == "backward_transitive" and said["registry_accepts"] is False
    (finding,) = said["findings"]
    assert (finding["rule"], finding["path"]) == ("SCH101", "b")
    assert finding["against"] == "customers-value version 1"
    code, said = run(
        capsys, "schemas", "check", "customers", "--new", "new.avsc", "--mode", "backward"
    )
    assert code == 0 and not said["findings"]
    code, said = run(capsys, "schemas", "show", "customers")
    assert code == 0
    assert (said["versions"], said["compatibility"]) == ([1, 2], "backward_transitive")
    assert [f["path"] for f in said["fields"]] == ["a"]


CUSTOMER = (
    '{"type": "record", "name": "Customer", "fields": ['
    '{"name": "id", "type": "long"}, {"name": "mail", "type": "string"}]}'
)
VISITOR = (
    '{"type": "record", "name": "Customer", "fields": ['
    '{"name": "id", "type": "long"}, {"name": "visits", "type": "double"}]}'
)


def test_a_comparison_asks_what_the_topic_holds(
    registry_url, client, tmp_path, monkeypatch, capsys
):
    for text in (CUSTOMER, VISITOR):
        client.register_schema("people-value", Schema(text, "AVRO"))
    accept = '[[accept]]\nrule = "RDS003"\nreason = "all read"\nuntil = 2999-01-01\n'
    (tmp_path / "headgate.toml").write_text(f'{accept}[schema_registry]\nurl = "{registry_url}"\n')
    for name, text in (("first", CUSTOMER), ("second", VISITOR)):
        parsed = Parsed(function="from_avro", columns=("s0.value",), declared=text)
        (tmp_path / name).write_bytes(dump(reads(parsed)))
    monkeypatch.chdir(tmp_path)
    code, said = run(capsys, "diff", "--before", "first", "--after", "second")
    (finding,) = said["findings"]
    assert (code, finding["rule"], finding["outcome"]) == (0, "RDS003", "unknown")
    assert finding["accepted"]["reason"] == "all read"
    assert finding["question"] == (
        "Has the query already processed all records of topic people that don't fit the new "
        "version's schema (compared with version 1 of people-value)? Or has Kafka deleted "
        "these records?"
    )
    assert "mail is written as string and read as double" in finding["why"]
    code, said = run(capsys, "diff", "--before", "second", "--after", "first")
    (finding,) = said["findings"]
    assert (code, finding["rule"], finding["outcome"]) == (1, "RDS002", "silently_wrong")
    assert "The current schema of topic people is version 2 of people-value" in finding["why"]


def reads(parsed: Parsed) -> Version:
    return Version(
        engine=Engine.SPARK,
        engine_version="4.2.0",
        sources=(Source(position=0, format="kafka", topics=("people",), node="in"),),
        stateful=(),
        parsed=(parsed,),
    )


def test_the_doctor_tells_of_the_registry_and_of_declared_topics(registry_url, client, tmp_path):
    client.register_schema("visits-value", Schema(VISITOR, "AVRO"))
    client.set_compatibility("visits-value", "FULL")
    config = tmp_path / "headgate.toml"
    named = '[topics.visits]\nschema = "v.avsc"\n[topics.nowhere]\nschema = "n.avsc"\n'
    config.write_text(f'[schema_registry]\nurl = "{registry_url}"\n{named}')
    found = {c.name: c for c in diagnose(str(config))}
    registry = found["schema registry"]
    assert registry.state is State.NOTE and registry.message.endswith("compatibility level none")
    assert (found["schema of visits"].state, found["schema of visits"].message) == (
        State.OK,
        "compatibility level of the subject: full",
    )
    assert found["schema of nowhere"].state is State.NOTE


def _field(given: tuple[str, str]) -> tuple[str, str, object]:
    return *given, "" if given[1] == "string" else 0


def run(capsys, *arguments: str):
    with pytest.raises(SystemExit) as ended:
        headgate.main([*arguments, "--format", "json"], prog_name="headgate")
    return ended.value.code, json.loads(capsys.readouterr().out)
