"""A driver that doesn't hear a request to stop, and one that hears it and doesn't end in time."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from headgate.errors import StepError
from headgate.gateway.adapters.driver_messages import DriverRequests
from headgate.gateway.adapters.run_context import RunContext
from headgate.model.commands import WatchControl
from headgate.model.registered_pipelines import Pipeline, Registry
from headgate.model.version import Engine
from headgate.parse.spark.watch.read import Life


class Drivers:
    """Tells of one run; `answers` is what its driver says to whatever request is written."""

    def __init__(self, folder: Path, answers: str | None) -> None:
        self._folder, self._answers = folder, answers

    def life(self, _pipeline: Pipeline) -> Life:
        """Return the run, which continues."""
        now = datetime.fromtimestamp(time.time(), UTC).isoformat()
        found = Life(query_id="q", run_id="r", told_at=now)
        sent = [p.stem for p in self._folder.rglob("*.json")]
        return replace(found, answers={n: self._answers for n in sent if self._answers})


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        (None, "did not respond to the stop request within 30 s. Check that the driver calls"),
        ("stopping", "received the stop request, but the query did not stop within 180 s. Check"),
        ("refused: the request has expired", "refused the stop request: the request has expired"),
        ("failed: TypeError", "could not stop the query: TypeError"),
    ],
)
def test_what_a_driver_did_not_do_in_time_is_said(tmp_path, answers, said):
    pipeline = Pipeline(name="orders", engine=Engine.SPARK, watch=str(tmp_path))
    context = RunContext(registry=Registry(pipelines=(pipeline,)), home=tmp_path, run="3")
    with pytest.raises(StepError, match=f"^the Spark driver (of orders )?{said}"):
        DriverRequests(context, Drivers(tmp_path, answers)).stop(pipeline, WatchControl())
