"""The table of evidence kinds: each has words, and what reads like a log is one."""

import pytest

from headgate.model.evidence_kinds import HISTORIES, LOGS, OF_KAFKA_STREAMS, TRIED, EvidenceKind
from headgate.model.version import Engine
from headgate.parse.evidence.recognise import Piece
from headgate.views.words.evidence import piece_words


@pytest.mark.parametrize("kind", EvidenceKind)
def test_a_kind_has_words_of_its_own(kind):
    assert [k for k in EvidenceKind if k.words == kind.words] == [kind]
    if kind not in (EvidenceKind.EXPLAIN, EvidenceKind.PROGRESS):
        assert piece_words(Piece(kind, "x", None)) == kind.words


def test_what_has_a_history_is_a_log_of_spark():
    assert {EvidenceKind.EVENT_LOG, EvidenceKind.WATCH} == HISTORIES
    assert {*HISTORIES, EvidenceKind.REST} == LOGS
    assert {kind.engine for kind in LOGS} == {Engine.SPARK}
    assert "event-log" in LOGS and not OF_KAFKA_STREAMS & LOGS


def test_only_what_one_file_shows_is_tried():
    assert "query progress" in TRIED
    assert EvidenceKind.CLUSTER.words not in TRIED and EvidenceKind.REST.words not in TRIED
