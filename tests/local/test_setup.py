"""The set-up: what is complete costs nothing, what was cut off is completed."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


class SetUp:
    """The set-up script and its stages, whose names are one's to give other values."""

    def __init__(self, modules):
        vars(self)["modules"] = modules
        vars(self)["made"] = []

    def __getattr__(self, name):
        for module in self.modules:
            if hasattr(module, name):
                return getattr(module, name)
        raise AttributeError(name)

    def __setattr__(self, name, value):
        having = [module for module in self.modules if hasattr(module, name)]
        assert having, f"no stage has {name}"
        for module in having:
            setattr(module, name, value)


def stages():
    return [n for n in sys.modules if n.split(".")[0] == "setting_up"]


@pytest.fixture
def setup(tmp_path, monkeypatch):
    """The set-up script, working in an empty clone."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    spec = importlib.util.spec_from_file_location("setup_script", ROOT / "scripts" / "setup.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = SetUp([module, *(sys.modules.pop(name) for name in stages())])
    for name in ("requirements.txt", "requirements-dev.txt", "pyproject.toml"):
        (tmp_path / name).write_text(name)
    found.ROOT, found.CACHE, found.VENV = tmp_path, tmp_path / ".cache", tmp_path / ".venv"
    found.BIN = found.VENV / "bin"
    found.REQUIREMENTS = tmp_path / "requirements-dev.txt"

    def install():
        found.made.append("packages")
        (found.BIN / "headgate").write_text("")
        (found.BIN / "headgate").chmod(0o755)
        return True

    def resolve(partial, cache, log):
        found.made.append("jars")
        partial.mkdir(parents=True, exist_ok=True)
        (partial / "a.jar").touch()
        return True

    found.make_venv = lambda: found.BIN.mkdir(exist_ok=True)
    found.install_with_uv, found.resolve = install, resolve
    return found


def cut_off(*_):
    raise KeyboardInterrupt


def test_a_second_set_up_does_nothing(setup):
    setup.main(["python", "jars"])
    setup.main(["python", "jars"])
    assert setup.made == ["packages", "jars"]


def test_an_environment_that_was_cut_off_is_made_anew(setup):
    install, setup.install_with_uv = setup.install_with_uv, cut_off
    with pytest.raises(KeyboardInterrupt):
        setup.main(["python"])
    (setup.BIN / "half").touch()
    setup.install_with_uv = install
    setup.main(["python"])
    assert setup.has_packages()
    assert not (setup.BIN / "half").exists()


def test_an_environment_of_somebody_else_is_completed_not_removed(setup):
    setup.BIN.mkdir(parents=True)
    (setup.BIN / "own").touch()
    setup.main(["python"])
    assert (setup.BIN / "own").exists()


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt", "pyproject.toml"])
def test_other_pins_are_installed_over_the_old_ones(setup, name):
    setup.main(["python"])
    (setup.BIN / "own").touch()
    (setup.ROOT / name).write_text("other")
    setup.main(["python"])
    assert setup.made == ["packages", "packages"]
    assert (setup.BIN / "own").exists()


def test_an_environment_of_another_python_or_place_is_made_anew(setup):
    setup.main(["python"])
    (setup.BIN / "own").touch()
    stamp = setup.packages_stamp()
    stamp.write_text(stamp.read_text().replace(str(setup.ROOT), "/elsewhere"))
    setup.main(["python"])
    assert not (setup.BIN / "own").exists()


def test_jars_that_were_cut_off_are_fetched_again(setup, monkeypatch):
    monkeypatch.delenv("HEADGATE_JARS", raising=False)
    partial = setup.jars_folder().with_suffix(".partial")
    partial.mkdir(parents=True)
    assert not setup.has_jars()
    setup.main(["jars"])
    assert [p.name for p in setup.jars_folder().iterdir()] == ["a.jar"]


def test_the_product_finds_the_jars_where_the_set_up_puts_them(setup, monkeypatch):
    from headgate.gateway.process import jars

    monkeypatch.delenv(jars.ENVIRONMENT, raising=False)
    assert jars.jars_folder().name == setup.jars_folder().name
    assert setup.IVY_FILE == jars.IVY_FILE


def java(folder, version: str) -> None:
    program = folder / "java"
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    program.chmod(0o755)


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.2"])
def test_an_old_java_is_named_with_the_command_that_helps(setup, tmp_path, monkeypatch, version):
    java(tmp_path, version)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(SystemExit, match=r"java is version \d+: install Java 17.*apt install"):
        setup.check_java()


@pytest.mark.parametrize("version", ["17", "17.0.15", "21.0.4"])
def test_a_new_java_will_do(setup, tmp_path, monkeypatch, version):
    java(tmp_path, version)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    setup.check_java()


def test_no_java_is_said(setup, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(SystemExit, match="no Java on the PATH"):
        setup.check_java()


def test_no_python_is_said(tmp_path):
    (tmp_path / "dirname").symlink_to("/usr/bin/dirname")
    (tmp_path / "python3").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "python3").chmod(0o755)
    done = subprocess.run(
        ["/bin/sh", str(ROOT / "scripts" / "setup.sh"), "python"],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "needs Python 3.11 or newer" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_no_browser_is_said(setup, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("HEADGATE_CHROMIUM", raising=False)
    setup.CACHE.mkdir(exist_ok=True)
    with pytest.raises(SystemExit, match="need a Chromium"):
        setup.install_browser()
    monkeypatch.setenv("HEADGATE_CHROMIUM", str(tmp_path / "nothing"))
    with pytest.raises(SystemExit, match=r"isn.t a program"):
        setup.has_browser()
    monkeypatch.setenv("HEADGATE_CHROMIUM", sys.executable)
    assert setup.has_browser()
