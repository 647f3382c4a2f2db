"""Upgrades of Kafka Streams that were recorded after the rules had been written.

Each folder of `tests/cases/streams_fresh` and of later groups is
one upgrade by real Kafka Streams with its controls (see the READMEs there). A case that the verdict
misses is named in `KNOWN` with the reason; once it is right, the test asks for its name to go.
"""

import json
from pathlib import Path

import pytest

from headgate.rules.compare.compare_versions import compare
from headgate.rules.core.report import Outcome, Report, UpgradeWay
from headgate.usecases.evidence.read_version import read_version
from support.sampled import sampled_cases

FOLDER = Path(__file__).parents[2] / "cases"
GROUPS = ("streams_fresh", "streams_more", "streams_kinds", "streams_pulls*")
CASES = sorted(p.parent for group in GROUPS for p in FOLDER.glob(f"{group}/*/outcome.json"))

KNOWN: dict[str, str] = {
    "newsletter_handler_removed": "refuses; whether a record fails that the handler skipped is not "
    "described: resumes, and the finding says that the new version stops at one",
    "count_becomes_windowed_unnamed": "refuses; a map follows the count in both versions, which "
    "hides that its keys became windows",
    "coffee_double_for_long": "silently_wrong; what type of values a store keeps is not described",
    "pothole_mean_depth": "refuses; what values a store keeps is not described",
    "kindergarten_emitted_when_closed": "refuses; that windows are emitted when they close is not "
    "described",
    "driving_table_without_detour": "resumes; whether mapValues() of a table and toTable() keep "
    "the same values in the store is asked",
    "film_servers_known": "resumes; both descriptions are equal; others like them are wrong",
    "printer_key_in_to_stream": "resumes; other operators behind a store may mean another table",
    "iot_merge_turned_round": "resumes; both descriptions are equal; others like them are wrong",
    "iot_repartitioned_by_site": "refuses; how many partitions repartition() sets is not described",
    "hospital_names_demanded": "refuses; whether StreamsBuilder gets the setting is not described",
    "music_likes_cogrouped": "silently_wrong; what a store that stays is read for is not described",
    "music_repeated_behind_song": "silently_wrong; a processor's own keys are not described",
    "global_table_first_wiped": "resumes; the disk, which no file shows, was empty",
    "grouped_table_regrouped_named": "resumes: its new filter of a table passes all rows, which no "
    "description shows, so the rule asks",
    "archive_wider_requests": "resumes: repartition() sets its own count, which is asked",
    "blood_uses_cogrouped": "resumes: a cogroup fills the store with the same numbers; it is asked",
    "lift_minutes_suppressed": "resumes by its last rows: only results of open windows are missing",
    "windowed_gets_plains_name": "refuses, called silently wrong: no file tells what is windowed",
}
HIDDEN = {
    *("count_becomes_windowed_unnamed", "iot_repartitioned_by_site"),
    *("coffee_double_for_long", "pothole_mean_depth"),
    "newsletter_handler_removed",
}
"""Harm that no file shows, and no description could."""


def judge(case: Path) -> Report:
    return compare(read_version([str(case / "before")]), read_version([str(case / "after")]))


def truth(case: Path) -> dict:
    return json.loads((case / "outcome.json").read_text(encoding="utf-8"))


def is_right(report: Report, known: dict) -> bool:
    if not known["decidable_from_files"] and report.outcome is Outcome.UNKNOWN:
        return True
    if report.outcome.word != known["outcome"]:
        return False
    told = {f.error_class for f in report.findings if f.outcome is Outcome.REFUSES}
    return report.outcome is not Outcome.REFUSES or known["error_class"] in told


@pytest.mark.parametrize("case", sampled_cases(CASES))
def test_the_verdict_is_what_kafka_streams_did(case):
    report, known = judge(case), truth(case)
    said = [(f.rule, f.outcome.word, f.error_class) for f in report.findings]
    if case.name in KNOWN:
        assert not is_right(report, known), f"no longer a miss, take it out of KNOWN: {said}"
    else:
        assert is_right(report, known), f"the engine: {known['outcome']}; {said}"
    harmful = known["outcome"] in {"refuses", "silently_wrong"}
    assert not harmful or report.outcome >= Outcome.UNKNOWN or case.name in HIDDEN, said
    assert report.upgrade is not None
    is_told = known["outcome"] == "silently_wrong" and case.name not in HIDDEN
    assert not is_told or report.upgrade.way is not UpgradeWay.ROLLING


def test_a_repartition_that_several_operators_read_may_set_its_own_count():
    case = next(c for c in CASES if c.name == "archive_wider_requests")
    told = [f for f in judge(case).findings if f.rule == "KST030"]
    assert {f.outcome for f in told} == {Outcome.UNKNOWN}
    assert {f.question for f in told} == {
        "Does the code set the partition count of shelf-repartition "
        "(Repartitioned.withNumberOfPartitions)?"
    }


def test_known_misses_are_cases():
    assert set(KNOWN) <= {case.name for case in CASES}
    assert all(KNOWN.values())


def test_the_controls_were_sound():
    """The old version, restarted unchanged, went on; what equals a control is ruled by it."""
    controlled = [c for c in CASES if not c.parent.name.startswith("streams_pulls")]
    assert controlled
    for case in controlled:
        known = truth(case)
        assert known["same_unchanged"], case.name
        found = known["outputs"]
        then, everything, alone = (
            sorted(found[k]) for k in ("upgrade", "new_over_everything", "new_over_later_only")
        )
        if known["outcome"] == "silently_wrong" and then == everything:
            # What is not partitioned alike goes wrong from its first start on, in controls too.
            assert known["outcome_detail"] == "not_copartitioned", case.name
        if known["outcome_detail"] == "as_over_later_records_only":
            assert then == alone != everything, case.name
