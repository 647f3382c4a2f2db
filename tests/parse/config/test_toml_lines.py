"""The line index over TOML: every way to write a key, and random documents."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.parse.config.toml_lines import TomlLines

TEXT = '''# [pipeline] = not a table
title = "a # no comment [x]"

[ kafka . "config" ]   # spaced header
"security.protocol" = 'SASL_SSL'
sasl.username = "${USER}"
quoted."a.b".c = """
[not.a.table]
key = 1 \\""" still
""""
literal = \'\'\'
[[pipeline]]
it''s\'\'\'
after = -0.1e+5

[[pipeline]]
name = "one" # ]
topics = [
  "a", # first, with [ and "
  # nothing here
  [ { b = 1, c.d = [2,
      3] }, ],

  1979-05-27 07:32:00, # a date
]
inline = { x = "}", y = [ "]" ], "z z" = {} }
[pipeline.commands]
stop = "a = b"
[[pipeline.deep]]
n = 1
[[pipeline.deep]]
n = 2
  [pipeline.deep.more]
  o = true
[[pipeline]]

"na\\u006de" = "two"
[pipeline.commands]
start = ""
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("title",), 2),
        (("kafka",), 4),
        (("kafka", "config"), 4),
        (("kafka", "config", "security.protocol"), 5),
        (("kafka", "config", "sasl", "username"), 6),
        (("kafka", "config", "quoted", "a.b", "c"), 7),
        (("kafka", "config", "literal"), 11),
        (("kafka", "config", "after"), 14),
        (("pipeline",), 16),
        (("pipeline", 0), 16),
        (("pipeline", 0, "name"), 17),
        (("pipeline", 0, "topics", 0), 19),
        (("pipeline", 0, "topics", 1), 21),
        (("pipeline", 0, "topics", 1, 0, "c", "d", 1), 22),
        (("pipeline", 0, "topics", 2), 24),
        (("pipeline", 0, "inline", "z z"), 26),
        (("pipeline", 0, "commands"), 27),
        (("pipeline", 0, "commands", "stop"), 28),
        (("pipeline", 0, "deep", 1), 31),
        (("pipeline", 0, "deep", 1, "n"), 32),
        (("pipeline", 0, "deep", 1, "more", "o"), 34),
        (("pipeline", 1), 35),
        (("pipeline", 1, "name"), 37),
        (("pipeline", 1, "commands", "start"), 39),
        (("pipeline", 1, "missing"), 35),
        (("missing",), 1),
    ],
)
def test_every_way_to_write_a_key(path, line):
    tomllib.loads(TEXT)
    assert TomlLines(TEXT).line(*path) == line
    assert TomlLines(TEXT.replace("\n", "\r\n")).line(*path) == line


BARE = st.text("ab1_-", min_size=1, max_size=3)
ODD = st.text("a .\"#[]={},'\\\té", max_size=4)
BLANK = st.sampled_from(["", "\n", '# [x] = "\n', "\n\n  # it's\n"])


def basic(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t") + '"'


SCALAR = st.one_of(
    st.sampled_from(["1", "-2.5e3", "true", "1979-05-27", "inf", '""', "''", "0x1F"]),
    ODD.map(basic),
    ODD.map(lambda t: f'"""{basic(t)[1:-1]}\n[a]\nb = 1"""'),
    ODD.filter(lambda t: "'" not in t).map(lambda t: f"'''\n{t}\n'x''''"),
)
VALUE = st.recursive(
    SCALAR,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.one_of(BARE, ODD), inner, max_size=3),
    ),
    max_leaves=6,
)
TABLE = st.dictionaries(st.one_of(BARE, ODD), VALUE, max_size=4)
DOCUMENT = st.dictionaries(st.one_of(BARE, ODD), st.lists(TABLE, min_size=1, max_size=3))


class Writer:
    """Writes TOML with random blanks, and remembers the line of each path."""

    def __init__(self, draw):
        self.draw, self.text, self.lines = draw, "", {}

    def note(self, path):
        self.lines[path] = self.text.count("\n") + 1

    def key(self, key):
        plain = key.isascii() and key.replace("_", "").replace("-", "").isalnum()
        return key if plain and self.draw(st.booleans()) else basic(key)

    def value(self, value, path, inline=False):
        if isinstance(value, str):
            self.text += value if not inline or "\n" not in value else '"x"'
        elif isinstance(value, list):
            self.text += "["
            for index, item in enumerate(value):
                self.text += " " if inline else self.draw(BLANK)
                self.note((*path, index))
                self.value(item, (*path, index), inline)
                self.text += ","
            self.text += "]"
        else:
            self.text += "{"
            for index, (key, item) in enumerate(value.items()):
                self.text += " , " if index else " "
                self.pair(key, item, path, inline=True)
            self.text += "}"

    def pair(self, key, value, path, inline=False):
        self.note((*path, key))
        self.text += f"{self.key(key)}{self.draw(st.sampled_from([' = ', '=']))}"
        self.value(value, (*path, key), inline)

    def document(self, tables):
        for name, rows in tables.items():
            many = len(rows) > 1 or self.draw(st.booleans())
            for index, row in enumerate(rows):
                self.text += self.draw(BLANK)
                path = (name, index) if many else (name,)
                self.note(path)
                self.text += f"[[ {self.key(name)} ]]\n" if many else f"[{self.key(name)}]\n"
                for key, value in row.items():
                    self.text += self.draw(BLANK)
                    self.pair(key, value, path)
                    self.text += self.draw(st.sampled_from(["\n", " # ] [\n"]))


@pytest.mark.slow
@given(DOCUMENT, st.data())
def test_random_documents(tables, data):
    writer = Writer(data.draw)
    writer.document(tables)
    tomllib.loads(writer.text)
    lines = TomlLines(writer.text)
    assert {path: lines.line(*path) for path in writer.lines} == writer.lines


@given(st.text("ab[]{}=.\"'#\n ,\\1", max_size=30))
def test_no_text_makes_the_index_hang_or_fail(text):
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    TomlLines(text)
