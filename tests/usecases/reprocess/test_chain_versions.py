"""What was observed of a query is completed by what was captured of it."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import pytest

from headgate.gateway.adapters.live import LiveInspector
from headgate.model.registered_pipelines import Pipeline, Registry
from headgate.model.version import Engine, Sink, Source, Version
from headgate.parse.evidence.version_file import fingerprint
from headgate.store import open_store
from headgate.store.rows import Origin
from headgate.store.sqlite_reader import open_soonest
from headgate.usecases.reprocess.complete_version import complete_version
from headgate.usecases.reprocess.rebuild_plan import known_versions

OPTIONS = {"startingOffsets": "earliest"}
CAPTURED = Version(
    engine=Engine.SPARK,
    sources=(Source(position=0, format="kafka", topics=("orders",), options=OPTIONS),),
    sink=Sink(format="kafka", target="results"),
    stateful=(),
)
CHECKPOINT = Version(
    engine=Engine.SPARK,
    sources=(Source(position=0, format="kafka", offsets={"orders": {"0": 7}}),),
)


@pytest.fixture
def kept(tmp_path):
    url = f"sqlite:///{tmp_path / 'h.db'}"

    def keep(version, origin):
        with closing(open_store(url)) as store:
            store.versions.add("q", version, fingerprint(version), origin=origin)

    def read():
        with closing(open_store(url)) as store, closing(open_soonest(url)) as reader:
            found = complete_version(store, "q")
            assert complete_version(reader, "q") == found
            return found

    return keep, read


def test_a_checkpoint_shows_neither_sink_nor_options(kept):
    keep, read = kept
    keep(CAPTURED, Origin.CAPTURED)
    keep(CHECKPOINT, Origin.OBSERVED)
    found = read()
    assert (found.sink, found.stateful) == (CAPTURED.sink, ())
    assert found.sources[0].options == OPTIONS


def test_what_the_running_query_shows_counts(kept):
    keep, read = kept
    keep(CAPTURED, Origin.CAPTURED)
    seen = replace(CHECKPOINT, sink=Sink(format="delta", target="/elsewhere"))
    keep(seen, Origin.OBSERVED)
    assert read().sink.format == "delta"


def test_a_capture_of_another_query_adds_nothing(kept):
    keep, read = kept
    other = replace(CAPTURED.sources[0], topics=("refunds",))
    keep(replace(CAPTURED, sources=(other,)), Origin.CAPTURED)
    keep(CHECKPOINT, Origin.OBSERVED)
    assert read().sink is None


def test_without_a_capture_or_a_version_nothing_is_added(kept):
    keep, read = kept
    keep(CHECKPOINT, Origin.OBSERVED)
    assert read().sink is None


def test_a_plan_knows_the_sink_also_after_a_worker_has_observed_the_checkpoint(kept, tmp_path):
    keep, _ = kept
    keep(CAPTURED, Origin.CAPTURED)
    keep(CHECKPOINT, Origin.OBSERVED)
    pipeline = Pipeline(name="q", engine=Engine.SPARK, checkpoint=str(tmp_path / "ck"))
    inspector = LiveInspector(Registry(pipelines=(pipeline,)), tmp_path)
    with closing(open_store(f"sqlite:///{tmp_path / 'h.db'}")) as store:
        version, _ = known_versions(store, inspector, "online-upgrade", "q")
    assert version.sink == CAPTURED.sink
