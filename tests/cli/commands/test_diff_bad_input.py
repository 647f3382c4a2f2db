"""`headgate diff` over evidence that is cut, foreign, empty, doubled or of two engines."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from headgate.cli.main import headgate

CASES = Path(__file__).parents[2] / "cases"
MIN, UNCHANGED = CASES / "spark" / "agg_min_to_max", CASES / "spark" / "conf_compression_codec"
STREAMS = CASES / "kafka_streams" / "U01_filter_condition"


def run(*arguments):
    return CliRunner().invoke(headgate, ["diff", *map(str, arguments)])


def diff(before, after, *options):
    sides = [f"--before={b}" for b in before] + [f"--after={a}" for a in after]
    result = run(*sides, "--fail-on=none", "--format=json", *options)
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_versions_of_different_engines_are_a_question():
    answer = diff([MIN / "before"], [STREAMS / "after"])
    assert answer["outcome"] == "unknown"
    assert answer["findings"][0]["rule"] == "EVD003"
    assert answer["findings"][0]["question"]


@pytest.mark.parametrize("words", ["", "refuses,,unknown", ","])
def test_a_gate_without_a_word_is_a_mistake_and_not_open(words):
    result = run(f"--before={MIN / 'before'}", f"--after={MIN / 'after'}", "--fail-on", words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "expected `none`, or a comma-separated list" in result.stderr


def test_an_empty_folder_and_a_topology_of_nothing_are_one_sentence(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "topology.txt").write_text("Topologies:\n")
    for nothing in ("folder", "topology.txt"):
        result = run(f"--before={tmp_path / nothing}", f"--after={MIN / 'after'}")
        assert (result.exit_code, result.stdout) == (2, "")
        assert "evidence" in result.stderr


def test_a_version_without_a_graph_is_never_called_harmless(tmp_path):
    bare = tmp_path / "bare.json"
    bare.write_text('{"schema": 1, "kind": "headgate-version", "version": {"engine": "spark"}}')
    assert diff([bare], [bare])["outcome"] == "unknown"
    assert diff([MIN / "before"], [bare])["outcome"] == "unknown"


@pytest.mark.parametrize("form", ["explain.txt", "formatted.txt", "logical.json"])
@pytest.mark.parametrize("share", [0.25, 0.5, 0.75, 0.97])
@pytest.mark.parametrize("case", [MIN, UNCHANGED], ids=lambda c: c.name)
def test_a_plan_that_was_cut_is_never_called_harmless(tmp_path, case, form, share):
    text = (case / "after" / form).read_text()
    part = tmp_path / form
    part.write_text(text[: int(len(text) * share)])
    result = run(f"--before={case / 'before'}", f"--after={part}", "--format=json")
    if result.exit_code == 2:
        assert "isn't evidence" in result.stderr or "ends early" in result.stderr
        return
    assert result.exit_code == 1, "without the rest nothing proves that it resumes"


def test_what_the_reader_could_not_read_is_said(tmp_path):
    text = (UNCHANGED / "after" / "explain.txt").read_text()
    in_the_source = text.index("StreamingRelation", text.index("== Analyzed")) + 40
    (tmp_path / "explain.txt").write_text(text[:in_the_source])
    answer = diff([UNCHANGED / "before"], [tmp_path / "explain.txt"])
    assert any(w.startswith("In the evidence of the new version: ") for w in answer["warnings"])
    assert {f["outcome"] for f in answer["findings"]} <= {"unknown", "no_effect", "resumes"}


def test_a_description_that_was_cut_is_never_called_harmless(tmp_path):
    text = (STREAMS / "after" / "describe.txt").read_text()
    (tmp_path / "describe.txt").write_text(text[: text.rindex("<--") - 8])
    answer = diff([STREAMS / "before"], [tmp_path / "describe.txt"])
    assert answer["outcome"] == "unknown"


def test_the_checkpoint_of_another_query_is_said():
    other = CASES / "spark" / "kafka_topic_add" / "before" / "checkpoint"
    answer = diff([other], [CASES / "spark" / "join_key_add" / "after"])
    assert answer["outcome"] == "refuses"
    assert "Check that both belong to the same pipeline." in answer["warnings"][0]
    kept = diff([MIN / "before"], [MIN / "after"])
    assert "same pipeline" not in str(kept["warnings"])


def test_a_checkpoint_beside_the_progress_of_another_query_is_said():
    other = CASES / "spark" / "kafka_topic_add" / "before" / "checkpoint"
    pieces = [other, MIN / "before" / "progress.json", MIN / "before" / "formatted.txt"]
    answer = diff(pieces, [MIN / "after"])
    assert any("the query progress is from query" in w for w in answer["warnings"])
    assert answer["outcome"] != "resumes"


def test_the_same_evidence_on_both_sides_is_said():
    answer = diff([UNCHANGED / "before"], [UNCHANGED / "before"])
    assert answer["changes"] == []
    assert "The old and the new version have the same evidence" in answer["warnings"][0]


def test_evidence_that_is_given_twice_counts_once():
    once = diff([MIN / "before"], [MIN / "after"])
    twice = diff([MIN / "before"] * 2, [MIN / "after"] * 2)
    assert twice == once
