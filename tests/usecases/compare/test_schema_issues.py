"""What consumers of an output topic can't read, by declared schemas and by what a query writes."""

import json

import pytest

from headgate.errors import SchemaError
from headgate.gateway.adapters.live import LiveInspector
from headgate.model.output_columns import Payload
from headgate.model.registered_pipelines import DeclaredTopic, Registry
from headgate.model.state_schema import Field, Schema
from headgate.model.version import Sink
from headgate.usecases.compare.connect_evidence import with_judge
from headgate.usecases.context import Context

LACKS = "The writer schema lacks this field, and the reader schema has no default for it"


@pytest.fixture
def issues(tmp_path):
    """Return the issues, if headgate.toml declares these schemas, by topic."""

    def ask(schemas, *asked):
        topics = []
        for name, text in schemas.items():
            path = tmp_path / f"{name}.schema"
            path.write_text(text)
            topics.append(DeclaredTopic(name=name, schema=str(path)))
        registry = Registry(path=str(tmp_path / "headgate.toml"), topics=tuple(topics))
        context = Context(registry=registry, home=tmp_path, store_url="sqlite://")
        inspector = with_judge(LiveInspector(registry, tmp_path), context)
        return inspector.evidence.schema_issues("bills", *asked)

    return ask


def avro(**fields):
    named = [{"name": name, "type": kind} for name, kind in fields.items()]
    return json.dumps({"type": "record", "name": "B", "fields": named})


def of_json(required=(), more=True, **kinds):
    given = {name: {"type": kind} for name, kind in kinds.items()}
    return json.dumps(
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": given,
            "required": list(required),
            "additionalProperties": more,
        }
    )


def query(writer="to_json", declared=None, **kinds):
    """Return the sink of a query that writes these fields; None: the evidence shows none."""
    schema = Schema(tuple(Field(n, k) for n, k in kinds.items())) if kinds else None
    payload = Payload(column="value", writer=writer, schema=schema, declared=declared)
    return Sink(format="kafka", target="bills", payloads=(payload,))


BILLS = avro(id="string", n="int")


def test_a_field_that_consumers_need_and_one_that_is_new(issues):
    def shadow(**fields):
        return issues({"bills": BILLS, "bills-shadow": avro(**fields)}, "bills-shadow")

    assert shadow(id="string", n="int", more="int") == ()
    assert shadow(id="string") == (f"n (SCH102): {LACKS}",)
    (other,) = shadow(id="string", n="string")
    assert other.startswith("n (SCH1")


def test_nothing_is_said_of_a_schema_that_nobody_declares(issues):
    assert issues({"bills": BILLS}, "bills-shadow") is None
    assert issues({"bills-shadow": BILLS}, "bills-shadow") is None


def test_a_schema_that_can_not_be_read(issues):
    with pytest.raises(SchemaError):
        issues({"bills": BILLS, "bills-shadow": "{"}, "bills-shadow")
    with pytest.raises(SchemaError):
        issues({"bills": "{"}, query(id="string"), query(id="string"))


CITY = {"name": "city", "type": "string", "nullable": True, "metadata": {}}
AT = {"type": "struct", "fields": [CITY]}
OLD = query(id="string", n="integer", at=AT)


@pytest.mark.parametrize(
    ("new", "said"),
    [
        (OLD, ()),
        (query(id="?", n="long", at=AT, more="date"), ()),
        (query(id="string", n="integer"), ("field at is missing",)),
        (
            query(id="string", n="string", at={"type": "struct", "fields": []}),
            ("field n changes from integer to string", "field at.city is missing"),
        ),
        (query("to_avro", id="string"), ("field value changes from to_json to to_avro",)),
        (query(), None),
        (Sink(format="kafka"), None),
    ],
)
def test_without_a_declared_schema_consumers_have_the_running_versions_fields(issues, new, said):
    assert issues({}, new, OLD) == said


def test_nothing_is_known_of_what_a_first_version_writes(issues):
    assert issues({}, query(id="string"), None) is None
    assert issues({}, query(id="string"), query()) is None
    assert issues({"bills": BILLS}, query(id="string"), None) is None


def test_a_json_schema_decides_what_a_query_may_write(issues):
    closed = of_json(["id", "n"], more=False, id="string", n="integer", note="string")
    old = query(id="string", n="integer")

    def declared(new, old=old):
        return issues({"bills": closed}, new, old)

    assert declared(old) == declared(query(id="string", n="long", note="string")) == ()
    (gone,) = declared(query(id="string"))
    assert gone.startswith("n (SCH302): ")
    (extra,) = declared(query(id="string", n="integer", by="string"))
    assert extra.startswith("by (SCH3")
    (kind,) = declared(query(id="string", n="double"))
    assert kind.startswith("n (SCH301): ")
    # It is declared, whatever the running version writes.
    (gone,) = declared(query(id="string"), None)
    assert gone.startswith("n (SCH302): ")


def test_what_the_running_version_does_wrong_already_is_no_change(issues):
    declared = {"bills": of_json(["id", "n"], id="string", n="integer", big="integer")}
    old = query(id="string", big="decimal(20,2)")
    assert issues(declared, old, None) != ()
    assert issues(declared, old, old) == ()
    # The field isn't declared, but the running version writes it.
    assert issues(declared, query(id="string"), old) == ("field big is missing",)


def test_an_avro_schema_of_the_query_is_compared_with_the_topics(issues):
    def new(**fields):
        return query("to_avro", avro(**fields), **fields)

    old = new(id="string", n="int")
    assert issues({"bills": BILLS}, new(id="string", n="int", more="int"), old) == ()
    assert issues({"bills": BILLS}, new(id="string"), old) == (f"n (SCH102): {LACKS}",)
