"""A real clone of git, with pipelines that are registered in it."""

import subprocess
from pathlib import Path

import pytest

import headgate

TOML = """
[[pipeline]]
name = "{name}"
engine = "spark"
checkpoint = "/data/{name}"
entry_point = "{entry}"
"""


class Clone:
    """A repository in a folder."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.email", "a@example.org")
        self.git("config", "user.name", "A")

    def git(self, *arguments):
        done = subprocess.run(
            ["git", *arguments], cwd=self.folder, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def write(self, **files):
        """Write files; `a__b_py` is a/b.py."""
        for name, text in files.items():
            self.file(name.replace("__", "/").replace("_py", ".py"), text)

    def file(self, path, text):
        place = self.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text if isinstance(text, bytes) else text.encode())

    def register(self, **pipelines):
        """Register pipelines by name with their entry points."""
        text = "".join(TOML.format(name=n, entry=e) for n, e in pipelines.items())
        self.file("headgate.toml", text)

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "c")
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def clone(tmp_path, monkeypatch):
    made = Clone(tmp_path / "clone")
    monkeypatch.chdir(made.folder)
    monkeypatch.delenv("HEADGATE_CONFIG", raising=False)
    # The same package for the processes that it starts, and nothing else.
    monkeypatch.setenv("PYTHONPATH", str(Path(headgate.__file__).parents[1]))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return made
