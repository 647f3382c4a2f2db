"""Applications for the tests of their upgrades, read as a user's evidence is read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from headgate.model.cluster import Cluster
from headgate.model.kafka_streams import InternalKind, InternalTopic
from headgate.model.version import Version
from headgate.rules.compare.compare_versions import compare
from headgate.rules.core.report import Report
from headgate.usecases.evidence.read_version import read_version

UPGRADES = Path(__file__).parent / "upgrades"
ID = "shop"


def application(folder: Path, text: str, config: dict[str, str], inputs: dict[str, int]) -> Version:
    """Return what the description, the settings and the numbers of partitions tell."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "describe.txt").write_text(text)
    (folder / "config.json").write_text(json.dumps({"application.id": ID} | config))
    (folder / "input_topics.json").write_text(json.dumps(inputs))
    return read_version([str(folder)])


def left_behind(
    version: Version,
    *,
    partitions: int = 2,
    unlogged: tuple[str, ...] = (),
    stale: tuple[str, ...] = (),
    drained: bool = False,
) -> Version:
    """Return the version with the internal topics that its first start would have made.

    `stale` are stores of an earlier version, whose changelogs are still there.
    """
    app = version.streams
    assert app is not None
    expected = app.expected_topics() | {
        f"{ID}-{s}-changelog": InternalKind.CHANGELOG for s in stale
    }
    bare = {s.changelog for s in app.stores if s.name in unlogged}
    topics = tuple(
        InternalTopic(
            name=name,
            kind=kind,
            partitions=partitions,
            begin_offsets=(7,) * partitions if drained else (0,) * partitions,
            end_offsets=(7,) * partitions,
        )
        for name, kind in expected.items()
        if name not in bare or kind is not InternalKind.CHANGELOG
    )
    return replace(version, streams=replace(app, internal=topics))


def upgrade(
    folder: Path,
    name: str,
    *,
    config: tuple[dict[str, str], dict[str, str]] = ({}, {}),
    inputs: tuple[dict[str, int], dict[str, int]] | None = None,
    renames: tuple[str, ...] = (),
    sides: tuple[str, str] = ("before", "after"),
    cluster: Cluster | None = None,
    **left: Any,
) -> Report:
    """Compare the two topologies of UPGRADES/NAME, by default with two partitions everywhere."""
    numbers = inputs or ({"in": 2, "in2": 2, "in3": 2},) * 2
    texts = [(UPGRADES / name / f"{side}.txt").read_text() for side in sides]
    before, after = (
        application(folder / f"{i}", text, config[i], numbers[i]) for i, text in enumerate(texts)
    )
    return compare(left_behind(before, **left), after, renames=renames, cluster=cluster)
