"""The documents: links lead somewhere, commands and their options exist, examples exit as shown."""

import importlib
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path
from urllib.parse import unquote

import click
import pytest
from click.testing import CliRunner

from headgate.cli.main import headgate
from headgate.errors import ScenarioError
from headgate.local import up

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [
    *(
        ROOT / f"{name}.md"
        for name in ("README", "CHANGELOG", "CONTRIBUTING", "ARCHITECTURE", "SECURITY")
    ),
    *(p for p in sorted(DOCS.rglob("*.md")) if "_build" not in p.parts),
]
FENCE = re.compile(r"(?ms)^(?P<indent> *)```(?P<language>[\w{}-]*)\n(?P<text>.*?)^(?P=indent)```$")
LINK = re.compile(r"\]\(<?(?P<target>[^)\s>]+)>?\)")
INLINE = re.compile(r"(?<!`)`(?P<code>headgate [^`]+)`(?!`)")
CODE = re.compile(r"\b[A-Z]{3}\d{3}\b")
SHELL = {"console", "sh", "bash", "text"}
# What an inline mention leaves open: `headgate COMMAND`, `headgate plan SCENARIO`.
OPEN = re.compile(r"[A-Z.|]{2,}")
# Each needs only the files that it names.
RUNNABLE = {"topology", "diff", "check"}


def prose(text):
    """Return the text without blocks of code, whose lines are kept empty."""
    return FENCE.sub(lambda m: "\n" * m[0].count("\n"), text)


def slugs(text):
    """Return the anchors that a page of Markdown has for its headings."""
    found = {}
    for heading in re.findall(r"(?m)^#{1,6} +(.+?) *#*$", prose(text)):
        shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        slug = re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")
        count = found[slug] = found.get(slug, -1) + 1
        yield f"{slug}-{count}" if count else slug


def broken_links(page):
    """Yield the links of a page that lead nowhere."""
    without_code = re.sub(r"`[^`\n]*`", "", prose(page.read_text(encoding="utf-8")))
    for match in LINK.finditer(without_code):
        target = match["target"]
        if re.match(r"[a-z][a-z0-9+.-]*:", target):
            continue
        path, _, anchor = unquote(target).partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists() or ROOT not in file.parents:
            yield f"{target}: no such file"
        elif anchor and file.suffix == ".md" and anchor not in anchors(file):
            yield f"{target}: no such heading"


def anchors(file):
    return set(slugs(file.read_text(encoding="utf-8")))


def joined(text):
    """Return the lines of a block; one that ends in a backslash continues on the next."""
    return re.sub(r"\\\n\s*", "", text).splitlines()


def commands(text):
    """Yield each headgate command of the blocks of a page, without the prompt."""
    for block in FENCE.finditer(text):
        if block["language"] in SHELL:
            for line in joined(block["text"]):
                line = line.strip().removeprefix("$ ")
                for part in re.split(r" (?:&&|\|) ", line):
                    if re.match(r"(?:\S*/)?headgate(?: |$)", part):
                        yield part


def words(line):
    """Return the arguments of a command line, without redirections."""
    return shlex.split(re.sub(r"\s\d?>>?\s*\S+", "", line), comments=True)[1:]


def parsed(arguments):
    """Parse a whole command line by the real commands; click.UsageError if one doesn't take it."""
    context = headgate.make_context("headgate", [*arguments])
    while isinstance(context.command, click.Group):
        name, command, rest = context.command.resolve_command(context, left(context))
        context = command.make_context(name, rest, parent=context)
    return context


def left(context):
    return [*context._protected_args, *context.args]


def unknown_in_mention(arguments):
    """Return what of an inline mention doesn't exist: a command, or an option of it."""
    command, context = headgate, click.Context(headgate, info_name="headgate")
    options = [a.partition("=")[0] for a in arguments if re.match(r"--?[a-z]", a)]
    for word in (a for a in arguments if not a.startswith("-")):
        if not isinstance(command, click.Group) or OPEN.search(word):
            break
        for name in word.split("|"):
            if name not in command.list_commands(context):
                return name
            inner = command.get_command(context, name)
        command, context = inner, click.Context(inner, info_name=name, parent=context)
    known = {"-h", "--help", *names_of(command), *names_of(headgate)}
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            known |= names_of(command.get_command(context, name))
    return next((o for o in options if o not in known), None)


def names_of(command):
    return {o for p in command.params for o in (*p.opts, *p.secondary_opts)}


def examples(page):
    """Yield command, shown exit code and shown output of the console blocks that can be run."""
    for block in FENCE.finditer(page.read_text(encoding="utf-8")):
        if block["language"] != "console":
            continue
        for part in re.split(r"(?m)^\s*\$ (?=headgate)", block["text"])[1:]:
            line, _, shown = part.partition("\n")
            arguments = words(f"headgate {line.removeprefix('headgate ')}")
            if arguments[0] not in RUNNABLE or not all(map(is_here, arguments[1:])):
                continue
            code = re.search(r"(?m)^\s*\$ echo \$\?\n\s*(\d+)", shown)
            yield arguments, int(code[1]) if code else 0, shown


def is_here(argument):
    return argument.startswith("-") or "/" not in argument or (ROOT / argument).exists()


def test_links_lead_somewhere():
    assert {page: broken for page in PAGES if (broken := list(broken_links(page)))} == {}


@pytest.mark.parametrize(
    "text, wrong",
    [
        ("[a](missing.md)", "missing.md: no such file"),
        ("[a](#nothing)", "#nothing: no such heading"),
        ("# A `b` c\n[a](#a-b-c) [b](https://example.org/x.md)", None),
        ("```sh\n# not a heading\n```\n[a](#not-a-heading)", "#not-a-heading: no such heading"),
    ],
)
def test_a_broken_link_is_found(tmp_path, monkeypatch, text, wrong):
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text(text)
    assert list(broken_links(page)) == ([wrong] if wrong else [])


def said_of(line):
    """Return what click says of a command line; None where it takes it."""
    try:
        parsed(words(line))
    except click.UsageError as error:
        return error.format_message()
    except ScenarioError as error:
        return str(error)
    return None


def test_a_command_of_a_block_is_one(monkeypatch):
    # The folders of an example need not exist.
    monkeypatch.setattr(click.Path, "convert", lambda self, value, *_: value)
    lines = {(page, line) for page in PAGES for line in commands(page.read_text("utf-8"))}
    assert len(lines) > 40
    said = {(page, line): said_of(line) for page, line in lines if "..." not in line}
    assert {where: text for where, text in said.items() if text is not None} == {}


@pytest.mark.parametrize(
    "line, wrong",
    [
        ("headgate diff --before a --after b --fail-om none", "--fail-om"),
        ("headgate plan rewind orders --bach 7", "--bach"),
        ("headgate plan from-old-state orders --batch 7", "from-old-state"),
        ("headgate schemas compare orders", "compare"),
        ("headgate diff --before a", "--after"),
        ("headgate runs --limit many", "many"),
        ("headgate diff --before a --after b --format yaml", "yaml"),
    ],
)
def test_a_wrong_command_is_found(line, wrong):
    (command,) = commands(f"```sh\n{line}\n```\n")
    assert wrong in said_of(command)


def test_a_mentioned_command_has_its_options():
    mentions = {
        (page, m["code"].replace("\\|", "|"))
        for page in PAGES
        for m in INLINE.finditer(prose(page.read_text("utf-8")))
    }
    assert len(mentions) > 40
    wrong = {(page, code): unknown_in_mention(code.split()[1:]) for page, code in mentions}
    assert {where: word for where, word in wrong.items() if word is not None} == {}


@pytest.mark.parametrize(
    "code, wrong",
    [
        ("headgate carry-over PIPELINE", "carry-over"),
        ("headgate plan skip NAME", "skip"),
        ("headgate runs --cleen", "--cleen"),
        ("headgate schemas show|chek", "chek"),
        ("headgate plan SCENARIO PIPELINE -o PLAN --impact", None),
    ],
)
def test_a_wrong_mention_is_found(code, wrong):
    assert unknown_in_mention(code.split()[1:]) == wrong


EXAMPLES = [(str(p.relative_to(ROOT)), *one) for p in PAGES for one in examples(p)]


@pytest.mark.parametrize("page, arguments, code, shown", EXAMPLES)
def test_an_example_exits_as_shown(monkeypatch, page, arguments, code, shown):
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("HEADGATE_CONFIG", raising=False)
    result = CliRunner().invoke(headgate, arguments)
    assert result.exit_code == code, result.output
    assert CODE.search(result.output) or not CODE.search(shown)
    wanted = re.escape(textwrap.dedent(re.sub(r"(?ms)^\s*\$ echo .*", "", shown)).strip())
    # What is cut is marked, and everything else is what the command prints.
    pattern = wanted.replace(re.escape("[...]"), ".*")
    assert re.fullmatch(pattern, result.output.strip(), re.DOTALL), result.output


def test_there_are_examples():
    assert len(EXAMPLES) >= 6
    assert {"README.md"} <= {page for page, *_ in EXAMPLES}


CHANGING = DOCS / "contributing" / "changing.md"
PATH = re.compile(r"(?:[\w.-]+/)+[\w.-]*")


def paths_of(text):
    """Yield what is written as a path in code of a page."""
    code = [block["text"] for block in FENCE.finditer(text)]
    code += re.findall(r"`([^`\n]+)`", prose(text))
    for word in " ".join(code).split():
        if PATH.fullmatch(word) and not word.startswith(".venv/"):
            yield word


def is_path(word):
    """Say whether it is a file or a folder of the tree; words in capitals stand for any name."""
    return any(ROOT.glob(re.sub(r"[A-Z]{3,}", "*", word.rstrip("/"))))


def test_a_path_of_the_typical_changes_exists():
    found = set(paths_of(CHANGING.read_text("utf-8")))
    assert len(found) > 30
    assert sorted(path for path in found if not is_path(path)) == []


@pytest.mark.parametrize("path", ["tests/gone/", "rules/readiness/codes.py", "tests/compat/X.py"])
def test_a_path_that_is_gone_is_found(path):
    assert list(paths_of(f"Change `{path}` or nothing.")) == [path]
    assert not is_path(path)


def test_each_kind_of_new_py_is_a_typical_change(monkeypatch):
    lines = re.findall(r"scripts/new\.py ([^#\n]+)", CHANGING.read_text("utf-8"))
    monkeypatch.syspath_prepend(ROOT / "scripts")
    parser = importlib.import_module("new").parser()
    # Another test imports the `new` of a copy.
    for name in ("new", "scaffold"):
        del sys.modules[name]
    kinds = {parser.parse_args(line.split()).kind for line in lines}
    assert kinds == set(parser._subparsers._group_actions[0].choices)


def test_each_command_is_in_a_table():
    page = (DOCS / "reference" / "command-line.md").read_text("utf-8")
    context = click.Context(headgate)
    shown = {
        n for n in headgate.list_commands(context) if not headgate.get_command(context, n).hidden
    }
    tables = "\n".join(line.split(" | ")[0] for line in page.splitlines() if line.startswith("|"))
    assert sorted(shown - set(re.findall(r"`headgate ([a-z-]+)", tables))) == []


def test_how_long_the_console_may_take_is_what_the_page_says():
    page = (DOCS / "operate" / "troubleshooting.md").read_text("utf-8")
    (shown,) = re.findall(r"The console didn't respond within (\d+) s", page)
    assert float(shown) == up._PAGE_LIMIT


@pytest.mark.parametrize(("link", "said"), [("b.md#here", ""), ("b.md#gone", "'gone'")])
def test_ci_reads_the_site_and_fails_on_a_broken_link(tmp_path, link, said):
    assert "make check-docs" in (ROOT / ".ci" / "run").read_text().splitlines()
    plain = subprocess.run(["make", "-n", "check-docs"], cwd=ROOT, capture_output=True, text=True)
    # A make that runs the tests adds lines of its own.
    (line,) = (line for line in plain.stdout.splitlines() if " sphinx " in line)
    argv = shlex.split(line.removeprefix("exec "))
    sources = tmp_path / "docs"
    sources.mkdir()
    (sources / "index.md").write_text(f"# A\n\n[b]({link})\n\n```{{toctree}}\nb\n```\n")
    (sources / "b.md").write_text("# B\n\n## Here\n")
    places = {"docs": sources, ".cache/docs": tmp_path / "out", ".cache/doctrees": tmp_path / "d"}
    argv = [str(places.get(word, word)) for word in argv]
    done = subprocess.run([*argv, "-c", DOCS], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode != 0, said in done.stderr) == (bool(said), True), done.stderr


def test_the_report_has_the_line_coverage_of_the_tests_without_servers():
    plain, covered = (
        subprocess.run(["make", "-n", "test", *more], cwd=ROOT, capture_output=True, text=True)
        for more in ([], ["COVERAGE=1"])
    )
    assert "--cov" not in plain.stdout and "coverage report" not in plain.stdout
    units, real = re.findall(r"pytest .*", covered.stdout)
    assert "--cov" in units and "--cov" not in real
    assert covered.stdout.count("coverage report --format=total") == 1
