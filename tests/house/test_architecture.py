"""What ARCHITECTURE.md claims beside the ranks: which file is where, and parsers without I/O."""

import ast
from pathlib import Path

import pytest

from headgate.cli.main import COMMANDS

ROOT = Path(__file__).parents[2]
PKG = ROOT / "lib" / "headgate"
PORTS, ADAPTERS = PKG / "reprocess" / "ports", PKG / "gateway" / "adapters"
# All ports in one; and what adapters are put together from.
EVERY_PORT = {"inspector"}
PARTS = {"live", "run_context", "driver_messages", "driver_status"}
IO_MODULES = {"requests", "socket", "subprocess", "shutil", "tempfile", "urllib.request", "sqlite3"}
IO_CALLS = {
    *("open", "read_text", "read_bytes", "write_text", "write_bytes", "iterdir", "rglob"),
    *("mkdir", "unlink", "urlopen", "exists", "is_file", "is_dir", "stat"),
}
PARSERS = sorted((PKG / "parse").rglob("*.py"))


def modules(folder):
    return {p.stem for p in folder.glob("*.py")} - {"__init__"}


def test_a_port_and_its_adapter_have_one_name():
    ports, adapters = modules(PORTS), modules(ADAPTERS)
    assert ports - EVERY_PORT == adapters - PARTS


def test_a_scenario_is_a_folder_with_a_declaration():
    folders = [
        p for p in (PKG / "reprocess" / "scenarios").iterdir() if (p / "__init__.py").exists()
    ]
    without = [p.name for p in folders if not (p / "scenario.py").exists()]
    assert without == ["shared"]


@pytest.mark.parametrize("folder", ["spark", "kafka_streams", "readiness"])
def test_codes_names_every_module_of_rules(folder):
    tree = ast.parse((PKG / "rules" / folder / "codes.py").read_text())
    found = [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module]
    listed = {a.name for n in found for a in n.names} | {n.module.rpartition(".")[2] for n in found}
    assert modules(PKG / "rules" / folder) - {"codes", "check"} <= listed


def io_of(path):
    """Yield what reads or writes outside of memory in a module."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name in IO_MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module in IO_MODULES:
            yield node.module
        elif isinstance(node, ast.ImportFrom) and node.module == "pathlib":
            yield from (a.name for a in node.names if not a.name.startswith("Pure"))
        elif isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in IO_CALLS:
                yield name


def test_parsers_do_no_io():
    found = {str(p.relative_to(PKG)): names for p in PARSERS if (names := list(io_of(p)))}
    assert found == {}


def test_a_command_has_a_file():
    files = {name.replace("_", "-") for name in modules(PKG / "cli" / "commands")}
    kinds = {name for name in files if name.startswith("rehearse-")}
    # `report` prints what `runs` shows.
    assert files - kinds == {*COMMANDS} - {"report"}


def test_a_subject_of_several_layers_has_one_name():
    commands = modules(PKG / "cli" / "commands")
    pages = {p.stem for p in (PKG / "ui").iterdir() if p.is_dir()}
    subjects = {p.stem for p in (PKG / "usecases").iterdir() if p.is_dir()}
    assert {"compare_output", "schedules", "landscape"} <= commands & pages & subjects
