"""Twin runs of Kafka Streams by the command line, on real brokers and JVMs of their own."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from headgate.cli.main import headgate
from headgate.text.secrets import MASK

pytestmark = pytest.mark.kafka
SERDE = ("--serde", "rehearsed-in=string:string")
LEAST = ("--rows", "100")


@pytest.fixture
def twin(rehearsed_jar, tmp_path, monkeypatch):
    """Call `headgate rehearse` with both versions in one jar; return the finished command."""
    monkeypatch.chdir(tmp_path)
    scratch = tmp_path / "scratch"
    scratch.mkdir()

    def call(after: str, *more: str, before: str = "Rehearsed#counts"):
        jars = ["--before-jar", str(rehearsed_jar), "--jar", str(rehearsed_jar)]
        given = ["--before", before, "--after", after, "--scratch", str(scratch)]
        done = CliRunner().invoke(headgate, ["rehearse", *jars, *given, *LEAST, *more])
        assert list(scratch.iterdir()) == []
        return done

    return call


@pytest.mark.long
def test_a_harmless_change_resumes(twin):
    done = twin("Rehearsed#filtered", *SERDE, "--format", "json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert (found["outcome"], found["engine"]["outcome"]) == ("resumes", "resumes")
    store = found["coverage"]["operators"][0]
    assert store["id"] == "store counts"
    assert store["rows_before"] == store["rows_after"] > 50
    assert found["engine"]["streams_version"].startswith("4.")
    assert found["counterexample"] is None


@pytest.mark.long
def test_a_renamed_store_is_wrong_with_a_key_and_both_values(twin):
    done = twin("Rehearsed#renamed", *SERDE, "--format", "json")
    assert done.exit_code == 1, done.output
    found = json.loads(done.stdout)
    assert found["outcome"] == found["engine"]["outcome"] == "silently_wrong"
    assert "TWN012" in {f["rule"] for f in found["findings"]}
    example = found["counterexample"]
    assert example["key"]["topic"] == "rehearsed-out"
    # The count goes on at what it was, or begins anew.
    assert 0 < int(example["before"]) < int(example["after"])
    assert example["where"]


@pytest.mark.long
def test_a_refusal_has_the_engines_class(twin):
    done = twin("Rehearsed#texts", *SERDE, "--format", "json")
    assert done.exit_code == 1, done.output
    found = json.loads(done.stdout)
    assert found["outcome"] == found["engine"]["outcome"] == "refuses"
    assert found["engine"]["error_class"] == "org.apache.kafka.streams.errors.StreamsException"


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("Rehearsed#counts", "Rehearsed#raises", "new version Rehearsed#raises can't be built"),
        ("Rehearsed#raises", "Rehearsed#counts", "old version Rehearsed#raises can't be built"),
        ("Rehearsed#counts", "Rehearsed#waits", "has not returned a topology after 8 s"),
    ],
)
@pytest.mark.long
def test_a_version_whose_code_fails_or_waits_is_unknown(twin, tmp_path, before, after, said):
    file = tmp_path / "disagree.json"
    more = ("--format", "json", "--timeout", "8", "--disagreements", str(file))
    done = twin(after, *SERDE, *more, before=before)
    assert done.exit_code == 1, done.output
    found = json.loads(done.stdout)
    assert (found["outcome"], found["engine"]["outcome"]) == ("unknown", "unknown")
    assert said in found["engine"]["why"] and found["engine"]["question"]
    assert json.loads(file.read_text())["engine"]["outcome"] == "unknown"


@pytest.mark.long
def test_a_function_in_other_words_is_answered_by_two_runs(twin):
    more = (*SERDE, "--format", "json")
    done = twin("Rehearsed#addedOtherwise", *more, before="Rehearsed#added")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert [one["rule"] for one in found["lowered"]] == ["KST000"]
    assert len(set(found["lowered"][0]["seeds"])) == 2


@pytest.mark.long
def test_a_function_with_another_meaning_stays_open(twin):
    done = twin("Rehearsed#lengths", *SERDE, "--format", "json", before="Rehearsed#added")
    assert done.exit_code == 1, done.output
    found = json.loads(done.stdout)
    assert (found["outcome"], found["lowered"]) == ("unknown", [])


@pytest.mark.long
def test_a_sample_needs_no_serdes_and_is_masked(twin, tmp_path):
    lines = [{"topic": "rehearsed-in", "key": f"card-{n % 7}", "value": "4711"} for n in range(20)]
    sample = tmp_path / "sample.jsonl"
    sample.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    done = twin("Rehearsed#renamed", "--sample", str(sample), "--format", "markdown")
    assert done.exit_code == 1, done.output
    assert MASK in done.stdout
    assert "sampled records" in done.stdout
    assert "card-" not in done.output and "4711" not in done.output


@pytest.mark.long
def test_without_a_type_it_asks_for_a_sample(twin):
    done = twin("Rehearsed#filtered")
    assert done.exit_code == 2
    assert "Pass a sample with --sample FILE" in " ".join(done.output.split())


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--offline"], "--offline needs --state-dir"),
        (["--query", "q"], "--before-jar is for Kafka Streams: give only one"),
        (["--serde", "orders"], "for --serde: expected TOPIC=KEY:VALUE"),
    ],
)
def test_options_that_do_not_fit_are_refused(twin, more, said):
    done = twin("Rehearsed#filtered", *more)
    assert done.exit_code == 2
    assert said in " ".join(done.output.split())


def test_options_of_a_twin_run_need_both_jars(rehearsed_jar):
    given = ["--after", "Rehearsed#counts", "--before-jar", str(rehearsed_jar)]
    done = CliRunner().invoke(headgate, ["rehearse", *given])
    assert done.exit_code == 2 and "--jar" in done.output
