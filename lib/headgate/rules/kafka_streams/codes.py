"""Every rule for Kafka Streams, in one tuple; the order is that of findings of one outcome."""

from __future__ import annotations

from headgate.rules.kafka_streams import changelog_config as topic_configs
from headgate.rules.kafka_streams import cluster_state as world
from headgate.rules.kafka_streams import derived_tables as derived
from headgate.rules.kafka_streams import generated_names as twins
from headgate.rules.kafka_streams import group_protocol as protocol
from headgate.rules.kafka_streams import input_topics as inputs
from headgate.rules.kafka_streams import invalid_config as values
from headgate.rules.kafka_streams import library_versions as versions
from headgate.rules.kafka_streams import missing_evidence as evidence
from headgate.rules.kafka_streams import partition_counts as partitions
from headgate.rules.kafka_streams import removed_stores as removals
from headgate.rules.kafka_streams import repartition_topics as repartitions
from headgate.rules.kafka_streams import runtime_config as runtime
from headgate.rules.kafka_streams import state_config as settings
from headgate.rules.kafka_streams import state_stores as stores
from headgate.rules.kafka_streams import store_keys as keys
from headgate.rules.kafka_streams import subtopologies
from headgate.rules.kafka_streams.facts.rule import StreamsRule

RULES: tuple[StreamsRule, ...] = (
    protocol.registered_topology_changed,
    protocol.pattern_under_streams,
    protocol.static_members_under_streams,
    protocol.protocol_changed,
    world.old_members_live,
    world.group_gone,
    world.changelog_gone,
    settings.application_renamed,
    values.value_not_known,
    partitions.internal_topic_has_other_count,
    partitions.joined_inputs_differ,
    partitions.rows_stay_in_old_partition,
    partitions.input_has_other_count,
    inputs.input_not_known,
    stores.state_adopted,
    stores.store_name_changed,
    removals.suppression_removed,
    twins.twins_came_or_went,
    twins.twins_exchanged_stores,
    removals.store_removed,
    derived.derived_table_kept,
    stores.store_added,
    subtopologies.global_takes_a_task,
    subtopologies.unlogged_task_moved,
    subtopologies.task_moved,
    keys.keys_made_elsewhere,
    keys.read_as_another_table,
    keys.other_kind_of_operator,
    keys.values_made_elsewhere,
    repartitions.repartition_moved,
    repartitions.repartition_merged,
    repartitions.repartition_exchanged,
    inputs.input_replaced,
    inputs.input_added,
    inputs.input_removed,
    inputs.pattern_changed,
    inputs.output_changed,
    topic_configs.changelog_of_another_kind,
    topic_configs.changelog_of_other_retention,
    settings.optimisation_changed,
    settings.guarantee_changed,
    settings.store_format_changed,
    settings.store_supplier_changed,
    settings.default_serdes_changed,
    settings.state_directory_moved,
    settings.reset_policy_changed,
    settings.only_for_new_topics,
    runtime.explicit_names_required,
    runtime.settings_of_the_runtime,
    versions.older_runtime_on_newer_state,
    versions.formats_on_the_way,
    evidence.nothing_visible_changed,
    evidence.not_described,
)
