"""Rehearsals that run beside the pages: one after the other, none of them holds a page up."""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

import streamlit as st

from headgate.model.registry import Pipeline
from headgate.usecases.context import Context
from headgate.usecases.rehearse import Options, Rehearsal, rehearse


@dataclass(frozen=True, slots=True)
class Running:
    """A rehearsal that was asked for; `said` grows with each thing that it begins."""

    pipeline: str
    batch: str
    future: Future[Rehearsal]
    said: list[str]
    begun: float = field(default_factory=time.monotonic)

    @property
    def is_done(self) -> bool:
        """Whether it has ended, well or not."""
        return self.future.done()


@st.cache_resource(show_spinner=False)
def _threads() -> ThreadPoolExecutor:
    # Each has a JVM of its own: one at a time for everybody who looks.
    return ThreadPoolExecutor(1, thread_name_prefix="rehearsal")


def begin(context: Context, pipeline: Pipeline, batch: str) -> Running:
    """Ask for a rehearsal of a registered pipeline's entry point on its checkpoint."""
    said: list[str] = ["waiting for another rehearsal to end"]
    checkpoint, entry_point = str(pipeline.checkpoint), str(pipeline.entry_point)
    options = Options(batch=batch, query=pipeline.query)

    def work() -> Rehearsal:
        return rehearse(checkpoint, entry_point, context=context, options=options, say=said.append)

    return Running(pipeline.name, batch, _threads().submit(work), said)
