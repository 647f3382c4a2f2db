"""Every command that a message advises exists, with the options that it is given."""

import ast
import re
from pathlib import Path

import click
import pytest

import headgate as package
from headgate.cli.main import headgate
from headgate.errors import HeadgateError

HOME = Path(package.__file__).parent
_ADVISED = re.compile(r"`headgate ([^`]+)`")
# A command of which a docstring or a table names only the beginning.
_NAMED_ONLY = re.compile(r"^[A-Z|…{]|\.\.\.|…")


def text_of(node):
    """Return the text of a literal; what is filled in is an `x`."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(v) or "x" for v in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return (text_of(node.left) or "x") + (text_of(node.right) or "x")
    return None


def advised():
    """Yield each advised command; one may be put together of several literals of a file."""
    texts = (path.read_text(encoding="utf-8") for path in sorted(HOME.rglob("*.py")))
    for text in texts:
        for node in ast.walk(ast.parse(text)) if "`headgate " in text else ():
            for command in _ADVISED.findall(text_of(node) or ""):
                yield re.sub(r"\{\w*\}", "x", " ".join(command.split()))


def parsed(words):
    """Resolve a command as click does, and hold its words against the parameters."""
    context = click.Context(headgate, info_name="headgate")
    command = headgate
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        if words[0] == "x" or words[0].isupper():
            return
        found = command.get_command(context, words[0])
        assert found is not None, f"there is no command {words[0]}"
        context, command, words = click.Context(found, parent=context), found, words[1:]
    known = {"--help"} | {
        o for p in (*command.params, *headgate.params) for o in (*p.opts, *p.secondary_opts)
    }
    for word in words:
        if word.startswith("-"):
            assert word.partition("=")[0] in known, f"{command.name} has no {word}"


def said_of(command):
    """Return what is wrong with a command; None where nothing is."""
    try:
        parsed(command.split())
    except (AssertionError, HeadgateError) as error:
        return str(error)
    return None


@pytest.mark.slow
def test_an_advised_command_exists():
    commands = {command for command in advised() if not _NAMED_ONLY.search(command)}
    assert len(commands) > 20
    said = {command: said_of(command) for command in commands}
    assert {command: text for command, text in said.items() if text is not None} == {}


def test_a_command_that_is_none_is_found():
    with pytest.raises((AssertionError, HeadgateError)):
        parsed(["plan", "from-scratch", "x", "--topology"])
    with pytest.raises((AssertionError, HeadgateError)):
        parsed(["no-such-command"])


def test_a_plan_advises_no_option_of_reset():
    text = (HOME / "reprocess/scenarios/shared/kafka_streams_reset_checks.py").read_text(
        encoding="utf-8"
    )
    advice = [line for line in text.splitlines() if "--topology" in line]
    assert advice and all("if is_reset else" in one or "== RESET else" in one for one in advice)
