"""Ask what a rehearsal is to start: which versions, on which checkpoint, with which batch.

A page starts only functions of modules that are beside headgate.toml or that it registers, and
reads only checkpoints that it names: whoever sees a page must not be able to run anything else
that the server can.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from headgate.errors import EvidenceError, HeadgateError
from headgate.gateway.files.evidence_files import is_uri
from headgate.model.evidence_kinds import EvidenceKind
from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Version
from headgate.ui.rehearsal.queue import Order
from headgate.ui.shared import markup
from headgate.ui.shared.error_message import show_problem
from headgate.ui.shared.keys import CompareKey
from headgate.ui.shared.server_paths import REHEARSE, allowed, registered, startable
from headgate.usecases.context import Context

NONE = "No old version"
GENERATED = "No checkpoint: generated rows for both versions"
_BATCHES = {"real": "Process one batch of new rows", "none": "Start without input"}
_EXPLAINED = {
    "real": "Reads at most 1,000 records per Kafka source and 10 files per folder. Commits no "
    "offsets.",
    "none": "Checks the query plan, the state and the state schema, but no offsets and no topics.",
}
_NEW = (
    "Function that builds the new version, as `module:function`. The module must be in the folder "
    "of headgate.toml, or be the module of a registered `entry_point`."
)
_OLD = (
    "Headgate runs the old version on the same input and compares the outputs. To test the "
    "rollback, the old version then runs on the copy that the new version changed."
)
_COPY = (
    "Spark runs on a copy of the checkpoint. Headgate compares hashes to verify that the original "
    "is unchanged. With generated rows, Spark reads no source."
)
_BATCH = (
    "Input of the new version. Headgate replaces the sink, so Spark writes nothing to the real "
    "target."
)
_FUNCTION = re.compile(r"[\w.]+:\w+$")


def captured_function(version: Version | None) -> str | None:
    """Return the `module:function` that a version was captured from, None where it was not."""
    paths = (
        e.path for e in (version.evidence if version else ()) if e.kind == EvidenceKind.CAPTURE
    )
    return next((p for p in paths if _FUNCTION.match(p)), None)


def ask_order(
    context: Context,
    pipeline: Pipeline,
    before: Version | None,
    after: Version | None,
    last: Order | None,
) -> Order | None:
    """Show the choices, as they were made last; return the order once it is placed and allowed."""
    new, old, place, batches = st.columns([1.3, 1.3, 1.5, 2], gap="medium")
    functions = _functions(context, pipeline, before, after)
    usual = captured_function(after)
    with new:
        chosen = _pick("New version", functions, last.after if last else usual, _NEW,
                       CompareKey.REHEARSE_AFTER)  # fmt: skip
    with old:
        was = (last.before or NONE) if last else _usual_old(pipeline, before, usual)
        control = _pick("Old version", (NONE, *functions), was, _OLD, CompareKey.REHEARSE_BEFORE)
    with place:
        named = (p for p in registered(context, pipeline.name) if _may_be_checkpoint(p))
        places = (*named, GENERATED)
        was_there = (last.checkpoint or GENERATED) if last else None
        checkpoint = _pick("Checkpoint", places, was_there, _COPY, CompareKey.REHEARSE_CHECKPOINT)
    with batches:
        batch = _batch(last)
    if not st.button("Start rehearsal", key=CompareKey.REHEARSE, icon=":material/play_arrow:"):
        return None
    is_twin = checkpoint == GENERATED
    try:
        if is_twin and control in (None, NONE):
            raise EvidenceError("generated rows need two versions: choose an old version")
        return Order(
            pipeline=pipeline.name,
            after=startable(context, chosen or ""),
            before=None if control in (None, NONE) else startable(context, control or ""),
            checkpoint=None if is_twin else allowed(context, checkpoint or "", REHEARSE),
            batch=batch,
            query=pipeline.query,
        )
    except HeadgateError as error:
        show_problem(error)
        return None


def _functions(
    context: Context, pipeline: Pipeline, before: Version | None, after: Version | None
) -> tuple[str, ...]:
    """Return what may be started, the registered function first."""
    others = (p.entry_point for p in context.registry.pipelines if p.engine is pipeline.engine)
    found = (pipeline.entry_point, captured_function(after), captured_function(before), *others)
    return tuple(dict.fromkeys(f for f in found if f))


def _may_be_checkpoint(place: str) -> bool:
    """Whether a registered location may be a checkpoint; a remote one isn't checked."""
    return is_uri(place) or (Path(place) / "offsets").is_dir()


def _usual_old(pipeline: Pipeline, before: Version | None, new: str | None) -> str:
    """Return the old version's function, else the registered one, if it isn't the new one."""
    found = captured_function(before) or pipeline.entry_point
    return found if found and found != (new or pipeline.entry_point) else NONE


def _pick(word: str, options: Sequence[str], usual: str | None, why: str, key: str) -> str | None:
    shown = list(dict.fromkeys((*options, *([usual] if usual else []))))
    index = shown.index(usual) if usual else 0
    chosen = st.selectbox(
        word,
        shown,
        index=index if shown else None,
        key=key,
        accept_new_options=True,
        placeholder="module:function" if "ersion" in word else "registered checkpoint path",
    )
    st.html(markup.quiet(why))
    return chosen


def _batch(last: Order | None) -> str:
    words = list(_BATCHES)
    chosen = st.radio(
        "Batch",
        words,
        index=words.index(last.batch) if last else 0,
        format_func=_BATCHES.__getitem__,
        captions=[_EXPLAINED[word] for word in words],
        key=CompareKey.REHEARSE_BATCH,
        help=_BATCH,
        horizontal=True,
    )
    return chosen or words[0]
