"""What is large is read in a process of its own; what goes wrong there is one sentence here."""

from __future__ import annotations

import os
import pickle
import time
from pathlib import Path

import pytest

from headgate.errors import EvidenceError, UnreachableError
from headgate.ui.shared import read_in_background
from headgate.ui.shared.read_in_background import is_small, read_apart, size_of
from headgate.usecases.evidence.survey_evidence import survey_evidence

pytestmark = pytest.mark.slow

EXPLAIN = "== Physical Plan ==\n*(1) Project [k#1]\n+- *(1) Scan ExistingRDD[k#1]\n"


@pytest.fixture
def large(tmp_path, monkeypatch):
    """Evidence that counts as large."""
    monkeypatch.setattr(read_in_background, "SMALL", 10)
    file = tmp_path / "explain.txt"
    file.write_text(EXPLAIN)
    return str(file)


def test_what_is_small_is_read_here(tmp_path):
    assert read_apart(os.getpid, evidence=[]) == os.getpid()


def test_what_is_large_is_read_elsewhere(large):
    assert read_apart(os.getpid, evidence=[large]) != os.getpid()


def test_both_ways_say_the_same(large, monkeypatch):
    apart = read_apart(survey_evidence, [large], evidence=[large])
    monkeypatch.setattr(read_in_background, "SMALL", 1 << 20)
    assert read_apart(survey_evidence, [large], evidence=[large]) == apart
    assert apart.words == "simple explain, 1 query plan"


def test_an_error_of_the_other_process_is_one_here(large):
    from headgate.usecases.evidence.read_version import read_version

    missing = str(Path(large).parent / "missing")
    with pytest.raises(EvidenceError, match="missing"):
        read_apart(read_version, [missing], evidence=[large])


def test_a_process_that_dies_is_one_sentence(large):
    with pytest.raises(EvidenceError, match=r"explain\.txt could not be read completely"):
        read_apart(os._exit, 9, evidence=[large])


def test_what_never_ends_is_given_up(large, monkeypatch):
    monkeypatch.setattr(read_in_background, "LONGEST", 1)
    with pytest.raises(EvidenceError, match="took longer than"):
        read_apart(time.sleep, 60, evidence=[large])


def test_an_unreachable_place_stays_one(large):
    from headgate.errors import HeadgateError

    work = read_in_background._work(pickle.dumps((_unreachable, (), {})))
    assert isinstance(pickle.loads(work), UnreachableError)
    assert issubclass(UnreachableError, HeadgateError)


def _unreachable():
    raise UnreachableError("s3://x did not answer")


def test_sizes(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").write_bytes(b"x" * 100)
    assert size_of(str(tmp_path)) == 100
    (tmp_path / "offsets").mkdir()
    assert size_of(str(tmp_path)) == 0
    assert size_of("http://driver:4040") == size_of("a\0b") == 0
    assert is_small([str(tmp_path / "a")])


def test_one_file_of_no_known_kind_spoils_no_others(tmp_path):
    good, bad = tmp_path / "explain.txt", tmp_path / "query.py"
    good.write_text(EXPLAIN)
    bad.write_text("print(1)")
    found = survey_evidence([str(good), str(bad)])
    assert found.problem is None and found.version is not None
    assert [p.words for p in found.pieces] == ["simple explain, 1 query plan", None]
    assert found.left_out == (f"{bad} isn't evidence",)
    alone = survey_evidence([str(bad)])
    assert alone.version is None and "Formats tried: explain text" in (alone.problem or "")
