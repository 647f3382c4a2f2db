"""What is said of dropped state where evidence lacks something; real runs: test_open_state.py."""

from __future__ import annotations

import pytest

from headgate.model.open_state import OpenState, OpenStore
from headgate.model.stateful_operators import OPERATOR_KINDS
from headgate.model.version import Engine, OperatorKind, StatefulOperator, Version
from headgate.reprocess.checkpoint.source_offsets import QueryPosition
from headgate.reprocess.scenarios.shared.lost_state import state_risks
from headgate.reprocess.scenarios.shared.state_losses import LOSSES, Holder, Mode, losses_of
from support.flat_ports import FlatPorts

MINUTE = 60_000


class PaperInspector(FlatPorts):
    """Knows what one checkpoint holds."""

    def __init__(self, *stores, unknown=None):
        self.stores, self.unknown = stores, unknown

    def open_state(self, location, batch):
        return OpenState(batch=batch, stores=self.stores, unknown=self.unknown)


def store(rows, *, operator=0, store="default", **more):
    return OpenStore(operator=operator, name="", store=store, rows=rows, **more)


def said(inspector, *words, version=None, point=None, batch=7):
    position = QueryPosition(batch=batch, operators=words, watermark_ms=0)
    return state_risks(inspector, "/ck", position, version, point=point)


def version(mode=None, **operator):
    known = (StatefulOperator(operator_id=0, **operator),) if operator else ()
    return Version(engine=Engine.SPARK, stateful=known, output_mode=mode)


def test_without_the_output_mode_each_mode_is_said_and_none_is_chosen():
    rows = store(3, windowed=True, first_ms=0, last_ms=2 * MINUTE)
    found = said(PaperInspector(rows), "stateStoreSave")
    text = found.risks[1]
    assert text.startswith(
        "Unknown: operator 0 (stateStoreSave, windowed aggregation): the output mode"
    )
    for mode in ("Append", "Update", "Complete"):
        assert f"{mode} mode: 3 " in text
    assert "event time 1970-01-01T00:00:00.000Z to 1970-01-01T00:02:00.000Z" in text
    assert found.rows[0]["output_mode"] is None and found.rows[0]["rows"] == 3


def test_without_the_join_type_each_is_said():
    sides = store(2, store="left-x", unmatched=1), store(5, store="right-x", unmatched=4)
    (_, text) = said(PaperInspector(*sides), "symmetricHashJoin", version=version("append")).risks
    assert text.startswith("Unknown") and "the join type is unknown" in text
    for holder in (Holder.INNER_JOIN, Holder.OUTER_JOIN, Holder.SEMI_JOIN):
        assert holder[1:] in text


@pytest.mark.parametrize(
    ("join", "waiting"), [("LeftOuter", 1), ("RightOuter", 4), ("FullOuter", 5), ("left_outer", 1)]
)
def test_only_rows_of_an_outer_side_become_outer_rows(join, waiting):
    sides = store(2, store="left-x", unmatched=1), store(5, store="right-x", unmatched=4)
    known = version("append", kind=OperatorKind.STREAM_JOIN, join_type=join)
    (_, text) = said(PaperInspector(*sides), "symmetricHashJoin", version=known).risks
    assert "7 buffered rows" in text and f"Rows without a match so far: {waiting}." in text


def test_a_stored_version_of_other_operators_says_nothing_of_these():
    other = version(None, kind=OperatorKind.DEDUPLICATE, output_mode="append")
    (_, text) = said(PaperInspector(store(1)), "stateStoreSave", version=other).risks
    assert text.startswith("Unknown") and "the output mode is unknown" in text


def test_an_empty_state_is_no_loss():
    (_, text) = said(PaperInspector(store(0)), "dedupe", version=version("append")).risks
    assert text.startswith("Operator 0 (dedupe, deduplication, append mode)")
    assert text.endswith("its state is empty, so nothing is lost")


def test_a_state_that_was_not_read_is_unknown_with_the_reason():
    found = said(PaperInspector(unknown="Spark did not end"), "dedupe", version=version("append"))
    assert any(r.startswith("Unknown:") and r.endswith("Spark did not end") for r in found.risks)
    assert "an unknown number of known keys will be dropped" in found.risks[-1]
    assert found.rows[0]["rows"] is None


@pytest.mark.parametrize(
    "word", ["applyInPandasWithState", "transformWithStateExec", "newOperator"]
)
def test_what_code_or_an_unknown_operator_keeps_is_unknown(word):
    (_, text) = said(PaperInspector(store(4)), word, version=version("update")).risks
    assert text.startswith("Unknown: operator 0") and "4 rows of user-defined state" in text


def test_a_query_without_state_or_without_a_batch_loses_none():
    assert said(PaperInspector()).risks == ()
    (text,) = said(PaperInspector(), "dedupe", batch=None).risks
    assert "no state to lose" in text


def test_one_row_is_one():
    (_, text) = said(PaperInspector(store(1)), "dedupe", version=version("append")).risks
    assert ": 1 known key will be dropped" in text


def test_every_operator_of_spark_has_a_row_in_each_mode_that_spark_starts():
    assert set(OPERATOR_KINDS.values()) == set(OperatorKind) - {OperatorKind.UNKNOWN}
    assert {holder for holder, _ in LOSSES} == set(Holder)
    for holder in Holder:
        for mode in (Mode.APPEND, Mode.UPDATE, Mode.COMPLETE):
            assert losses_of(holder, mode), (holder, mode)
