"""docs/reference/configuration.md: its tables are current, and the decoder does what they say."""

import importlib.util
import re
from dataclasses import asdict
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient

from headgate.errors import RegistryError
from headgate.parse.config.headgate_toml import parse
from headgate.parse.config.keys import KEYS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "configuration.md").read_text(encoding="utf-8")
HTTP = "[pipeline.commands.NAME]"
# What is around a table: the tables above it, and keys of its own that make it complete.
PIPELINE = '[[pipeline]]\nname = "a"\nengine = "kafka-streams"\ngroup = "a"\n'
CALL = '[pipeline.commands.stop]\nurl = "http://h"\n'
CODES = '{ 404 = "stopped" }'
ABOVE = {
    "[pipeline.commands]": PIPELINE,
    HTTP: PIPELINE,
    "[pipeline.commands.status]": PIPELINE,
    "[pipeline.commands.NAME.find]": PIPELINE + CALL,
    "[pipeline.commands.NAME.wait]": PIPELINE + CALL,
}
COMPLETE = {
    "[[pipeline]]": {"name": '"a"', "engine": '"spark"', "checkpoint": '"/ck"'},
    HTTP: {"url": '"http://h"'},
    "[pipeline.commands.status]": {
        "url": '"http://h"',
        "path": '"a"',
        "codes": CODES,
        "stopped": '["c"]',
    },
    "[pipeline.commands.NAME.find]": {"url": '"http://h"', "path": '"a"'},
    "[pipeline.commands.NAME.wait]": {"url": '"http://h"', "path": '"a"', "done": '["x"]'},
    "[restore_points]": {"every": '"1h"'},
    "[[accept]]": {"rule": '"AGG001"', "reason": '"r"', "until": "2026-12-31"},
    "[jdbc.NAME]": {"url": '"jdbc:postgresql://h/d"'},
    "[schema_registry]": {"url": '"http://h"'},
}
# A right value of each type; and of a key that only takes certain values of it.
RIGHT = {
    "string": '"b"',
    "array of strings": '["b"]',
    "boolean": "true",
    "date": "2027-01-01",
    "table": '{ b = "c" }',
    "duration": '"3 hours"',
    "size": '"5 GB"',
    "string, number or boolean": '"b"',
    "string or table": '"b"',
    "integer or array of integers": "[201]",
    "number of seconds": "7",
    "`false` or table": '{ every = "2h" }',
}
OWN = {
    "engine": '"consumer-group"\ngroup = "b"',
    "entry_point": '"b:c"',
    "effects": '"external"',
    "method": '"PUT"',
    "url": '"https://b"',
    "find": '{ url = "http://b", path = "b" }',
    "wait": '{ url = "http://b", path = "b", done = ["x"] }',
    "absent": '"stopped"',
    "codes": '{ 404 = "stopped", 410 = "stopped" }',
    "commands": '{ stop = "b" }',
    "rules_url": '"https://b"',
    "config": '{ "b" = "c" }',
    "suspend": '"b"\nreenable = "b"',
    "pause": '"b"\nresume = "b"',
    "deploy": '"b"\nrollback = "b"',
}
OWN_OF = {
    ("[store]", "url"): '"sqlite:///b.db"',
    ("[jdbc.NAME]", "url"): '"jdbc:b"',
}
# Keys of an application, which a Spark query doesn't have.
STREAMS = {"group", "jar", "old_jar", "properties", "records"}
# Values of all other types.
WRONG = {
    "string": ("3", "[]", "true", "{}", "2026-01-01", '""'),
    "array of strings": ("3", '"b"', "true", "{}", "[3]", '[""]'),
    "boolean": ("3", '"true"', "[]", "{}"),
    "date": ("3", '"soon"', "[]", "true"),
    "table": ("3", '"b"', "true", "[]"),
    "duration": ("3", '"soon"', "[]", "true"),
    "size": ("3", '"much"', "[]", "true"),
    "string, number or boolean": ("[]", "2026-01-01"),
    "string or table": ("3", "[]", "true"),
    "integer or array of integers": ('"200"', '["200"]', "true", "9.5"),
    "number of seconds": ('"3"', "true", "[]", "0"),
    "`false` or table": ("true", "3", '"1h"', "[]"),
}
ROWS = [
    pytest.param(heading, key, id=f"{heading} {key.name}")
    for heading, keys in KEYS.items()
    for key in keys
]


def text(heading, without="", **more):
    """Return a file with a complete table of this heading; `more` are values by key."""
    base = COMPLETE.get(heading, {})
    if heading == "[[pipeline]]" and STREAMS & {without, *more}:
        base = {"name": '"a"', "engine": '"kafka-streams"', "group": '"a"'}
    values = {key: value for key, value in {**base, **more}.items() if key != without}
    shown = heading.replace("NAME", "stop" if "commands" in heading else "shop")
    lines = "\n".join(f"{key} = {value}" for key, value in values.items())
    return f"{ABOVE.get(heading, '')}{shown}\n{lines}\n"


def read(*args, **more):
    decoded = asdict(parse(text(*args, **more), path="/team/headgate.toml", env={}))
    # Lines, and what plans show of a call: a hash of all that it has.
    calls = any(".calls." in name for name, _ in flat(decoded))
    derived = re.compile(r"\.line$|\.commands\.\w+$" if calls else r"\.line$")
    return {name: value for name, value in flat(decoded) if not derived.search(name)}


def flat(value, name=""):
    """Yield each leaf of what was decoded with its path; an empty container is a leaf."""
    items = value.items() if isinstance(value, dict) else ()
    items = enumerate(value) if isinstance(value, (tuple, list)) else items
    if isinstance(value, (dict, tuple, list)) and value:
        for key, inner in items:
            yield from flat(inner, f"{name}.{key}")
    else:
        yield name, value


def right(heading, key):
    return OWN_OF.get((heading, key.name)) or OWN.get(key.name) or RIGHT[key.kind]


def load_script():
    path = ROOT / "scripts" / "configuration_page.py"
    spec = importlib.util.spec_from_file_location("configuration_page", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tables_are_current():
    assert load_script().page(PAGE) == PAGE, "run `make docs`"


def test_a_table_without_its_place_on_the_page_is_an_error():
    with pytest.raises(ValueError, match=r"differ in \['\[store\]'\]"):
        load_script().page(PAGE.replace("<!-- keys of [store] -->", ""))


def test_the_example_is_read():
    (example,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    registry = parse(example, path="/team/headgate.toml", env={"KAFKA_PASSWORD": "x"})
    assert [p.name for p in registry.pipelines] == ["orders-by-city", "billing"]
    # The client takes the settings, before it connects: SASL needs more than a password.
    AdminClient({**registry.kafka, "bootstrap.servers": "127.0.0.1:1"})


@pytest.mark.parametrize(("heading", "key"), ROWS)
def test_a_value_of_the_type_has_an_effect(heading, key):
    before = read(heading, without="" if key.needed else key.name)
    assert before != read(heading, **{key.name: right(heading, key)})


@pytest.mark.parametrize(("heading", "key"), ROWS)
def test_a_value_of_another_type_is_an_error_at_its_line(heading, key):
    for value in WRONG[key.kind]:
        more = {key.name: value}
        with pytest.raises(RegistryError) as caught:
            read(heading, **more)
        lines = text(heading, **more).splitlines()
        assert lines[caught.value.line - 1].startswith(f"{key.name} = "), (value, caught.value)


@pytest.mark.parametrize(("heading", "key"), ROWS)
def test_a_key_is_required_or_has_its_default(heading, key):
    if key.needed:
        # A table without any key is as if it were not there.
        other = next((k for k in KEYS[heading] if k is not key), key)
        with pytest.raises(RegistryError, match=rf"\b{key.name}\b"):
            read(heading, without=key.name, **{other.name: right(heading, other)})
        return
    missing = read(heading, without=key.name)
    if key.default:
        assert read(heading, **{key.name: key.default}) == missing
        return
    given = read(heading, **{key.name: right(heading, key)})
    changed = {name: missing[name] for name in missing if given.get(name, ...) != missing[name]}
    assert all(not value for value in changed.values()), changed
