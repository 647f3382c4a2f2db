"""The verdict on what two versions of a Kafka Streams application wrote."""

from __future__ import annotations

import struct
from dataclasses import replace

import pytest

from headgate.text.secrets import MASK
from headgate.twin.judge_streams import judge_streams
from headgate.twin.streams_bytes import shown, shown_key
from headgate.twin.streams_experiment import Start, StreamsExperiment

OUT, SIDE = "out", "side"
KEYS = [f"k{i}".encode() for i in range(12)]


def start(values, stores=None, topic=OUT, **more):
    """A start that wrote these values, one a key, and left these stores."""
    rows = [(k, str(v).encode()) for k, v in zip(KEYS, values, strict=True)]
    stores = {n: {(0, k): str(v).encode() for k, v in zip(KEYS, found, strict=True)}
              for n, found in (stores or {}).items()}  # fmt: skip
    updates = {n: len(found) for n, found in stores.items()}
    return Start(how="resumes", outputs={topic: rows}, stores=stores, updates=updates, **more)


def refused(stage, *causes):
    return Start(how="refuses", causes=causes, stage=stage)


ONES, TWOS, THREES = ([n] * 12 for n in (1, 2, 3))
COUNTS = range(12)
SAME = frozenset({"counts"})
EQUAL = StreamsExperiment(
    before_a=start(ONES, {"counts": COUNTS}),
    after_a=start(ONES, {"counts": COUNTS}),
    resumed=start(TWOS, {"counts": COUNTS}),
    own=start(TWOS, {"counts": COUNTS}),
    names=(SAME, SAME),
)


def differing(**more):
    """An experiment whose outputs of B differ, and are the same in every run of the new version."""
    made = {"resumed": start(ONES), "own": start(TWOS), "bare": start(THREES)} | more
    after_a = made.get("after_a", EQUAL.after_a)
    return replace(EQUAL, again_a=after_a, again=made["own"], **made)


def outcome(run):
    return judge_streams(run).outcome


def test_equal_outputs_resume():
    found = judge_streams(EQUAL)
    assert (found.outcome, found.mixed) == ("resumes", False)
    assert {o.operator: (o.rows_before, o.rows_after) for o in found.operators} == {
        "store counts": (12, 12),
        "output topic out": (12, 12),
    }


def test_the_same_before_the_restart_and_not_after_it_is_wrong_with_a_key_and_both_values():
    found = judge_streams(differing())
    assert found.outcome == "silently_wrong"
    assert found.counterexample.key == {"topic": OUT, "key": "k0"}
    assert (found.counterexample.before, found.counterexample.after) == ("1", "2")


def test_stores_that_lost_their_names_are_told():
    old = replace(EQUAL.before_a, stores={"one": {(0, b"k"): b"1"}})
    new = replace(EQUAL.after_a, stores={"two": {(0, b"k"): b"1"}})
    names = (frozenset({"one"}), frozenset({"two"}))
    why = judge_streams(differing(before_a=old, after_a=new, names=names)).why
    assert "no longer reads store one (1 key), and store two starts empty" in why


def test_several_stores_that_lost_their_names_are_told_in_the_plural():
    row = {(0, b"k"): b"1"}
    old = replace(EQUAL.before_a, stores={"one": row, "two": row})
    new = replace(EQUAL.after_a, stores={"three": row, "four": row})
    names = (frozenset({"one", "two"}), frozenset({"three", "four"}))
    why = judge_streams(differing(before_a=old, after_a=new, names=names)).why
    assert "reads stores one and two (2 keys), and stores four and three start empty" in why


def test_other_results_by_intent_mix_history():
    found = judge_streams(differing(after_a=start(THREES, {"counts": COUNTS})))
    assert (found.outcome, found.mixed) == ("resumes", True)


def test_outputs_like_those_without_any_state_are_wrong():
    run = differing(after_a=start(THREES, {"counts": COUNTS}), bare=start(ONES))
    assert outcome(run) == "silently_wrong"


def test_the_same_last_value_of_each_key_resumes():
    twice = start(TWOS)
    twice = replace(twice, outputs={OUT: [*twice.outputs[OUT], *twice.outputs[OUT]]})
    run = differing(resumed=twice, after_a=start(THREES, {"counts": COUNTS}), bare=start(ONES))
    assert (outcome(run), judge_streams(run).mixed) == ("resumes", False)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"a": COUNTS, "b": [7] * 12}, {"a": [7] * 12, "b": COUNTS}),
        ({"a": COUNTS, "gone": [7] * 12}, {"a": [7] * 12}),
    ],
)
def test_a_store_with_the_rows_of_another_one_is_wrong(old, new):
    names = frozenset(old), frozenset(new)
    run = differing(before_a=start(ONES, old), after_a=start(THREES, new), names=names)
    assert outcome(run) == "silently_wrong"
    assert "has the rows that store" in judge_streams(run).why


def test_a_store_with_other_keys_is_wrong():
    old, new = start(ONES, {"counts": COUNTS}), start(THREES, {"counts": COUNTS})
    moved = {(0, b"x" + key): value for (_, key), value in new.stores["counts"].items()}
    run = differing(before_a=old, after_a=replace(new, stores={"counts": moved}))
    assert outcome(run) == "silently_wrong"


def test_an_output_that_only_the_new_version_has_starts_at_the_restart():
    resumed, own = start(ONES, topic=SIDE), start(TWOS, topic=SIDE)
    run = differing(before_a=start(ONES), after_a=start(ONES), resumed=resumed, own=own)
    assert outcome(run) == "resumes"
    assert "wrote nothing to topic side" in judge_streams(run).why


def test_outputs_that_differ_between_equal_runs_are_unknown():
    run = replace(differing(), again=start(THREES))
    assert outcome(run) == "unknown"
    assert judge_streams(run).question


def test_a_difference_that_is_much_larger_than_chance_counts():
    nearly = [9, *TWOS[1:]]
    assert outcome(replace(differing(), again=start(nearly))) == "silently_wrong"


CAUSE = "org.apache.kafka.streams.errors.StreamsException: no"


def test_a_refusal_has_its_class():
    run = replace(EQUAL, resumed=refused("batch", CAUSE, "java.lang.Error: why"))
    found = judge_streams(run)
    assert found.outcome == "refuses"
    assert found.refusal.error_class == "org.apache.kafka.streams.errors.StreamsException"
    assert found.refusal.condition == "java.lang.Error"


def test_a_version_that_also_fails_without_state_is_unknown():
    failed = refused("batch", CAUSE)
    assert outcome(replace(EQUAL, resumed=failed, after_a=failed, own=failed)) == "unknown"
    assert outcome(replace(EQUAL, after_a=failed, own=failed)) == "unknown"
    assert outcome(replace(EQUAL, before_a=failed)) == "unknown"


def test_a_version_that_never_starts_is_refused():
    failed = refused("build", CAUSE)
    assert outcome(replace(EQUAL, resumed=failed, after_a=failed, own=failed)) == "refuses"


def test_a_start_without_end_is_unknown():
    late = Start(how="unknown", question="Does it need more time?")
    assert judge_streams(replace(EQUAL, own=late)).question == "Does it need more time?"


def test_what_no_record_reached_is_unknown():
    empty = replace(EQUAL.after_a, updates={"counts": 12, "other": 0})
    assert outcome(replace(EQUAL, after_a=empty)) == "unknown"
    assert outcome(replace(EQUAL, sinks=frozenset({OUT, SIDE}))) == "unknown"
    assert outcome(replace(EQUAL, sinks=frozenset({OUT}))) == "resumes"
    few = replace(EQUAL.own, outputs={OUT: EQUAL.own.outputs[OUT][:3]})
    assert outcome(replace(EQUAL, own=few, resumed=few)) == "unknown"


def test_a_sample_is_masked():
    example = judge_streams(replace(differing(), is_sampled=True)).counterexample
    assert example.masked
    assert example.key == {"topic": OUT, "key": MASK}
    assert (example.before, example.after) == (MASK, MASK)


def test_a_deleted_key_is_as_one_that_never_was():
    run = differing(after_a=start(THREES, {"counts": COUNTS}), bare=start(ONES))
    deleted = {OUT: [*run.own.outputs[OUT], (b"k99", b"1"), (b"k99", None)]}
    assert outcome(replace(run, resumed=replace(run.resumed, outputs=deleted))) == "resumes"


AT = 1_767_600_000_000


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (None, None),
        (b"abc", "abc"),
        (struct.pack(">q", 42), "42"),
        (struct.pack(">i", -3), "-3"),
        (b"\xff\x00\x01", "0xff0001"),
    ],
)
def test_bytes_are_shown(raw, text):
    assert shown(raw) == text


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"a" + struct.pack(">qi", AT, 0), "a @ 2026-01-05T08:00:00Z"),
        (
            b"a" + struct.pack(">qq", AT + 60_000, AT),
            "a @ 2026-01-05T08:00:00Z to 2026-01-05T08:01:00Z",
        ),
        (b"plain key that is long", "plain key that is long"),
    ],
)
def test_keys_of_windows_are_shown_with_their_times(raw, text):
    assert shown_key(raw) == text
