"""The recorded cases: what Spark printed and left behind, one folder a version."""

from __future__ import annotations

import json
from pathlib import Path

from headgate.parse.spark.explain.printed_plan import Plan
from headgate.parse.spark.operators.canonical import Shape
from headgate.parse.spark.operators.plan_forms import read_plans, shapes
from headgate.parse.spark.plan_json.read import read_json_plan

ROOT = Path(__file__).parents[1] / "golden" / "spark"
FOLDERS = sorted(p.parent for p in ROOT.rglob("explain.txt"))
NAMES = [str(f.relative_to(ROOT)) for f in FOLDERS]


def plans(folder: Path) -> list[Plan]:
    found: list[Plan] = []
    for name in ("explain.txt", "formatted.txt", "simple.txt", "cost.txt"):
        if (folder / name).exists():
            found += read_plans((folder / name).read_text())
    for name in ("logical.json", "physical.json"):
        if (folder / name).exists():
            found.append(read_json_plan(json.loads((folder / name).read_text())))
    return found


def node_ids(shape: Shape) -> set[str]:
    """Every id that the shape's drawing has, stores apart."""
    out = set(shape.anchors)
    for anchor in shape.anchors.values():
        for slot, inlet in enumerate(anchor.inlets):
            shown = {"filter": inlet.filters, "project": inlet.computed, "x": inlet.required}
            out |= {f"{anchor.id}|{slot}|{word}" for word, there in shown.items() if there}
    return out


def all_shapes(folder: Path) -> dict[str, list[Shape]]:
    out: dict[str, list[Shape]] = {}
    for shape in shapes(plans(folder)):
        out.setdefault(shape.resolved.query.form, []).append(shape)
    return out
