"""`scripts/new.py` makes all files of a change: they are valid, and the new test fails for it."""

import importlib
import io
import os
import re
import shutil
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
RUFF = Path(sys.executable).with_name("ruff")
# What is made of each kind, and what its test says first.
MADE = {
    "rule": ("rule spark sink table_renamed", r"SNK\d{3} did not speak: write"),
    "new-module": ("rule spark late_rows late_rows_lost --prefix LAT", "LAT001 did not speak"),
    "streams-rule": ("rule kafka-streams input_topics input_moved", r"KST\d{3} did not speak"),
    "readiness-rule": ("readiness-rule releases spark_too_old", r"RDY\d{3} did not speak: write"),
    "step": (
        "step topics rename_topics --scenario rewind",
        "write `apply` of RenameTopics in lib/headgate/",
    ),
    "scenario": ("scenario move-cluster --engines spark,kafka-streams", "has no steps yet: write"),
    "sink": ("sink jdbc JdbcSink", "record explain.txt and progress.json .* tests/golden/sinks/"),
    "evidence": ("evidence spark zebra-notes", "real files into tests/golden/zebra_notes, then"),
    "streams-evidence": ("evidence kafka-streams zebra-metrics", "files into tests/golden/zebra_m"),
    "json-evidence": ("evidence spark zebra-sums --json", "files into tests/golden/zebra_sums, t"),
    "streams-json": ("evidence kafka-streams zebra-lag --json", "into tests/golden/zebra_lag, t"),
    "column": ("column runs zebra --heading Zebra", "runs.zebra is never written: write"),
    "boolean": ("column runs is_zebra --type boolean --heading Striped", "runs.is_zebra is never"),
}
REGISTERED = """
from headgate.model.evidence_kinds import EvidenceKind
from headgate.model.sinks import known_sink
from headgate.reprocess.scenarios.build import SCENARIOS
from headgate.reprocess.scenarios.shared.output_statements import STATEMENTS
from headgate.reprocess.steps import all_steps
from headgate.rules.catalogue import all_rules
from headgate.store import migrate, tables
from headgate.store.rows import RunRow
from headgate.views.words.run_columns import RUN_COLUMNS

checks = {rule.check.__name__ for rule in all_rules()}
assert {"table_renamed", "late_rows_lost", "input_moved", "spark_too_old"} <= checks
assert len({rule.code for rule in all_rules()}) == len(all_rules())
assert "rename_topics" in {step.action for step in all_steps()}
assert "rename_topics" in SCENARIOS["rewind"].steps
assert SCENARIOS["move-cluster"].steps == SCENARIOS["move-cluster"].risks() == ()
assert SCENARIOS["move-cluster"].name == "move-cluster"
assert len([name for name, _ in STATEMENTS if name == "move-cluster"]) == 2
assert known_sink("JdbcSink").format == "jdbc"
kinds = {"zebra-notes", "zebra-metrics", "zebra-sums", "zebra-lag"}
assert kinds <= set(EvidenceKind)
assert "zebra" in tables.RUNS.c and "zebra" in RunRow.__dataclass_fields__
assert migrate.HEAD > "0007" and "Zebra" in [c.heading for c in RUN_COLUMNS]
(striped,) = [c.text for c in RUN_COLUMNS if c.heading == "Striped"]
run = dict(id="r", scenario="s", pipeline="p", plan_hash="h", plan="", state="done")
rows = [RunRow(**run, created_at="", created_by="", is_zebra=x) for x in (True, False, None)]
assert [striped(row) for row in rows] == ["yes", "", ""]
"""


def run(tree, *words):
    # The copy is what is imported, not the package that the environment has.
    environment = os.environ | {"PYTHONPATH": str(tree / "lib"), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(words, cwd=tree, env=environment, capture_output=True, text=True)


def state(tree):
    return {p: p.stat().st_mtime_ns for p in tree.rglob("*") if p.is_file()}


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """What new.py reads, without evidence."""
    made = tmp_path_factory.mktemp("tree")
    without = shutil.ignore_patterns("__pycache__", "cases", "golden", "screenshots", "*.png")
    for folder in ("lib", "scripts", "tests"):
        shutil.copytree(ROOT / folder, made / folder, ignore=without)
    shutil.copy(ROOT / "pyproject.toml", made)
    return made


@pytest.fixture(scope="module")
def new(tree):
    """Return what the copy's new.py exits with and prints, run in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(tree / "scripts")
        module = importlib.import_module("new")
        # Never the one of this tree, whose files it would change.
        assert Path(module.__file__).is_relative_to(tree) and tree.resolve() == module.ROOT

        def called(line):
            with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as error:
                code = module.main(line.split())
            return code, out.getvalue(), error.getvalue()

        yield called
    for name in ("new", "scaffold"):
        del sys.modules[name]


@pytest.fixture(scope="module")
def printed(new):
    """What each command printed, by kind."""
    done = {kind: new(line) for kind, (line, _) in MADE.items()}
    assert {kind: error for kind, (_, _, error) in done.items() if error} == {}
    return {kind: out for kind, (_, out, _) in done.items()}


def test_what_is_made_is_valid_and_in_every_table(tree, printed):
    files = {f for text in printed.values() for f in re.findall(r"(?m)^\w+ (\S+\.py)$", text)}
    assert len(files) > 30
    for words in (("check", "--quiet"), ("format", "--check", "--quiet")):
        done = run(tree, str(RUFF), *words, "--no-cache", *files)
        assert done.returncode == 0, done.stdout + done.stderr
    done = run(tree, sys.executable, "-c", REGISTERED)
    assert done.returncode == 0, done.stderr
    # Words that say more than the kind's name fit into the line.
    kinds = (tree / "lib/headgate/model/evidence_kinds.py").read_text("utf-8")
    assert '        *("zebra-notes", _SPARK, "zebra notes"),\n        "in_content",\n' in kinds


@pytest.mark.long
def test_each_new_test_fails_and_says_what_to_write(tree, printed):
    """One pytest runs them all: its start takes longer than they do."""
    found = {k: re.search(r"-q (\S+)(?: -k (\w+))?$", text, re.M) for k, text in printed.items()}
    words = [one[2] or Path(one[1]).stem for one in found.values()]
    paths = sorted({one[1] for one in found.values()})
    options = ("-p", "no:cacheprovider", "-p", "no:xdist", "--tb=short", "-q")
    done = run(tree, sys.executable, "-m", "pytest", *options, *paths, "-k", " or ".join(words))
    assert done.returncode == 1 and "rror collecting" not in done.stdout, done.stdout[-3000:]
    said = " ".join(line.removeprefix("E").strip() for line in done.stdout.splitlines())
    assert [kind for kind, (_, message) in MADE.items() if not re.search(message, said)] == []
    failed = re.findall(r"(?m)^FAILED (\S+?)::", done.stdout)
    assert set(failed) == set(paths)


WRONG = {
    "bogus x": "invalid choice: 'bogus'",
    "rule flink sink table_lost": "'flink' isn't an engine with rules: choose one of spark, kafka",
    "rule spark sink Table-Lost": "'Table-Lost' isn't a name",
    "rule spark cost cost_grows": "--prefix",
    "readiness-rule releases class": "'class' isn't a name",
    "step tables rename_tables": "'tables' isn't a family of steps: choose one of checkpoint",
    "step topics move_topics --scenario nowhere": "nowhere/scenario.py not found",
    "step checkpoint a_name_that_is_far_too_long_for_it": "use shorter names",
    "scenario move_it": "divide its words by -",
    "scenario move-it --engines flink": "'flink' isn't an engine",
    "sink j/dbc": "'j/dbc' isn't a format",
    "evidence consumer-group dump": "'consumer-group' isn't an engine to read",
    "column journal ticket": "'journal' isn't a table",
    "column requests ticket --heading Ticket": "--heading needs the table runs",
    'column runs price --heading A"b': "isn't a heading",
    "column runs": "the following arguments are required: name",
    **{line: "choose another name" for line, _ in MADE.values()},
    MADE["new-module"][0]: "has codes already: leave out --prefix",
}


@pytest.mark.parametrize(("line", "said"), WRONG.items())
def test_what_cannot_be_made_is_one_sentence_and_changes_nothing(tree, new, printed, line, said):
    before = state(tree)
    code, out, error = new(line)
    assert (code, out) == (2, "")
    assert error.startswith("new.py: ") and error.count("\n") == 1
    assert said in error
    assert state(tree) == before
