"""What each topology of TestApplication.java holds, written from its code by hand.

The code is in tests/gateway/kafka_streams.

NAME: operators beside sources, sinks and what `out` adds to a table (to_stream, map); stores;
repartition topics as described; number of sub-topologies. `!` before a name says that the code
gave it, `~` that Kafka Streams generated it.
"""

TABLE = ["to_stream", "map"]
COUNTED = "~KSTREAM-AGGREGATE-STATE-STORE"
JOIN = ["join_window", "join_window", "stream_join", "stream_join", "stream_join_merge"]
OUTER = ["join_window", "join_window", "stream_outer_join", "stream_outer_join"]
LEFT = ["join_window", "join_window", "stream_join", "stream_outer_join", "stream_join_merge"]
FOREIGN = [
    *("table_source", "table_source", "foreign_key_register"),
    *["foreign_key_subscription"] * 3,
    *("foreign_key_resolve", "foreign_key_join"),
]
TABLES = [*["table_source"] * 2, *["table_table_join"] * 2, "table_table_join_merge"]
IN, IN2 = "~in-STATE-STORE", "~in2-STATE-STORE"

EXPECTED: dict[str, tuple[list[str], list[str], list[str], int]] = {
    "stateless": (
        ["filter", "filter", "map", "map_values", "flat_map", "flat_map_values", "peek",
         "key_select", "process", "process_values", "foreach", "print"], [], [], 1),
    "stateless_named": (["processor", "processor", "processor"], [], [], 1),
    "count_by_key": (["aggregate", *TABLE], [COUNTED], [], 1),
    "aggregate_repartitioned": (
        ["key_select", "filter", "aggregate", *TABLE], [COUNTED],
        [f"{COUNTED}-repartition"], 2),
    "aggregate_grouped_as": (
        ["key_select", "filter", "aggregate", *TABLE], [COUNTED], ["!by-value-repartition"], 2),
    "aggregate_named": (
        ["processor", "filter", "materialize", *TABLE], ["!counts"], ["!by-value-repartition"], 2),
    "reduce": (["reduce", *TABLE], ["~KSTREAM-REDUCE-STATE-STORE"], [], 1),
    "two_counts": (["aggregate", "aggregate", *TABLE, *TABLE], [COUNTED, COUNTED], [], 2),
    "windowed_tumbling": (["aggregate", *TABLE], ["!per-minute"], [], 1),
    "windowed_sliding": (["aggregate", *TABLE], [COUNTED], [], 1),
    "windowed_session": (["aggregate", *TABLE], [COUNTED], [], 1),
    "suppress": (
        ["aggregate", "suppress", *TABLE], [COUNTED, "~KTABLE-SUPPRESS-STATE-STORE"], [], 1),
    "suppress_named": (
        ["aggregate", "suppress", *TABLE], ["!final-only-store", "!per-minute"], [], 1),
    "cogroup": (
        ["cogroup_aggregate", "cogroup_aggregate", "cogroup_merge", *TABLE],
        ["~COGROUPKSTREAM-AGGREGATE-STATE-STORE"], [], 1),
    "cogroup_windowed": (["cogroup_aggregate", "cogroup_merge", *TABLE], ["!both"], [], 1),
    "stream_join": (
        JOIN, ["~KSTREAM-JOINOTHER-store", "~KSTREAM-JOINTHIS-store"], [], 1),
    "stream_left_join": (
        LEFT,
        ["~KSTREAM-JOINTHIS-store", "~KSTREAM-OUTEROTHER-store", "~KSTREAM-OUTERSHARED-store"],
        [], 1),
    "stream_outer_join": (
        [*OUTER, "stream_join_merge"],
        ["~KSTREAM-OUTEROTHER-store", "~KSTREAM-OUTERSHARED-store", "~KSTREAM-OUTERTHIS-store"],
        [], 1),
    "stream_join_rekeyed": (
        [*["key_select", "filter"] * 2, *JOIN],
        ["~KSTREAM-JOINOTHER-store", "~KSTREAM-JOINTHIS-store"],
        ["~KSTREAM-KEY-SELECT-repartition", "~KSTREAM-KEY-SELECT-repartition"], 3),
    "stream_join_named": (
        ["key_select", "filter", *LEFT],
        ["!pair-left-shared-join-store", "!pair-outer-other-join-store", "!pair-this-join-store"],
        ["!pair-left-repartition"], 2),
    "stream_join_store_named": (
        JOIN, ["!pair-other-join-store", "!pair-this-join-store"], [], 1),
    "stream_self_join": (
        JOIN, ["~KSTREAM-JOINOTHER-store", "~KSTREAM-JOINTHIS-store"], [], 1),
    "stream_table_join": (["table_source", "table_join"], [IN2], [], 1),
    "stream_table_left_join_named": (
        ["key_select", "filter", "table_source", "table_join"], ["!known"],
        ["!enrich-repartition"], 2),
    "stream_global_join": (["table_source", "global_table_join"], ["!everywhere"], [], 2),
    "stream_global_left_join": (["table_source", "global_table_join"], [IN2], [], 2),
    "table_join": ([*TABLES, *TABLE], [IN, IN2], [], 1),
    "table_left_join": ([*TABLES, *TABLE], [IN, IN2, "!joined"], [], 1),
    "table_outer_join_named": ([*TABLES, *TABLE], [IN, IN2], [], 1),
    "foreign_key_join": (
        [*FOREIGN, *TABLE], ["~KTABLE-FK-JOIN-SUBSCRIPTION-STATE-STORE", IN, IN2],
        ["~KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION-topic",
         "~KTABLE-FK-JOIN-SUBSCRIPTION-RESPONSE-topic"], 2),
    "foreign_key_left_join_named": (
        [*FOREIGN, *TABLE], ["!by-owner-subscription-store", IN, IN2, "!owned"],
        ["!by-owner-subscription-registration-topic", "!by-owner-subscription-response-topic"], 2),
    "table_operators": (
        ["table_source", "filter", "filter", "map_values", "materialize", *TABLE],
        ["!kept-rows", "!mapped"], [], 1),
    "table_named": (["table_source", *TABLE], ["!customers"], [], 1),
    "table_aggregate": (
        ["table_source", "key_select", "aggregate", *TABLE],
        [IN, "~KTABLE-AGGREGATE-STATE-STORE"], ["~KTABLE-AGGREGATE-STATE-STORE-repartition"], 2),
    "table_reduce_named": (
        ["table_source", "key_select", "aggregate", *TABLE], [IN, "!newest-rows"],
        ["!by-key-repartition"], 2),
    "to_table": (
        ["map", "filter", "to_table", *TABLE], [], ["~KSTREAM-TOTABLE-repartition"], 2),
    "to_table_named": (["materialize", *TABLE], ["!rows"], [], 1),
    "repartition": (["filter"], [], ["~KSTREAM-REPARTITION-repartition"], 2),
    "repartition_named": (["filter"], [], ["!wide-repartition"], 2),
    "split": (["branch", "branch", "branch"], [], [], 1),
    "split_named": (["branch", "branch", "branch"], [], [], 1),
    "merge": (["merge"], [], [], 1),
    "global_table": (["table_source"], ["!everywhere"], [], 1),
    "global_store": (["table_source"], ["!everywhere"], [], 1),
    "pattern_source": (["map_values"], [], [], 1),
    "several_topics": ([], [], [], 1),
    "dynamic_sink": ([], [], [], 1),
    "process_with_store": (["stateful_processor"], ["!seen"], [], 1),
    "process_shared_store": (["process", "process_values"], ["!seen"], [], 1),
    "optimised_table": (["table_source", *TABLE], ["!rows"], [], 1),
    "optimised_repartitions": (
        ["key_select", "filter", "aggregate", "aggregate", *TABLE, *TABLE], ["!ones", "!twos"],
        ["!one-repartition"], 2),
    "in_a_row": (
        ["key_select", "filter", "aggregate", "to_stream", "map", "filter", "aggregate", *TABLE],
        [COUNTED, "!last"], [f"{COUNTED}-repartition", "!again-repartition"], 3),
    "processor_api": (
        ["processor", "processor", "processor", "processor", "stateful_processor"],
        ["!other", "!rocket.store"], [], 1),
}  # fmt: skip
UNREAD = {
    "stateless_named": 3,
    "aggregate_named": 1,
    "process_with_store": 1,
    "processor_api": 5,
}
"""Nodes whose operator the code's own name hides, by topology; everywhere else there are none."""
