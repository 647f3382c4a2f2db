"""Checkpoints that Headgate writes keep owner and mode: the query's account must write them."""

from __future__ import annotations

import os
import stat

import pytest

from headgate.gateway.checkpoint.folders import copy_tree
from headgate.gateway.checkpoint.history import HISTORY
from headgate.gateway.checkpoint.rewind_copy import copy_to_batch

OWNER = (54321, 54322)


@pytest.fixture
def checkpoint(tmp_path):
    folder = tmp_path / "checkpoint"
    for name in ("offsets/0", "offsets/1", "commits/0", "commits/1", "state/0/0/1.delta"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("v1\n{}\n{}")
        (folder / name).chmod(0o640)
    (folder / "metadata").write_text('{"id":"q"}')
    for path in (folder, *folder.rglob("*")):
        if path.is_dir():
            path.chmod(0o750)
        os.chown(path, *OWNER)
    return folder


def facts(folder) -> dict[str, tuple[int, int, int]]:
    found = ((p, p.stat()) for p in (folder, *folder.rglob("*")))
    return {
        str(p.relative_to(folder)): (s.st_uid, s.st_gid, stat.S_IMODE(s.st_mode))
        for p, s in found
        if "1" not in p.name and p.name != HISTORY
    }


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to another account")
@pytest.mark.parametrize("how", ["copy", "rewound"])
def test_owner_and_mode_stay(tmp_path, checkpoint, how):
    copy = tmp_path / "copy"
    if how == "copy":
        copy_tree(checkpoint, copy)
    else:
        copy_to_batch(checkpoint, copy, 0, query_id="new")
    assert facts(copy) == facts(checkpoint)
    assert {p.stat().st_uid for p in copy.rglob("*")} == {OWNER[0]}
