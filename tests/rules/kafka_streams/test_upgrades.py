"""Upgrades whose two descriptions Kafka Streams 4.3.1 printed.

The applications are in tests/gateway/kafka_streams/Upgrades.java.

What is expected was reasoned from how the engine finds state: by exact names, and by nothing else.
"""

import pytest

from headgate.rules.core.report import Outcome, UpgradeWay
from rules.kafka_streams.applications import UPGRADES, upgrade

R, W, U, X = Outcome.RESUMES, Outcome.SILENTLY_WRONG, Outcome.UNKNOWN, Outcome.REFUSES
ROLLING, OFFLINE, RESET, OPEN = (
    UpgradeWay.ROLLING,
    UpgradeWay.OFFLINE,
    UpgradeWay.RESET,
    UpgradeWay.UNKNOWN,
)
EXPECTED = {
    # name: outcome, the way, a rule that must be among the worst findings
    "peek_after_unnamed_count": (R, ROLLING, None),
    "branch_at_the_end": (R, ROLLING, None),
    "unnamed_counts_of_two_inputs_swapped": (W, RESET, "KST002"),
    "unnamed_counts_of_one_input_swapped": (W, RESET, "KST002"),
    "unnamed_count_of_other_input_in_front": (W, RESET, "KST002"),
    "unnamed_count_of_other_input_behind": (R, OFFLINE, None),
    "operator_between_two_unnamed_aggregates": (W, RESET, "KST001"),
    "operator_between_two_aggregates_second_named": (R, ROLLING, None),
    "unnamed_count_named": (W, RESET, "KST001"),
    "insert_and_name_as_generated": (R, ROLLING, None),
    "unnamed_stream_join_filter_in_front": (W, RESET, "KST001"),
    "named_stream_join_filter_in_front": (R, ROLLING, None),
    "named_stream_join_inner_to_outer": (W, RESET, "KST001"),
    "named_stream_join_left_to_inner": (W, RESET, "KST001"),
    "unnamed_table_shifts": (W, RESET, "KST001"),
    "unnamed_optimised_table_shifts": (R, ROLLING, "KST001"),
    "named_table_operator_in_front": (R, ROLLING, None),
    "foreign_key_join_named_operator_in_front": (R, OFFLINE, None),
    "unnamed_suppress_shifts": (W, RESET, "KST001"),
    "named_suppress_operator_in_front": (R, ROLLING, None),
    "suppress_added": (R, OFFLINE, None),
    "named_suppress_removed": (W, RESET, "KST004"),
    "unnamed_count_to_reduce": (W, RESET, "KST001"),
    "named_count_to_reduce": (U, OPEN, "KST013"),
    "map_in_front_of_named_count": (U, OPEN, "KST010"),
    "key_select_to_map": (U, OPEN, "KST010"),
    "key_select_renamed": (R, ROLLING, None),
    "named_operator_in_front_of_named_count": (R, ROLLING, None),
    "named_map_in_front_of_named_count": (U, OPEN, "KST010"),
    "filter_in_front_of_key_select": (R, ROLLING, None),
    "unnamed_grouping_of_named_count": (R, ROLLING, None),
    "unnamed_repartition_shifts": (U, OPEN, "KST020"),
    "repartition_named": (U, OPEN, "KST020"),
    "repartition_taken_out": (U, OPEN, "KST020"),
    "repartition_put_in": (R, OFFLINE, None),
    "global_table_added": (R, ROLLING, None),
    "global_to_table": (R, OFFLINE, None),
    "stream_to_table": (W, RESET, "KST005"),
    "named_branch_removed": (R, OFFLINE, None),
    "named_branch_added": (R, OFFLINE, None),
    "named_branch_added_in_front": (R, OFFLINE, None),
    "first_unnamed_of_two_removed": (W, RESET, "KST002"),
    "last_unnamed_of_two_removed": (R, OFFLINE, None),
    "twin_added": (U, OPEN, "KST006"),
    "twin_removed": (U, OPEN, "KST006"),
    "input_merged_in_front_of_unnamed_count": (W, RESET, "KST001"),
    "input_merged_in_front_of_named_count": (R, OFFLINE, None),
    "input_replaced_under_named_count": (U, OPEN, "KST042"),
    "input_replaced_without_state": (R, OFFLINE, None),
    "named_stores_swapped": (W, RESET, "KST002"),
    "named_subtopologies_swapped": (R, OFFLINE, None),
    "split_added": (R, ROLLING, None),
    "sink_replaced": (R, ROLLING, None),
    "unnamed_repartitions_merged": (R, OFFLINE, "KST021"),
    "named_repartitions_unmerged": (R, OFFLINE, None),
    "unnamed_to_table_without_store": (R, ROLLING, None),
    "plain_to_windowed_named": (U, OPEN, "KST012"),
    "processor_in_front_of_named_state": (R, ROLLING, None),
    "topic_added_to_list": (R, OFFLINE, None),
    "cogroup_input_added": (R, OFFLINE, None),
    "aggregate_to_table_of_one_name": (W, RESET, "KST002"),
    "map_values_to_filter_behind_count": (R, ROLLING, None),
}
_OPTIMISED = {
    "unnamed_optimised_table_shifts": ("all", "all"),
    "unnamed_repartitions_merged": ("none", "all"),
    "named_repartitions_unmerged": ("all", "none"),
}


def settings(name):
    said = _OPTIMISED.get(name)
    return tuple({"topology.optimization": s} for s in said) if said else ({}, {})


def test_every_recorded_upgrade_is_expected():
    assert {p.name for p in UPGRADES.iterdir()} == EXPECTED.keys()


@pytest.mark.parametrize("name", EXPECTED)
def test_an_upgrade_is_judged_by_how_state_is_found(name, tmp_path):
    outcome, way, rule = EXPECTED[name]
    report = upgrade(tmp_path, name, config=settings(name))
    told = [(f.rule, f.outcome.word, f.before, f.after) for f in report.findings]
    assert report.outcome is outcome, told
    assert report.upgrade is not None
    assert report.upgrade.way is way, report.upgrade
    worst = {f.rule for f in report.findings if f.outcome is outcome}
    assert rule is None or rule in worst, told
