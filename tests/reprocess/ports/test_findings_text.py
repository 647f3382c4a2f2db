"""Findings become one text with one sign at its end."""

from dataclasses import replace

from headgate.reprocess.ports.evidence import Judged, said_findings

FAILS = Judged(rule="AGG001", outcome="refuses", why="The key changed.", closes=True)


def test_a_finding_ends_as_a_sentence():
    assert said_findings([FAILS]) == "AGG001 (fails to start): The key changed."


def test_a_question_at_the_end_keeps_its_sign():
    asked = replace(FAILS, question="Is the column unique?")
    assert said_findings([FAILS, asked]).endswith("open question: Is the column unique?")
