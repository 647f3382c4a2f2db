"""docs/reference/configuration.md: its example is read, and it names every key."""

import re
from pathlib import Path

from headgate.parse.config.headgate_toml import FILE_SYSTEMS, parse
from headgate.parse.config.pipeline_commands import WORDS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "configuration.md").read_text(encoding="utf-8")
PARSER = ROOT / "lib" / "headgate" / "parse" / "config" / "headgate_toml.py"
# What `allow` names: the keys of each table.
ALLOWED = re.findall(r"\.allow\((.*?)\)\n", PARSER.read_text(encoding="utf-8"), re.DOTALL)
KEYS = {key for keys in ALLOWED for key in re.findall(r'"(\w+)"', keys)}


def test_the_example_is_read():
    (text,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    registry = parse(text, path="/team/headgate.toml", env={"KAFKA_PASSWORD": "x"})
    assert [p.name for p in registry.pipelines] == ["orders-by-city", "billing"]


def test_every_key_is_named():
    keys = {*KEYS, *WORDS, *FILE_SYSTEMS, *sum(FILE_SYSTEMS.values(), ())}
    assert [key for key in sorted(keys) if not re.search(rf"\b{key}\b", PAGE)] == []
