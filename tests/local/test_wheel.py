"""`pip install` of the wheel gives a console with its demo, without a clone."""

import shutil
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from headgate.gateway.process.jars import jars_folder
from support.running_stack import Stack

pytestmark = pytest.mark.stack
ROOT = Path(__file__).parents[2]
UV = shutil.which("uv") or str(Path(sys.executable).with_name("uv"))


def run(*argv: object, **more) -> subprocess.CompletedProcess:
    done = subprocess.run([*map(str, argv)], capture_output=True, text=True, timeout=300, **more)
    assert done.returncode == 0, done.stdout + done.stderr
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


def test_the_demo_runs_from_a_wheel(installed, tmp_path, monkeypatch):
    monkeypatch.setenv("HEADGATE_JARS", str(jars_folder()))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("PYTHONPATH", "HEADGATE_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    found = run(installed, "-c", "import headgate; print(headgate.__file__)").stdout
    assert "site-packages" in found
    stack = Stack(tmp_path / "demo", python=str(installed))
    try:
        with urllib.request.urlopen(stack.address("Console"), timeout=60) as page:
            assert b"<title>" in page.read()
        log = (tmp_path / "demo" / "logs" / "console.log").read_text()
        assert "Traceback" not in log
    finally:
        assert stack.end(signal.SIGINT) == 0
    assert not (tmp_path / "cache" / "headgate").exists()
