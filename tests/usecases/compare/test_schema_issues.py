"""What consumers of an output topic can't read, by the schemas that headgate.toml declares."""

import json

import pytest

from headgate.errors import SchemaError
from headgate.gateway.adapters.live import LiveInspector
from headgate.model.registered_pipelines import DeclaredTopic, Registry
from headgate.usecases.compare.connect_evidence import with_judge
from headgate.usecases.context import Context


@pytest.fixture
def flaws(tmp_path):
    """Ask for the flaws of these fields beside `id` and `n`; None: no schema is declared."""

    def ask(fields, text=None):
        topics = []
        for name, given in (("bills", [("id", "string"), ("n", "int")]), ("bills-shadow", fields)):
            if given is None:
                continue
            schema = {"type": "record", "name": "B", "fields": [_field(*f) for f in given]}
            path = tmp_path / f"{name}.avsc"
            path.write_text(json.dumps(schema) if text is None else text)
            topics.append(DeclaredTopic(name=name, schema=str(path)))
        registry = Registry(path=str(tmp_path / "headgate.toml"), topics=tuple(topics))
        context = Context(registry=registry, home=tmp_path, store_url="sqlite://")
        inspector = with_judge(LiveInspector(registry, tmp_path), context)
        return inspector.evidence.schema_issues("bills", "bills-shadow")

    return ask


def _field(name, kind):
    return {"name": name, "type": kind}


def test_a_field_that_consumers_need_and_one_that_is_new(flaws):
    assert flaws([("id", "string"), ("n", "int"), ("more", "int")]) == ()
    (gone,) = flaws([("id", "string")])
    said = "The writer schema lacks this field, and the reader schema has no default for it"
    assert gone == f"n (SCH102): {said}"
    (other,) = flaws([("id", "string"), ("n", "string")])
    assert other.startswith("n (SCH1")


def test_nothing_is_said_of_a_schema_that_nobody_declares(flaws):
    assert flaws(None) is None


def test_a_schema_that_can_not_be_read(flaws):
    with pytest.raises(SchemaError):
        flaws([("id", "string")], text="{")
