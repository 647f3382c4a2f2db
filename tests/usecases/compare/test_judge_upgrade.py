"""Which version an upgrade is judged against, and that it is still the one that runs."""

import shutil
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from headgate.errors import EvidenceError, RefusedError
from headgate.model.registered_pipelines import Pipeline, Registry
from headgate.model.version import Engine
from headgate.parse.evidence.version_file import fingerprint
from headgate.reprocess.ports.evidence import FAIL_ON
from headgate.store import open_store
from headgate.store.rows import Origin
from headgate.usecases.compare.compare_versions import read_side
from headgate.usecases.compare.judge_upgrade import judge_upgrade
from headgate.usecases.context import Context

CASE = Path(__file__).parents[2] / "cases" / "spark" / "agg_map_add"


@pytest.fixture
def context(tmp_path):
    """A query with a checkpoint, of which nothing is stored yet."""
    shutil.copytree(CASE / "before" / "checkpoint", tmp_path / "ck")
    pipeline = Pipeline(name="q", engine=Engine.SPARK, checkpoint=str(tmp_path / "ck"))
    registry = Registry(path=str(tmp_path / "headgate.toml"), pipelines=(pipeline,))
    return Context(registry, f"sqlite:///{tmp_path / 'headgate.db'}", tmp_path)


def store(context, version, origin):
    with closing(open_store(context.store_url)) as opened:
        return opened.versions.add("q", version, fingerprint(version), origin=origin)[0]


def judged(context, before=None):
    return judge_upgrade(context, "q", str(CASE / "after"), before, FAIL_ON)


def test_the_checkpoint_alone_is_no_version_that_could_change(context):
    found = judged(context)
    assert found.before == "" and found.compared == str(context.home / "ck")
    store(context, read_side((str(CASE / "before"),), None), Origin.OBSERVED)
    # What is seen for the first time meanwhile makes no other plan of it.
    assert judged(context, found.compared) == found


def test_what_was_seen_last_is_judged_at_the_place_of_its_checkpoint(context):
    known = read_side((str(CASE / "before"),), None)
    store(context, replace(known, name="first"), Origin.OBSERVED)
    store(context, known, Origin.OBSERVED)
    store(context, replace(known, name="next"), Origin.CAPTURED)
    found = judged(context)
    assert found.compared == "q@2" and found.before
    assert found.outcome == "resumes" and not found.closed


def test_a_version_that_was_seen_since_refuses(context):
    known = read_side((str(CASE / "before"),), None)
    store(context, known, Origin.OBSERVED)
    found = judged(context)
    store(context, replace(known, name="other"), Origin.OBSERVED)
    with pytest.raises(RefusedError, match="q@1 isn't the running version: q@2 was observed later"):
        judged(context, found.compared)


def test_a_version_with_other_sources_is_not_the_one_that_ran(context):
    known = read_side((str(CASE / "before"),), None)
    store(context, replace(known, sources=(*known.sources, *known.sources)), Origin.OBSERVED)
    with pytest.raises(EvidenceError, match="q@1 has 2 sources, but the checkpoint has 1"):
        judged(context)
