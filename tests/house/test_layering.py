"""The house of ARCHITECTURE.md, checked: a folder imports only what has a lower rank."""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

import networkx as nx
import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PKG = ROOT / "lib" / "headgate"
MOST_MODULES, MOST_LINES = 30, 450
# From the ground up. The longest path that begins like a folder's counts; equals never import
# each other. "" is the package itself: `headgate.watch` and the version number.
RANKS = """
errors
text
model
parse/spark/explain parse/spark/checkpoint parse/config parse/topic_schemas parse/kafka_streams
+ parse/python parse/kafka landscape twin
parse/spark/expression parse/spark/session
parse/spark/plan_json parse/spark/operators
parse/spark/state parse/spark/event_log
parse/spark/watch parse/spark/query
parse/evidence
rules/core
rules/spark/facts rules/kafka_streams/facts rules/topic_schemas/facts
rules/spark rules/kafka_streams rules/topic_schemas
rules/readiness/facts
rules/readiness rules/compare
rules
reprocess/checkpoint
reprocess/ports
reprocess/steps/base
reprocess/steps/process reprocess/steps/offsets
reprocess/steps/records reprocess/steps/checkpoint
reprocess/steps/topics reprocess/steps/upgrade
reprocess/steps/outputs
reprocess/steps
reprocess
reprocess/scenarios/shared
reprocess/scenarios
reprocess/scenarios/from_point reprocess/scenarios/rewind
reprocess/scenarios/from_scratch reprocess/scenarios/new_checkpoint
+ reprocess/scenarios/offline_upgrade reprocess/scenarios/repartition
+ reprocess/scenarios/repair reprocess/scenarios/skip_records reprocess/scenarios/decommission
+ reprocess/scenarios/pause reprocess/scenarios/application_reset
+ reprocess/scenarios/bounded
+ reprocess/scenarios/dead_letters reprocess/scenarios/historical_range reprocess/scenarios/ab
reprocess/scenarios/online_upgrade
reprocess/scenarios/incremental
reprocess/scenarios/chain
+ reprocess/scenarios/late_batch
reprocess/execution
store
gateway/process
gateway/files
gateway/http gateway/checkpoint gateway/kafka gateway/schema_registry gateway/postgres
gateway/kafka_broker gateway/spark
gateway/kafka_streams
gateway/adapters
spark_jobs
spark_jobs/failing
spark_jobs/data
spark_jobs/data/late
spark_driver
-
views/layout
views/scene
views/words views/charts views/exports views/reports
usecases
usecases/evidence
usecases/activity usecases/restore_points usecases/compare_output
usecases/compare usecases/landscape
usecases/check usecases/reprocess usecases/rehearsal
usecases/runs usecases/gate
usecases/requests usecases/setup
usecases/schedules
ui/shared/graph ui/shared/paste ui/shared/style
worker local/stack ui/shared
local/demo
local
ui/evidence
ui/topology ui/landscape ui/compare ui/rehearsal ui/reprocess ui/compare_output
ui/runs
ui/requests ui/schedules
cli/shared
cli/commands
cli
pages app console
"""
RANK = {
    "" if name == "-" else name: rank
    for rank, line in enumerate(RANKS.replace("\n+", "").strip().splitlines())
    for name in line.split()
}
# What ranks can't say: the first never imports the second.
NEVER = (
    *(("reprocess", "rules"), ("rules", "reprocess"), ("rules", "store"), ("views", "gateway")),
    *(("views", "usecases"), ("store", "rules"), ("gateway", "rules"), ("gateway", "store")),
    ("pages", "gateway"),
)
# These run where little else is: they import nothing but what is named.
ONLY = {
    "spark_jobs": ("spark_jobs", "errors", "text", "model/sinks", "model/tables"),
    "spark_driver": (
        *("spark_driver", "errors", "text", "spark_jobs", "parse/spark/watch"),
        "model/sinks",
    ),
    "landscape": ("landscape", "errors", "text", "model"),
}
FOREIGN = {
    "streamlit": {"ui", "pages", "app", "console"},
    "confluent_kafka": {"gateway", "spark_jobs", "spark_driver", "local"},
    "pyspark": {"gateway", "spark_jobs", "spark_driver", "local"},
    "dbos": {"worker"},
    "click": {"cli"},
    "rich": {"cli"},
}
# What is drawn for a terminal is a report's own module: pages load none of it.
TERMINAL = re.compile(r"views/reports/\w+_terminal")
MODULES = [
    *sorted(PKG.rglob("*.py")),
    *sorted((ROOT / "pages").glob("*.py")),
    *(ROOT / name for name in ("app.py", "console.py")),
]
FOLDERS = sorted({p.parent for p in MODULES})
# Of the tests, data apart.
TESTS = [
    p
    for p in sorted((ROOT / "tests").rglob("*.py"))
    if p.name != "__init__.py" and p.relative_to(ROOT).parts[1] not in ("cases", "golden")
]


def place(path: Path) -> str:
    """Return a module's path in the package, or at the top level, without its suffix."""
    base = PKG if path.is_relative_to(PKG) else ROOT
    return path.relative_to(base).with_suffix("").as_posix()


PLACES = {place(p): p for p in MODULES}


def folder_of(location: str) -> str:
    """Return the folder of a place; a module beside the package's `__init__` is one by itself."""
    return location.rpartition("/")[0] or location


def rank_of(location: str) -> tuple[str, int]:
    """Return the ranked folder that a place is in, and its rank."""
    while location not in RANK:
        location = location.rpartition("/")[0]
    return location, RANK[location]


BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def is_typing(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def statements(node: ast.AST, typing: bool = False):
    """Yield every import below a node, wherever it stands, and whether only types need it."""
    # Only blocks hold statements: a look into each expression takes ten times as long.
    for child in (c for block in BLOCKS for c in getattr(node, block, ())):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, typing
        else:
            yield from statements(child, typing or is_typing(child))


def names_of(node: ast.Import | ast.ImportFrom, path: Path):
    """Yield the full names that one import asks for; a relative one from where it stands."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
        return
    module = node.module or ""
    if node.level:
        parts = ("headgate", *path.relative_to(PKG).parts)[: -node.level]
        module = ".".join((*parts, module)).rstrip(".")
    yield from (f"{module}.{alias.name}" for alias in node.names)


def target(name: str) -> str | None:
    """Return the place of the module that a name of ours is in; None for a foreign one."""
    if name.partition(".")[0] != "headgate":
        return None
    parts = name.split(".")[1:]
    for length in range(len(parts), -1, -1):
        location = "/".join(parts[:length])
        if location in PLACES:
            return location
        if (found := f"{location}/__init__".lstrip("/")) in PLACES:
            return found
    return None


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def named_modules(node: ast.AST):
    """Yield the modules that strings name: those are imported by their names."""
    for child in ast.walk(node):
        if isinstance(child, ast.Constant) and isinstance(child.value, str):
            name = child.value.partition(":")[0]
            if name.startswith("headgate.") and target(name):
                yield name


@cache
def imports(path: Path) -> list[tuple[str, str | None, bool]]:
    found = [(n, t) for node, t in statements(tree(path)) for n in names_of(node, path)]
    if any(name.endswith("import_module") or name == "importlib" for name, _ in found):
        found += [(name, False) for name in named_modules(tree(path))]
    return [(name, target(name), typing) for name, typing in found]


def wrong(here: str, name: str, there: str | None, typing: bool) -> bool:
    """Say whether a module may not have this import."""
    if there is None:
        library = name.partition(".")[0]
        if library == "rich" and TERMINAL.fullmatch(here):
            return False
        allowed = FOREIGN.get(library)
        return allowed is not None and here.partition("/")[0] not in allowed
    if there == "__init__":  # The version number.
        return False
    (mine, low), (other, high) = rank_of(here), rank_of(there)
    if mine != other and high >= low:
        return True
    if any(_in(here, a) and _in(there, b) for a, b in NEVER):
        return True
    return any(_in(here, a) and not any(_in(there, b) for b in only) for a, only in ONLY.items())


def _in(location: str, folder: str) -> bool:
    return f"{location}/".startswith(f"{folder}/")


# A test for each module would take longer than its reading.
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_folder_imports_what_is_below_it_and_stays_small(folder):
    modules = [p for p in MODULES if p.parent == folder]
    assert len(modules) <= MOST_MODULES + (folder / "__init__.py").exists()
    for path in modules:
        text = path.read_text()
        against = [name for name, *there in imports(path) if wrong(place(path), name, *there)]
        assert against == [], path
        assert not text.strip() or ast.get_docstring(tree(path)), path
        assert len(text.splitlines()) <= MOST_LINES, path


def test_nothing_lies_loose_at_the_top_of_tests():
    assert [p.name for p in TESTS if p.parent == ROOT / "tests"] == ["conftest.py"]


def test_no_folder_of_tests_is_large():
    sizes = Counter(p.parent.relative_to(ROOT).as_posix() for p in TESTS)
    assert {folder: n for folder, n in sizes.items() if n > MOST_MODULES} == {}


def test_no_folders_import_each_other_in_a_circle():
    graph = nx.DiGraph()
    for path in MODULES:
        here = folder_of(place(path))
        for _, there, _typing in imports(path):
            if there not in (None, "__init__"):
                graph.add_edge(here, folder_of(there))
    circles = [sorted(part) for part in nx.strongly_connected_components(graph) if len(part) > 1]
    assert circles == []


def test_every_folder_has_a_rank():
    ours = [place(p) for p in MODULES if p.is_relative_to(PKG) and p.read_text().strip()]
    folders = {folder_of(location) for location in ours} - {"__init__"}
    assert [f for f in folders if not rank_of(f)[0] and not PLACES.get(f"{f}/__init__")] == []
