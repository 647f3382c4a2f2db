"""Which Spark wrote a checkpoint, and which pairs of versions were tried on one."""

from __future__ import annotations

import re

from headgate.model.spark_settings import PARTITIONS
from headgate.model.version import Version
from headgate.rules.core.measured_spark_versions import SparkVersion
from headgate.rules.core.rule import Comparison

_S = "spark.sql.streaming."
# The newest setting that each version pins in the offset log, newest first.
_PINS = (
    ("4.2", (4, 2), _S + "stateStore.rocksdb.mergeOperatorVersion"),
    ("4.0", (4, 0), _S + "stateStore.encodingFormat"),
    ("3.5", (3, 5), PARTITIONS),
)
# (wrote, restarted): tried with aggregates, windows, sessions, deduplications and a stateless query
# on both providers, each unchanged; joins of two streams are judged apart.
MEASURED_RESTARTS = frozenset(
    {((3, 5), (4, 2)), ((4, 0), (4, 2)), ((4, 2), (4, 0)), ((4, 2), (3, 5))}
)


def writer(before: Version) -> SparkVersion | None:
    """Return the Spark that the evidence names, else the oldest one that pins these settings.

    None where neither is known.
    """
    if before.engine_version and (match := re.match(r"(\d+)\.(\d+)", before.engine_version)):
        return SparkVersion(before.engine_version, (int(match[1]), int(match[2])))
    for text, number, key in _PINS:
        if key in before.pinned:
            return SparkVersion(text, number, assumed=True)
    return None


def names_are_checked(c: Comparison) -> bool:
    """Say whether operators' names are compared: Spark 4.0 and newer do, where they are stored.

    Measured: a checkpoint of 3.5.8 has none, and 4.2.0 runs on it without an operator that is gone.
    """
    old = writer(c.before)
    return c.spark.checks_operator_names and (old is None or old.checks_operator_names)
