"""Text for a terminal: trees, tables, and nothing in it that steers the terminal."""

import pytest

from headgate.text.tables import Branch, Styles, table_lines, terminal_safe, tree_lines, width

PLAIN = Styles()


def test_a_tree():
    root = Branch("sink")
    join = root.add("join")
    join.add("left")
    join.add("right").add("deep")
    root.add("last")
    assert list(tree_lines(root, PLAIN)) == [
        "sink",
        "├── join",
        "│   ├── left",
        "│   └── right",
        "│       └── deep",
        "└── last",
    ]


def test_a_tree_of_any_depth_is_drawn():
    root = branch = Branch("0")
    for n in range(1, 3000):
        branch = branch.add(str(n))
    assert len(list(tree_lines(root, PLAIN))) == 3000


def test_columns_are_as_wide_as_their_widest_cell():
    rows = [("a[b]", "x"), ("日本", "y")]
    assert list(table_lines("T", ("head", "h"), rows, PLAIN)) == [
        "T",
        "head  h",
        "────  ─",
        "a[b]  x",
        "日本  y",
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a\nb\tc", "a b c"), ("\x1b[2J", "\ufffd[2J"), ("\x07", "\ufffd"), ("é", "é")],
)
def test_what_would_steer_a_terminal_is_taken_out(text, shown):
    assert terminal_safe(text) == shown
    assert width("é") == 1


def test_emphasis_only_where_it_was_asked_for():
    assert PLAIN.bold("x") == "x"
    assert Styles(True).bold("x") == "\x1b[1mx\x1b[0m"
    assert Styles(True).bold("") == ""
