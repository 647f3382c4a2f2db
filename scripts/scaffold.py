"""What `new.py` makes its changes with: texts of files that are written together or not at all."""

from __future__ import annotations

import keyword
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from string import Template

ROOT = Path(__file__).resolve().parents[1]
TEMPLATES = Path(__file__).with_name("templates")
PKG = "lib/headgate"
_LONGEST = 100
_SNAKE = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_ANY_CODE = re.compile(r'"([A-Z]{3}\d{3})"')
_RULE_CODE = re.compile(r'rule\(\s*"(([A-Z]{3})(\d{3}))"')
# A module that isn't written yet is not found, and so is not known to be ours.
_OURS = "--config=lint.isort.known-first-party=['headgate']"
_SORT = ("check", "--select=I", "--fix", "--exit-zero", _OURS)


class UsageError(Exception):
    """The request can't be carried out; the message is one sentence for the terminal."""


class Change:
    """The new texts of files; nothing is on disk before `write`."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def text(self, path: str) -> str:
        """Return a file as it will be; UsageError if there is none."""
        if path not in self.texts and not (ROOT / path).is_file():
            raise UsageError(f"{path} not found: update its path in scripts/new.py")
        return self.texts.get(path) or (ROOT / path).read_text(encoding="utf-8")

    def create(self, path: str, text: str) -> None:
        """Add a file; UsageError if it exists, or if another test has its name."""
        name = Path(path).name
        # Test folders are not packages: pytest knows a module by its name alone.
        twins = [*(ROOT / "tests").rglob(name)] if name.startswith("test_") else []
        for found in (p for p in (ROOT / path, *twins) if p.exists()):
            raise UsageError(f"{found.relative_to(ROOT)} exists: choose another name")
        self.texts[path] = text

    def insert(self, path: str, line: str, *, after: str, before: str = "\n") -> None:
        """Insert lines where `before` first follows the one `after` of a file."""
        text = self.text(path)
        if text.count(after) != 1:
            raise UsageError(f"{path} doesn't have {after!r} once: update it in scripts/new.py")
        at = text.index(before, text.index(after) + len(after))
        self.texts[path] = f"{text[:at]}\n{line}{text[at:]}"

    def write(self) -> None:
        """Format every file, then write them all."""
        formatted = {p: _formatted(p, t) if p.endswith(".py") else t for p, t in self.texts.items()}
        for path, text in formatted.items():
            print("changed" if (ROOT / path).exists() else "created", path)
            (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / path).write_text(text, encoding="utf-8")


def _formatted(path: str, text: str) -> str:
    """Return the text with sorted imports, as `ruff format` writes it."""
    ruff = shutil.which("ruff", path=str(Path(sys.executable).parent)) or shutil.which("ruff")
    if ruff is None:
        raise UsageError("ruff not found: run `make setup`, then .venv/bin/python scripts/new.py")
    for words in (_SORT, ("format",)):
        command = [ruff, *words, "--quiet", f"--stdin-filename={path}", "-"]
        done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=ROOT)
        if done.returncode:
            raise UsageError(f"{path} would not be valid Python: {done.stderr.splitlines()[0]}")
        text = done.stdout
    if any(len(line) > _LONGEST and "noqa" not in line for line in text.splitlines()):
        raise UsageError(f"{path} would have lines above {_LONGEST} characters: use shorter names")
    return text


def template(file: str, /, **fields: str) -> str:
    """Return a template with its fields; KeyError if one is missing."""
    return Template((TEMPLATES / f"{file}.txt").read_text(encoding="utf-8")).substitute(fields)


def checked(name: str) -> str:
    """Return a name for a module or a function; UsageError if it isn't one."""
    if not _SNAKE.fullmatch(name) or not 3 <= len(name) <= 40 or keyword.iskeyword(name):
        raise UsageError(f"{name!r} isn't a name: use 3 to 40 lower-case letters, digits and _")
    return name


def dashed(name: str) -> str:
    """Return a name in which `-` divides words; UsageError if it isn't one."""
    if "_" in name or not checked(name.replace("-", "_")):
        raise UsageError(f"{name!r} isn't a name: divide its words by -, not by _")
    return name


def one_of(word: str, known: Iterable[str], what: str) -> str:
    """Return the word; UsageError if it isn't known."""
    known = list(known)
    if word not in known:
        raise UsageError(f"{word!r} isn't {what}: choose one of {', '.join(known)}")
    return word


def camel(name: str) -> str:
    """Return `like_this` as `LikeThis`."""
    return "".join(word.capitalize() for word in name.split("_"))


def next_code(module: str, prefix: str) -> str:
    """Return the next free code of a module: a new one begins a block of ten, or at 001.

    `prefix` is that of a module without rules. UsageError if no code is left.
    """
    sources = [p.read_text(encoding="utf-8") for p in (ROOT / PKG / "rules").rglob("*.py")]
    used = {code for text in sources for code in _ANY_CODE.findall(text)}
    file = ROOT / module
    own = _RULE_CODE.findall(file.read_text(encoding="utf-8")) if file.is_file() else []
    if own:
        prefix = Counter(p for _, p, _ in own).most_common(1)[0][0]
        first = 1 + max(int(number) for _, p, number in own if p == prefix)
    else:
        highest = max((int(code[3:]) for code in used if code.startswith(prefix)), default=None)
        first = 1 if highest is None else highest - highest % 10 + 10
    free = (f"{prefix}{n:03}" for n in range(first, 1000) if f"{prefix}{n:03}" not in used)
    code = next(free, None)
    if code is None:
        raise UsageError(f"no code of {prefix} is left: choose another --prefix")
    return code
