"""Spark's names of its stateful operators in `state/N/_metadata`."""

from __future__ import annotations

from headgate.model.version import OperatorKind

OPERATOR_KINDS = {
    "stateStoreSave": OperatorKind.AGGREGATE,
    "sessionWindowStateStoreSaveExec": OperatorKind.SESSION_AGGREGATE,
    "dedupe": OperatorKind.DEDUPLICATE,
    "dedupeWithinWatermark": OperatorKind.DEDUPLICATE_WITHIN_WATERMARK,
    "symmetricHashJoin": OperatorKind.STREAM_JOIN,
    "globalLimit": OperatorKind.LIMIT,
    "flatMapGroupsWithState": OperatorKind.MAP_GROUPS,
    "applyInPandasWithState": OperatorKind.MAP_GROUPS,
    "transformWithStateExec": OperatorKind.TRANSFORM_WITH_STATE,
    "transformWithStateInPandasExec": OperatorKind.TRANSFORM_WITH_STATE,
    "transformWithStateInPySparkExec": OperatorKind.TRANSFORM_WITH_STATE,
}
