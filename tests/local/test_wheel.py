"""`pip install` of the wheel gives a console with its demo, without a clone."""

import json
import shutil
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from headgate.gateway.process.jars import jars_folder
from support import console_seed
from support.running_stack import Stack

pytestmark = pytest.mark.stack
ROOT = Path(__file__).parents[2]
CASE = ROOT / "tests" / "cases" / "spark" / "agg_reorder_same_type"
# Every page of the installed console on a seeded store, run as Streamlit runs it.
PAGES = """
import json, sys
from pathlib import Path
import headgate
from console_seed import seed
from headgate.ui.shared.page import PAGES
from streamlit.testing.v1 import AppTest

seed(Path.cwd())
chosen = {"pipeline": "orders-by-city", "before": "1", "after": "2"}
console = Path(headgate.__file__).parent / "console" / "console.py"
shown = {}
for name in PAGES:
    at = AppTest.from_file(str(console), default_timeout=300).run()
    for key, value in chosen.items():
        at.query_params[key] = value
    at.switch_page(f"pages/{name}.py").run()
    said = [getattr(e, "value", None) or e.proto.body for e in (*at.get("html"), *at.markdown)]
    shown[name] = {"failed": [e.value for e in at.exception], "said": " ".join(map(str, said))}
Path("shown.json").write_text(json.dumps(shown))
"""
UV = shutil.which("uv") or str(Path(sys.executable).with_name("uv"))


def run(*argv: object, code: int = 0, **more) -> subprocess.CompletedProcess:
    done = subprocess.run([*map(str, argv)], capture_output=True, text=True, timeout=300, **more)
    assert done.returncode == code, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """The Python of an environment that has the wheel and what it needs, and nothing else."""
    folder = tmp_path_factory.mktemp("wheel")
    run(UV, "build", "--wheel", "--no-build-isolation", "--offline",
        "--python", sys.executable, "-o", folder, ROOT)  # fmt: skip
    run(UV, "venv", "--python", sys.executable, folder / "env")
    python = folder / "env" / "bin" / "python"
    (wheel,) = folder.glob("*.whl")
    # What the set-up installed is in the cache: no test needs the internet.
    pins = folder / "pins.txt"
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    pins.write_text("\n".join(line for line in lines if not line.startswith("-e")))
    run(UV, "pip", "install", "--offline", "--python", python, "-c", pins, wheel)
    return python


@pytest.fixture
def alone(installed, tmp_path, monkeypatch) -> Path:
    """The installed Python in an empty folder, where nothing leads to the clone."""
    for name in ("PYTHONPATH", "HEADGATE_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    found = run(installed, "-c", "import headgate; print(headgate.__file__)").stdout
    assert "site-packages" in found
    return installed


def test_versions_are_compared_and_shown_from_a_wheel(alone, tmp_path):
    for side in ("before", "after"):
        shutil.copytree(CASE / side, tmp_path / side)
    headgate = alone.with_name("headgate")
    compared = run(headgate, "diff", "--before", "before", "--after", "after", code=1).stdout
    assert compared.startswith("Wrong results.") and "AGG002" in compared
    graph = json.loads(run(headgate, "topology", "after", "--format", "json").stdout)
    assert "state_store" in {node["kind"] for node in graph["nodes"]}


def test_every_page_runs_from_a_wheel(alone, tmp_path, monkeypatch):
    shutil.copy(console_seed.__file__, tmp_path)
    monkeypatch.setenv("HEADGATE_CONFIG", str(tmp_path / "headgate.toml"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    run(alone, "-c", PAGES)
    shown = json.loads((tmp_path / "shown.json").read_text())
    assert {name for name, page in shown.items() if page["failed"] or not page["said"]} == set()
    assert "for Spark 4.2.0" in shown["compare"]["said"]
    assert "orders-by-city" in shown["topology"]["said"]


def test_the_demo_runs_from_a_wheel(alone, tmp_path, monkeypatch):
    monkeypatch.setenv("HEADGATE_JARS", str(jars_folder()))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    stack = Stack(tmp_path / "demo", python=str(alone))
    try:
        with urllib.request.urlopen(stack.address("Console"), timeout=60) as page:
            assert b"<title>" in page.read()
        log = (tmp_path / "demo" / "logs" / "console.log").read_text()
        assert "Traceback" not in log
    finally:
        assert stack.end(signal.SIGINT) == 0
    assert not (tmp_path / "cache" / "headgate").exists()
