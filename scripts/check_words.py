"""Hold the texts that a person reads to the glossary: `check_words.py [--list] [PATH ...]`.

Read are the strings of lib, pages, scripts, app.py and console.py that have at least two words
(without docstrings, queries and regular expressions), and the documents but recorded results. Each
hit is printed as `file:line: "word": say ...`, and makes the exit code 1. So does a term that
misses one of its own examples. `scripts/glossary.toml` has the terms.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GLOSSARY = Path(__file__).with_name("glossary.toml")
CODE = ("app.py", "console.py", "pages", "lib", "scripts")
# Pages of rules and scenarios are read, too: they come from docstrings, which `strings` leaves out.
DOCUMENTS = (
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    ".github",
    "docs",
)
GENERATED = ("docs/faults.md", "docs/_build/")
# The names of recorded changes, which rule pages quote.
_RECORDED = ("**Reported**", "**Passes**")
MOST_EXEMPTIONS = 40
_TWO_WORDS = re.compile(r"[A-Za-z]{2,}[,;:.]? +[a-z`'\"({]")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
# A call whose strings nobody reads: patterns, SQL, names of attributes.
_SILENT_CALLS = {"compile", "match", "search", "sub", "fullmatch", "finditer", "findall", "text"}


@dataclass(frozen=True)
class Term:
    """One entry of the glossary; the patterns ignore case."""

    pattern: re.Pattern[str]
    say: str
    finds: tuple[str, ...]
    passes: tuple[str, ...]
    pass_if: re.Pattern[str] | None

    def hits(self, text: str) -> Iterator[re.Match[str]]:
        """Yield the matches in sentences that do not make the word right."""
        for sentence in _SENTENCE.split(text):
            if self.pass_if is None or not self.pass_if.search(sentence):
                yield from self.pattern.finditer(sentence)


def read_glossary(path: Path = GLOSSARY) -> tuple[list[Term], list[dict[str, str]]]:
    """Return the terms, and the exemptions: each has a `file`, a `text` and a `reason`."""
    said = tomllib.loads(path.read_text(encoding="utf-8"))
    terms = [
        Term(
            pattern=re.compile(one["pattern"], re.IGNORECASE),
            say=one["say"],
            finds=tuple(one["finds"]),
            passes=tuple(one["passes"]),
            pass_if=re.compile(one["pass_if"], re.IGNORECASE) if "pass_if" in one else None,
        )
        for one in said["term"]
    ]
    return terms, said.get("exempt", [])


def strings(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of each string that may be shown; a formatted one has {} for values."""
    yield from _strings(ast.parse(source))


def _strings(node: ast.AST) -> Iterator[tuple[int, str]]:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    if isinstance(node, ast.Call) and _name(node.func) in _SILENT_CALLS:
        return
    if (said := _literal(node)) is not None:
        is_code = said.startswith("SELECT ") or "\nimport " in said
        if _TWO_WORDS.search(said) and not is_code:
            yield getattr(node, "lineno", 1), said
        return
    for child in ast.iter_child_nodes(node):
        yield from _strings(child)


def _literal(node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(_literal(value) or "{}" for value in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _literal(node.left), _literal(node.right)
        return None if left is None and right is None else (left or "{}") + (right or "{}")
    return None


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of each line of a document outside code; `code` in a line is left out."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith(_RECORDED):
            yield number, re.sub(r"`[^`]*`|\]\([^)]*\)", "``", line)


def files(names: list[str]) -> Iterator[Path]:
    """Yield what is read, of the given files and folders."""
    for name in names:
        path = ROOT / name
        found = [path] if path.is_file() else [*path.rglob("*.py"), *path.rglob("*.md")]
        for file in sorted(found):
            if not str(file.relative_to(ROOT)).startswith(GENERATED):
                yield file


def misses(terms: list[Term]) -> Iterator[str]:
    """Yield a line for each example that its term finds or passes against what it says."""
    for term in terms:
        for text in term.finds:
            if not any(term.hits(text)):
                yield f'glossary.toml: {term.pattern.pattern!r} must find "{text}"'
        for text in term.passes:
            if any(term.hits(text)):
                yield f'glossary.toml: {term.pattern.pattern!r} must pass "{text}"'


def check(names: list[str]) -> Iterator[str]:
    """Yield a line for each hit, for each exemption that is not needed, and for too many."""
    terms, exemptions = read_glossary()
    yield from misses(terms)
    used = set()
    for file in files(names):
        read = strings if file.suffix == ".py" else paragraphs
        at = str(file.relative_to(ROOT))
        for number, text in read(file.read_text(encoding="utf-8")):
            for term in terms:
                for hit in term.hits(text):
                    exempt = [
                        i for i, e in enumerate(exemptions) if e["file"] == at and e["text"] in text
                    ]
                    used.update(exempt)
                    if not exempt:
                        yield f'{at}:{number}: "{hit.group()}": say {term.say}'
    if len(exemptions) > MOST_EXEMPTIONS:
        yield f"glossary.toml: {len(exemptions)} exemptions, at most {MOST_EXEMPTIONS}"
    if names == [*CODE, *DOCUMENTS]:
        for number, one in enumerate(exemptions):
            if number not in used:
                yield f'glossary.toml: nothing needs the exemption "{one["text"]}" in {one["file"]}'


def main() -> int:
    """Print all hits; 1 if there is one."""
    found = list(check(sys.argv[1:] or [*CODE, *DOCUMENTS]))
    print("\n".join(found) or "No word of the glossary is missed.")
    return bool(found)


if __name__ == "__main__":
    raise SystemExit(main())
