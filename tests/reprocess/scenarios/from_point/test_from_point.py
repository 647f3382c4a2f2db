"""Where offsets go from a point, and when that is refused; a world on paper gives the answers."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from paper_offsets import NOON, NOON_MS, PaperInspector, at, moves, part, plan

from headgate.errors import NotFoundError, RefusedError, ScenarioError
from headgate.model.cluster import Topic
from headgate.model.restore_points import RestorePoint
from headgate.reprocess.plan import dump_plan, load_plan
from headgate.reprocess.scenarios.build import build_plan, drift
from headgate.reprocess.steps.records.back_up_records import spans_of
from headgate.views.words.impact import impact_lines


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            {"to_earliest": True},
            {("orders", 0): (7, 2), ("orders", 1): (2, 0), ("clicks", 0): (5, 0)},
        ),
        ({"to_latest": True}, {("orders", 0): (7, 10), ("orders", 1): (2, 10)}),
        ({"to_offset": "4"}, {("orders", 0): (7, 4), ("orders", 1): (2, 4)}),
        ({"from_group": "h"}, {("orders", 0): (7, 3), ("orders", 1): (2, 9)}),
        ({"to_offsets": ["orders,1,6"]}, {("orders", 1): (2, 6)}),
        ({"to_offsets": ['"orders",1,6', " ", "orders,0,2"]}, {("orders", 0): (7, 2)}),
    ],
)
def test_each_point_is_found_in_every_partition(options, expected):
    found = plan(**options)
    assert found.blockers == ()
    shown = moves(found)
    assert {key: shown.get(key) for key in expected} == expected


def test_a_shift_leaves_empty_partitions_without_an_offset_alone():
    inspector = PaperInspector()
    inspector.known["clicks"] = Topic(name="clicks", id="c", partitions=(part(0), part(1, 50, 50)))
    made = plan(inspector, shift_by=-1)
    assert made.blockers == () and moves(made).get(("clicks", 1)) is None
    assert moves(made)["clicks", 0] == (5, 4)


def test_records_past_retention_are_named_only_if_the_target_is_the_earliest_offset():
    def said(**options):
        return [r for r in plan(**options).risks if "past retention" in r]

    # Of orders[0], the first two offsets are gone; it is at 7, orders[1] at 2.
    assert said(to_offsets=["orders,0,3", "orders,1,1"]) == []
    assert said(to_offsets=["orders,0,2"])[0].startswith("the first 2 offsets of orders are past")
    assert said(to_earliest=True)


def test_partitions_that_a_restore_point_lacks_keep_offsets_and_the_plan_says_what_that_leaves():
    def point(**offsets):
        return RestorePoint(id="p-1", pipeline="q", made_at="", source="g", offsets=offsets)

    def risks(of):
        made = build_plan(
            "from-point", "q", PaperInspector(), {"restore-point": "p-1"}, points={"q": (of,)}.get
        )
        return [r for r in made.risks if "has no offset for" in r]

    # orders[0] begins at 2, and the group is at 7; clicks[0] is at 5.
    (risk,) = risks(point(orders={1: 1}))
    assert risk.startswith(
        "restore point p-1 has no offset for clicks[0], orders[0], because q had"
    )
    assert "the pipeline has read up to 10 records of these partitions" in risk
    assert risks(point(orders={0: 2, 1: 1}, clicks={0: 5})) == []


def with_topics(*names):
    inspector = PaperInspector()
    inspector.known["other"] = Topic(name="other", id="x", partitions=(part(0),))
    inspector.groups["h"] += (at("other", 0, 2),)
    registered = replace(inspector.registered("q"), topics=names)
    inspector.registered = lambda _: registered
    return inspector


def test_offsets_of_another_group_are_taken_only_for_topics_that_the_pipeline_reads():
    found = plan(with_topics("orders"), from_group="h")
    assert found.blockers == () and set(moves(found)) == {("orders", 0), ("orders", 1)}
    (risk,) = [r for r in found.risks if "other" in r]
    assert "the run ignores the offsets that group h has for other" in risk
    inspector = with_topics("other")
    assert ("other", 0) in moves(plan(inspector, from_group="h"))
    inspector.groups["h"] = (at("nope", 0, 2),)
    with pytest.raises(ScenarioError, match=r"of the topics that q reads \(clicks, orders, other"):
        plan(inspector, from_group="h")


def test_a_group_without_offsets_takes_all_of_another_group_and_says_so():
    inspector = with_topics()
    inspector.groups["g"] = ()
    found = plan(inspector, from_group="h")
    assert ("other", 0) in moves(found)
    assert any("no evidence that q reads orders, other, but" in risk for risk in found.risks)


def test_a_topic_that_nothing_shows_to_be_read_is_named():
    (risk,) = [r for r in plan(with_topics(), to_earliest=True, topic=["other"]).risks
               if "no evidence" in r]  # fmt: skip
    assert "no evidence that q reads other, but the run commits offsets there" in risk
    found = plan(with_topics("other"), to_earliest=True, topic=["other"])
    assert not any("no evidence" in risk for risk in found.risks)


def test_partitions_that_get_no_offset_and_have_none_are_named():
    found = plan(from_group="h")
    (risk,) = [r for r in found.risks if "the run sets none" in r]
    assert "no committed offset, and the run sets none: clicks[1]. When q starts" in risk
    assert not any("sets none" in risk for risk in plan(to_earliest=True).risks)


def test_a_list_moves_only_what_it_lists():
    assert moves(plan(to_offsets=["orders,1,6"])) == {("orders", 1): (2, 6)}


def test_only_the_chosen_partitions_move():
    found = plan(to_earliest=True, topic=["orders:1", "clicks"])
    assert set(moves(found)) == {("orders", 1), ("clicks", 0), ("clicks", 1)}
    assert "on 3 partitions of clicks, orders" in found.steps[2].describe()


def test_a_time_is_asked_of_kafka_in_utc():
    first = {("orders", 0): 5, ("orders", 1): 1, ("clicks", 0): 0, ("clicks", 1): 9}
    for text in (NOON, "2026-11-21T12:00:00", "2026-11-21T13:00:00+01:00"):
        inspector = PaperInspector(first=first)
        found = plan(inspector, to_datetime=text)
        assert found.blockers == ()
        assert inspector.asked_at == NOON_MS
        assert {key: to for key, (_, to) in moves(found).items()} == first
        assert NOON[:-1] in found.steps[2].describe()


@pytest.mark.parametrize("text", ["2026-11-21 12:00", "2026-11-21T12:00", "2026-11-21 13:00+01:00"])
def test_a_time_may_be_written_as_people_write_it(text):
    inspector = PaperInspector()
    plan(inspector, to_datetime=text)
    assert inspector.asked_at == NOON_MS


@pytest.mark.parametrize(
    ("name", "words"), [("qq", "qq .*: did you mean q\\?"), ("zzz", "zzz .*; known: q")]
)
def test_a_pipeline_that_is_not_registered_is_answered_with_those_that_are(name, words):
    inspector = PaperInspector()
    inspector.pipelines = lambda: (PaperInspector.registered(inspector, "q"),)
    inspector.registered = lambda _: None
    with pytest.raises(NotFoundError, match=words):
        build_plan("from-point", name, inspector, {"to_earliest": True})


def test_a_partition_without_a_record_since_is_asked_about():
    inspector = PaperInspector(first={("orders", 0): 5, ("orders", 1): 1, ("clicks", 0): 0})
    refused = plan(inspector, to_datetime=NOON)
    assert len(refused.blockers) == 1
    assert "clicks[1] has no record at or after" in refused.blockers[0]
    assert "--no-record" in refused.blockers[0]
    ends = plan(inspector, to_datetime=NOON, no_record="end")
    assert ends.blockers == ()
    assert moves(ends)["clicks", 1] == (None, 10)
    stays = plan(inspector, to_datetime=NOON, no_record="leave")
    assert stays.blockers == ()
    assert ("clicks", 1) not in moves(stays)
    # Left where it is, clicks[1] is nowhere: whether all is read or nothing is not up to the plan.
    assert [r for r in stays.risks if "the run sets none" in r] == [
        "clicks[1] has no committed offset, and the run sets none: when the "
        "consumer starts, it applies auto.offset.reset"
    ]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"to_offset": 11},
            "offset 11 of orders[1] is beyond the latest offset: valid offsets are 0 to 10",
        ),
        (
            {"to_offset": 1},
            "offset 1 of orders[0] is before the earliest offset: valid offsets are 2 to 10",
        ),
        ({"to_offsets": ["orders,0,99"]}, "offset 99 of orders[0] is beyond the latest offset"),
        ({"to_offsets": ["orders,7,1"]}, "topic orders has no partition 7"),
        ({"to_offsets": ["nope,0,1"]}, "topic nope does not exist"),
        ({"to_earliest": True, "topic": ["typo"]}, "topic typo does not exist"),
        ({"to_earliest": True, "topic": ["orders:4"]}, "topic orders has no partition 4"),
        ({"shift_by": -1}, "clicks[1] has no committed offset to shift"),
    ],
)
def test_what_kafka_would_accept_or_leave_out_is_refused(options, sentence):
    assert any(sentence in blocker for blocker in plan(**options).blockers)


def test_without_a_topic_there_are_no_steps_on_nothing():
    found = plan(to_earliest=True, topic=["nope"])
    assert found.blockers == (
        "topic nope does not exist. Check its name, or recreate the topic if it was deleted",
    )
    assert found.steps == () and impact_lines(found) == []


def test_a_shift_ends_at_the_logs_ends_and_says_so():
    found = plan(shift_by="-100", topic=["orders"])
    assert moves(found) == {("orders", 0): (7, 2), ("orders", 1): (2, 0)}
    moved = (
        "the offset of orders[0] moves by -5, not by -100: the shift stops at the earliest offset"
    )
    assert moved in found.risks
    assert "the position 100 offsets before the current offset" in found.steps[2].describe()
    zero = plan(shift_by=0, topic=["orders"]).steps[2].describe()
    assert zero == "reset the offsets of group g to the current offsets on 2 partitions of orders"
    one = plan(shift_by=1, topic=["orders"]).steps[2].describe()
    assert one == (
        "reset the offsets of group g to the position 1 offset after the current offset on 2 "
        "partitions of orders"
    )


def test_of_an_offset_beyond_its_log_nobody_knows_what_was_read():
    inspector = PaperInspector(groups={"g": (at("orders", 0, 99), at("orders", 1, 9))})
    end = plan(inspector, to_latest=True, topic=["orders"])
    assert end.impact["skipped"] == {"orders": 9}
    assert end.impact["never_read"] == ["orders[0] offsets 2 to 9", "orders[1] offset 9"]
    assert any("orders[0] offsets 2 to 9, orders[1] offset 9" in risk for risk in end.risks)
    assert not any("reprocesses records" in risk for risk in end.risks)
    back = plan(inspector, to_earliest=True, topic=["orders:0"])
    assert back.impact["records"] == {"orders": 8} and "never_read" not in back.impact


def test_without_a_commit_records_before_the_target_are_skipped():
    inspector = PaperInspector(groups={"g": (at("orders", 0, 10),)})
    found = plan(inspector, to_latest=True, topic=["orders"])
    assert "q skips up to 10 records in 1 partition: orders[1] offsets 0 to 9" in found.risks
    assert not any("reprocesses records" in risk for risk in found.risks)
    # Whether an earlier offset has expired is not known.
    back = plan(inspector, to_offset=4, topic=["orders:1"])
    assert "q skips up to 4 records in 1 partition: orders[1] offsets 0 to 3" in back.risks
    assert any("no committed offset in orders[1]" in risk for risk in back.risks)
    empty = replace(inspector.known["orders"], partitions=(part(0), part(1, end=0)))
    inspector.known["orders"] = empty
    assert not any("orders[1]" in r for r in plan(inspector, to_earliest=True).risks)


def test_impact_says_what_is_read_again_and_what_is_skipped():
    found = plan(to_offset="5", topic=["orders"])
    assert found.impact["records"] == {"orders": 2}
    assert found.impact["skipped"] == {"orders": 3}
    assert found.impact["to_read"] == {"orders": 10}
    assert any("skips up to 3 records in 1 partition:" in risk for risk in found.risks)
    assert any("reprocesses records" in risk for risk in found.risks)
    # Who only goes on does nothing twice.
    on = plan(to_latest=True, topic=["orders"])
    assert not any("reprocesses records" in risk for risk in on.risks)


def test_a_duration_ago_becomes_a_time_so_that_the_plan_stays_the_same():
    inspector = PaperInspector(first=dict.fromkeys((("orders", 0), ("orders", 1)), 5))
    made = plan(inspector, by_duration="PT2H", topic=["orders"])
    assert set(made.options) == {"to-datetime", "topic"}
    again = build_plan("from-point", "q", inspector, made.options)
    assert again.hash == made.hash
    assert drift(made, again) == ()
    assert "--to-datetime=" in made.command


def test_a_plan_comes_back_from_its_file_the_same():
    made = plan(from_group="h")
    text = dump_plan(made)
    assert load_plan(text, source="f").hash == made.hash
    again = build_plan("from-point", "q", PaperInspector(), json.loads(text)["options"])
    assert again.hash == made.hash


def test_where_the_group_is_moves_by_itself_but_the_point_does_not():
    made = plan(to_offset=4)
    offsets = (at("orders", 0, 9), at("orders", 1, 3), at("clicks", 0, 6))
    later = PaperInspector(groups={"g": offsets})
    assert drift(made, plan(later, to_offset=4)) == ()
    assert plan(later, to_offset=5).hash != made.hash
    cut = replace(later.known["orders"], partitions=(part(0, begin=5), part(1)))
    later.known["orders"] = cut
    assert any(
        "before the earliest offset" in blocker for blocker in plan(later, to_offset=4).blockers
    )


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({}, "needs a point: give one of the options --to-datetime"),
        ({"to_offset": 1, "to_latest": True}, "either --to-offset or --to-latest"),
        ({"to_datetime": "yesterday"}, "--to-datetime: expected a time such as"),
        ({"to_datetime": "2026-11-21"}, "--to-datetime: expected a time such as"),
        ({"to_datetime": "0001-01-01T00:00:00"}, "--to-datetime: expected a time after 1970-01-01"),
        ({"to_datetime": "9999-12-31T23:59:59-12:00"}, "--to-datetime: expected a time such as"),
        ({"by_duration": "P30000D"}, "--by-duration: 'P30000D' ago is before 1970-01-01"),
        ({"by_duration": "P99999999999D"}, "--by-duration: 'P99999999999D' is too long: use a"),
        ({"by_duration": "-PT1H"}, "--by-duration: expected a duration such as"),
        ({"by_duration": "soon"}, "--by-duration: expected a duration such as"),
        ({"by_duration": "PT"}, "--by-duration: expected a duration such as"),
        ({"to_offsets": ["a,0"]}, "--to-offsets, line 1: expected TOPIC,PARTITION,OFFSET"),
        ({"to_offsets": ["a,0,-1"]}, "--to-offsets, line 1: expected TOPIC,PARTITION,OFFSET"),
        ({"to_offsets": ["a,0,1", "a,0,2"]}, r"line 2: a\[0\] is listed twice"),
        ({"to_latest": True, "no_record": "end"}, "--no-record has an effect only with --to-dat"),
        ({"to_earliest": True, "past_retention": True}, "only with --to-datetime or --by-duration"),
        ({"from_group": "nobody"}, "group nobody has no committed offset"),
        ({"to_earliest": True, "topic": ["a:x"]}, "--topic: expected TOPIC or TOPIC:0,2"),
    ],
)
def test_wrong_points_get_one_sentence(options, sentence):
    with pytest.raises(ScenarioError, match=sentence):
        plan(**options)


def test_a_partition_whose_log_nobody_tells_is_not_taken_for_an_empty_one():
    topic = Topic(name="orders", partitions=(part(0, 3, 9), part(1, None, None)))
    with pytest.raises(RefusedError, match=r"offset of orders\[1\] are unknown"):
        spans_of({"orders": topic})


def test_a_time_that_retention_has_passed_in_some_inputs_is_refused_until_it_is_accepted():
    first = {("orders", 0): 2, ("orders", 1): 5, ("clicks", 0): 0, ("clicks", 1): 1}
    found = plan(PaperInspector(first=first), to_datetime=NOON)
    (reason,) = found.blockers
    # A log that begins at 0 has lost nothing: only orders[0] was cut off; in orders[1] the time is.
    assert "no record of orders[0] is older than 2026-11-21T12:00" in reason
    assert reason.endswith(
        "pass --past-retention to `headgate plan from-point` or `headgate reset`"
    )
    accepted = plan(PaperInspector(first=first), to_datetime=NOON, past_retention=True)
    assert accepted.blockers == () and accepted.can_apply
    assert moves(accepted)["orders", 0] == (7, 2)
    assert any("don't start at one common time" in risk for risk in accepted.risks)
    assert " --past-retention " in accepted.command
    assert accepted.hash != found.hash


def test_a_time_before_all_logs_is_their_beginning():
    """As with --to-earliest each begins where its log does, which Kafka's tool does, too."""
    first = {("orders", 0): 2, ("orders", 1): 0, ("clicks", 0): 0, ("clicks", 1): 0}
    found = plan(PaperInspector(first=first), to_datetime=NOON)
    assert found.blockers == () and moves(found)["orders", 0] == (7, 2)
    assert any("don't start at one common time" in risk for risk in found.risks)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"to_offset": 4}, ["offset 4 can have a different time in each of the 4 partitions"]),
        (
            {"shift_by": -1, "topic": ["orders"]},
            ["1 offset before the current offset can have a different time", "clicks[0]"],
        ),
        ({"to_offset": 4, "topic": ["clicks:0"]}, ["keep their offsets: orders[0], orders[1]."]),
        ({"from_group": "h"}, ["keep their offsets: clicks[0]."]),
        ({"to_offsets": ["orders,1,6"]}, ["keep their offsets: clicks[0], orders[0]."]),
        ({"to_earliest": True}, []),
        ({"to_datetime": NOON}, []),
        ({"to_current": True, "topic": ["orders"]}, []),
    ],
)
def test_a_point_that_is_no_one_moment_for_all_inputs_is_named(options, said):
    first = dict.fromkeys([(t, n) for t in ("orders", "clicks") for n in (0, 1)], 5)
    found = plan(PaperInspector(first=first), **options)
    assert found.blockers == ()
    about = [r for r in found.risks if "don't start at one common time" in r]
    assert len(about) == len(said)
    assert all(any(words in risk for risk in about) for words in said)
