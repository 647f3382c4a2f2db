"""A risk is one text: for the sentence of a plan, for the docs, and to find the sentence again."""

import pytest

from headgate.text.risk import Risk, without

SKIPPED = Risk("{pipeline} skips {records}{advice}. (See the log.)", advice=": pass --all")


def test_a_gap_that_is_none_has_the_word_of_the_docs_and_a_gap_that_is_forgotten_fails():
    said = SKIPPED(pipeline="q", records="3 records", advice=None)
    assert said == "q skips 3 records: pass --all. (See the log.)"
    assert SKIPPED(pipeline="q", records=3, advice="") == "q skips 3. (See the log.)"
    assert SKIPPED.shown == "PIPELINE skips RECORDS: pass --all. (See the log.)"
    with pytest.raises(KeyError, match="advice"):
        SKIPPED(pipeline="q", records=3)


@pytest.mark.parametrize("pipeline", ["q", "a.b", "skips", "q skips 2"])
def test_a_sentence_is_of_its_risk_whatever_fills_the_gaps(pipeline):
    said = SKIPPED(pipeline=pipeline, records="1 record\nof t", advice=None)
    assert SKIPPED.is_of(said)
    assert SKIPPED.is_of(said, pipeline=pipeline)
    assert not SKIPPED.is_of(said, pipeline="other")
    assert not SKIPPED.is_of(f"{said} More.")
    assert not SKIPPED.is_of("axb skips 1. (See the log.)", pipeline="a.b")


def test_what_other_risks_say_stays():
    said = [SKIPPED(pipeline=p, records=n, advice="") for p in "ab" for n in (1, 2)]
    assert without([*said, "c"], SKIPPED, pipeline="a") == (*said[2:], "c")
    assert without([*said, "c"], Risk("c"), SKIPPED) == ()
