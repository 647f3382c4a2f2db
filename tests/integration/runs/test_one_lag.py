"""Every view shows one lag: of a query whose batch is in flight, of one that completed it."""

from __future__ import annotations

import json
import time
from types import SimpleNamespace

import pytest

from headgate.model.registered_pipelines import Pipeline, Registry
from headgate.model.version import Engine
from headgate.reprocess.steps.process.stop_start import StartPipeline
from headgate.store.rows import RunState
from headgate.ui.shared import cached_reads
from headgate.usecases.context import Context
from headgate.usecases.evidence.read_cluster import read_cluster
from headgate.usecases.landscape.read_lag import read_lag
from headgate.usecases.landscape.show_landscape import show_landscape
from headgate.usecases.runs import read_catch_up
from headgate.usecases.runs.read_catch_up import read_positions

pytestmark = pytest.mark.kafka


def logged(folder, batches, committed):
    """Write the logs of a query: the end of each batch, and which are committed."""
    for log in ("offsets", "commits"):
        (folder / log).mkdir(parents=True, exist_ok=True)
    (folder / "metadata").write_text('{"id":"5f3cbb0a-5a1e-4cb8-9d0b-1c2d3e4f5a6b"}')
    for batch, offsets in enumerate(batches):
        times = {"batchWatermarkMs": 0, "batchTimestampMs": int(time.time() * 1000), "conf": {}}
        lines = ("v1", json.dumps(times), json.dumps(offsets))
        (folder / "offsets" / str(batch)).write_text("\n".join(lines))
        if batch < committed:
            (folder / "commits" / str(batch)).write_text('v1\n{"nextBatchWatermarkMs":0}')


@pytest.mark.parametrize(("committed", "lag"), [(0, 6), (1, 4), (2, 0)])
def test_a_batch_in_flight_has_read_nothing_yet(
    tmp_path, broker, topic, produce, monkeypatch, committed, lag
):
    orders = topic("orders")
    produce(orders, list("abcdef"), partition=0)
    logged(tmp_path / "ck", [{orders: {"0": 2}}, {orders: {"0": 6}}][: committed + 1], committed)
    pipeline = Pipeline(name="city", engine=Engine.SPARK, checkpoint=str(tmp_path / "ck"))
    registry = Registry(bootstrap_servers=broker, pipelines=(pipeline,))
    context = Context(registry, f"sqlite:///{tmp_path / 'store.db'}", tmp_path)
    cluster = read_cluster(context)
    monkeypatch.setattr(read_catch_up, "_starts", lambda *_: {})
    start = StartPipeline(pipeline="city", stop=None, command="x", has_status=False)
    detail = SimpleNamespace(
        plan=SimpleNamespace(steps=(start,), pipeline="city"),
        row=SimpleNamespace(id="r", state=RunState.DONE),
    )
    # The Runs page and `headgate runs --follow`.
    assert read_positions(context, detail).left == lag
    if committed:
        # The landscape and its command; the Topology page.
        assert show_landscape(context, cluster).pipeline("city").lag == lag
        assert read_lag(context, "city", cluster).lag == lag
        monkeypatch.setattr(cached_reads, "cluster", lambda *_: SimpleNamespace(cluster=cluster))
        assert cached_reads.lag(context, "city").startswith(f"{lag} records, ")
