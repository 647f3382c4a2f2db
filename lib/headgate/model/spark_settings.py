"""Spark settings that a checkpoint pins, and Spark's default values."""

from __future__ import annotations

_S = "spark.sql.streaming."
PARTITIONS = "spark.sql.shuffle.partitions"
# How many batches a checkpoint keeps at least, and Spark's default.
RETAINED, DEFAULT_RETAINED = _S + "minBatchesToRetain", 100
WATERMARK_POLICY = _S + "multipleWatermarkPolicy"
# Whether a batch without new rows runs when the watermark has advanced; Spark's default is true.
NO_DATA_BATCHES = _S + "noDataMicroBatches.enabled"
# `OffsetSeqMetadata.relevantSQLConfs` of 4.2.0 without the shuffle partitions, each with the value
# that 4.2.0 uses where a session sets none; older versions have fewer.
PINNED_DEFAULTS = {
    _S + "stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
    ),
    _S + "stateStore.encodingFormat": "unsaferow",
    _S + "queryEvolution.enableSourceEvolution": "false",
    WATERMARK_POLICY: "min",
    _S + "flatMapGroupsWithState.stateFormatVersion": "2",
    _S + "aggregation.stateFormatVersion": "2",
    _S + "join.stateFormatVersion": "2",
    _S + "stateStore.compression.codec": "lz4",
    _S + "stateStore.rocksdb.formatVersion": "5",
    _S + "stateStore.rocksdb.mergeOperatorVersion": "2",
    _S + "statefulOperator.useStrictDistribution": "true",
    _S + "stateStore.rowChecksum.enabled": "false",
    "spark.sql.optimizer.pruneFiltersCanPruneStreamingSubplan": "false",
    "spark.sql.function.protobufExtensions.enabled": "false",
}
PINNED = frozenset(PINNED_DEFAULTS)
# What 4.2.0 takes for a key that the offset log of an older version lacks.
ABSENT_DEFAULTS = {
    _S + "stateStore.encodingFormat": "unsaferow",
    _S + "queryEvolution.enableSourceEvolution": "false",
    WATERMARK_POLICY: "min",
    _S + "flatMapGroupsWithState.stateFormatVersion": "1",
    _S + "aggregation.stateFormatVersion": "1",
    _S + "join.stateFormatVersion": "1",
    _S + "stateStore.compression.codec": "lz4",
    _S + "stateStore.rocksdb.mergeOperatorVersion": "1",
    _S + "statefulOperator.useStrictDistribution": "false",
    _S + "stateStore.rowChecksum.enabled": "false",
    "spark.sql.optimizer.pruneFiltersCanPruneStreamingSubplan": "true",
    "spark.sql.function.protobufExtensions.enabled": "false",
}
