"""The recorded versions that changes start from."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from .mutant import Base
from .plan_tree import dicts

TESTS = Path(__file__).parents[2]
GOLDEN = TESTS / "golden" / "spark" / "4.2.0"
CASES = TESTS / "cases"
_FORMS = {
    "json": "logical.json",
    "simple": "simple.txt",
    "extended": "explain.txt",
    "formatted": "formatted.txt",
    "cost": "cost.txt",
}

_PLANNED = ("state", "functions")


def golden() -> Iterator[Base]:
    """Yield recorded queries of every kind: as they ran, and each form of the plan alone."""
    for folder in sorted(GOLDEN.iterdir()):
        base = _base(f"golden/{folder.name}", folder / "run", folder / "capture")
        codegen = folder / "run" / "codegen.txt"
        if codegen.exists():
            forms = {**base.forms, "codegen": ("codegen.txt", codegen.read_text())}
            base = Base(base.name, base.before, forms, base.session)
        yield base


def measured() -> Iterator[Base]:
    """Yield the old versions of measured restarts, each query once."""
    seen = set()
    folders = [*CASES.glob("spark/*"), *CASES.glob("spark_fresh/*/*")]
    is_whole = [f for f in folders if (f / "outcome.json").exists()]
    for folder in sorted(f for f in is_whole if (f / "before" / "logical.json").exists()):
        plan = json.loads((folder / "before" / "logical.json").read_text())
        shape = _shape(plan)
        if shape not in seen:
            seen.add(shape)
            before = folder / "before"
            yield _base(f"{folder.parent.name}/{folder.name}", before, before)


def _base(name: str, before: Path, after: Path) -> Base:
    forms = {
        form: (file, (after / file).read_text())
        for form, file in _FORMS.items()
        if (after / file).exists()
    }
    session = {
        file: (after / file).read_text()
        for file in ("capture.json", "conf.json")
        if (after / file).exists()
    }
    if "capture.json" in session:
        # What Spark planned for the query as it was would contradict the changed one.
        said = json.loads(session["capture.json"])
        session["capture.json"] = json.dumps({k: v for k, v in said.items() if k not in _PLANNED})
    return Base(name, (before,), forms, session)


def _shape(plan: list[dict]) -> str:
    """Return a plan without what differs from run to run, to know it again."""
    ids: dict[int, int] = {}
    for node in dicts(plan):
        if "id" in node and "jvmId" in node:
            ids.setdefault(node["id"], len(ids))
            node["id"], node["jvmId"] = ids[node["id"]], ""
    return json.dumps(plan)
