"""What Kafka Streams 4.3.1 did on upgrades of changed applications, and what a comparison says.

Where files can't decide (a wiped disk, a live old instance, a serde), `unknown` is right, and so is
any answer that holds for the upgrade that the files describe: all instances stopped, disks kept.
"""

import json
import random
import re
from functools import cache
from pathlib import Path

import pytest

from headgate.rules.compare.compare_versions import compare
from headgate.rules.core.report import Outcome, Report, UpgradeWay
from headgate.usecases.evidence.read_version import read_version

ROOT = Path(__file__).parents[2] / "cases"
CASES = sorted((ROOT / "kafka_streams").iterdir())
FRESH = sorted(p.parent for p in ROOT.glob("streams_*/**/outcome.json"))[::3]
_NUMBER = re.compile(r"(?<=-)(\d{10})(?!\d)")
_PREFIX = re.compile(r"\b(?:ks_[a-z0-9]+|f\d+u)_")
_WORDS = {"in": "orders", "in2": "payments", "out": "totals", "side": "rest", "app": "shop"}

# The latest of these: a setting counts only where there are no offsets, which no file tells.
UNDECIDED = {"U24b_rename_app_latest"}
# What files can't tell apart from an upgrade that the engine takes: their own remark says why.
OFFLINE_ONLY = {
    "U22b_group_classic_to_streams_live",
    "U31_rolling_subtopology",
}
"""Refused, because an old instance was running; the files are those of upgrades that resume."""
LATER = {"U06c_remove_then_readd"}
"""Goes wrong in a third version that no file shows; the second one resumes."""


@cache
def judge(folder: Path) -> Report:
    return compare(read_version([str(folder / "before")]), read_version([str(folder / "after")]))


def truth(case: Path) -> dict:
    return json.loads((case / "outcome.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda p: p.name)
def test_the_verdict_is_what_kafka_streams_did(case):
    report, known = judge(case), truth(case)
    if case.name in UNDECIDED:
        assert report.outcome is Outcome.UNKNOWN
    elif known["decidable_from_files"]:
        assert report.outcome.word == known["outcome"]
    elif case.name not in LATER | OFFLINE_ONLY:
        harmful = known["outcome"] in {"refuses", "silently_wrong"}
        assert not harmful or report.outcome >= Outcome.UNKNOWN
    blockers = {f.error_class for f in report.findings if f.outcome is Outcome.REFUSES}
    if blockers and known["outcome"] == "refuses" and known["error_class"]:
        assert known["error_class"] in blockers


@pytest.mark.parametrize("name", sorted(OFFLINE_ONLY))
def test_what_a_live_old_instance_refuses_is_told_to_be_offline(name):
    (case,) = (c for c in CASES if c.name == name)
    upgrade = judge(case).upgrade
    assert upgrade is not None
    assert upgrade.way is UpgradeWay.OFFLINE


@pytest.mark.slow
@pytest.mark.parametrize("case", [*CASES, *FRESH], ids=lambda p: p.name)
def test_names_numbers_and_the_order_of_lines_decide_nothing(case, tmp_path):
    for side in ("before", "after"):
        (tmp_path / side).mkdir()
        for file in (case / side).iterdir():
            (tmp_path / side / file.name).write_text(_rewritten(file))
    report, known = judge(tmp_path), judge(case)
    assert [(f.rule, f.outcome) for f in report.findings] == [
        (f.rule, f.outcome) for f in known.findings
    ]
    assert report.upgrade
    assert known.upgrade
    assert report.upgrade.way is known.upgrade.way
    if case in CASES:
        assert sorted(c.kind for c in report.changes) == sorted(c.kind for c in known.changes)


def _rewritten(file: Path) -> str:
    """Other topics, another application, all counters moved, nodes in another order.

    Names that a pattern is about stay what it matches.
    """
    text = file.read_text()
    has_pattern = any(".*" in p.read_text() for p in file.parents[1].glob("*/describe.txt"))
    for old, new in () if has_pattern else _WORDS.items():
        text = re.sub(rf"({_PREFIX.pattern}){old}\b", rf"\g<1>{new}", text)
        if file.name == "input_topics.json":
            text = re.sub(rf'"{old}"', f'"{new}"', text)
    text = _PREFIX.sub("acme-", text)
    text = _NUMBER.sub(lambda m: f"{int(m[1]) + 23:010d}", text)
    return _shuffled(text) if file.name == "describe.txt" else text


def _shuffled(text: str) -> str:
    """Put the nodes of each sub-topology in another order; each keeps its arrows."""
    parts = re.split(r"(?m)(?=^ +(?:Source|Processor|Sink|Sub-topology): )", text)
    rng = random.Random(7)
    out: list[str] = []
    block: list[str] = []
    for part in parts:
        if re.match(r" +(?:Source|Processor|Sink): ", part):
            block.append(part.rstrip("\n") + "\n")
            continue
        rng.shuffle(block)
        out += [*block, part]
        block = []
    rng.shuffle(block)
    return "".join([*out, *block])
