"""`headgate restore-points`: what the list says of the disk."""

from __future__ import annotations

import pytest

from headgate.cli.commands import restore_points
from headgate.usecases.restore_points.list_points import PointList, PointRow


def shown(location: str | None, bytes_: int) -> PointList:
    row = PointRow(
        id="p-1",
        time="2026-11-27T10:00:00Z",
        made_at="2026-11-27T10:00:00Z",
        batch=None if location is None else 3,
        query_id=None,
        watermark=None,
        location=location,
        offsets={"orders": {0: 5}},
        files=0,
        bytes=bytes_,
        seconds=0.1,
    )
    return PointList(
        pipeline="q", points=(row,), held_bytes=0, bytes=bytes_, max_bytes=10**9,
        every_seconds=None, keep_seconds=60.0,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("location", "words", "others"),
    [
        (None, "1 restore point, only with offsets", "Spark"),
        (
            "/ck/p",
            "up to 2 kB after Spark deletes the files that they share with the checkpoint",
            "only with offsets",
        ),
    ],
)
def test_points_without_a_checkpoint_take_no_disk_space(capsys, location, words, others):
    restore_points._say(shown(location, 2_000 if location else 0), {})
    said = capsys.readouterr().out
    assert words in said and others not in said
