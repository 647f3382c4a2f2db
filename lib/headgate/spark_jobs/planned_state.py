"""Let Spark plan a query's first batch, so that it writes the state schemas that it would use.

Planning batch 0 on a checkpoint writes `state/N/_metadata` and the schema of every store (see
`IncrementalExecution.StateSchemaAndOperatorMetadataRule`); no data is read for that. What is read
here is therefore Spark's own word, byte for byte what a first run would leave behind.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from headgate.spark_jobs.spark_reflection import companion, elements

_STREAMING = "org.apache.spark.sql.execution.streaming"
# Set on the session of every stateful query, see `StreamExecution.runStream`.
_AS_IN_A_RUN = {"spark.sql.adaptive.enabled": "false", "spark.sql.cbo.enabled": "false"}
_PARTITIONS = "spark.sql.shuffle.partitions"
_STATE_PARTITIONS = "spark.sql.streaming.internal.stateStore.partitions"


def planned_state(df: Any, output_mode: str, scratch: Path) -> list[dict[str, Any]]:
    """Return the stateful operators of a streaming DataFrame, in the order of their ids.

    Each is `{"operator_id", "name", "properties", "stores": [{"store", "key_schema",
    "value_schema", "prefix_columns", "partitions", "format"}]}`; schemas are Spark's JSON. A store
    with column families has an entry for each, with `column_family`. Raises what planning raises.
    """
    plan_first_batch(df, output_mode, scratch)
    jvm = df.sparkSession._jvm
    folders = (f for f in scratch.iterdir() if f.name.isdecimal()) if scratch.is_dir() else ()
    return [_operator(jvm, folder) for folder in sorted(folders, key=lambda f: int(f.name))]


def plan_first_batch(df: Any, output_mode: str, state: Path) -> Any:
    """Plan batch 0 as `MicroBatchExecution` does, with `state` as the folder of the state."""
    _log_first_offsets(state.parent)
    jvm = df.sparkSession._jvm
    session = df.sparkSession._jsparkSession.cloneSession()
    for key, value in _AS_IN_A_RUN.items():
        session.conf().set(key, value)
    session.conf().set(_STATE_PARTITIONS, session.conf().get(_PARTITIONS))
    metadata = getattr(jvm, f"{_STREAMING}.checkpointing.OffsetSeqMetadata")
    execution = getattr(jvm, f"{_STREAMING}.runtime.IncrementalExecution")
    default = "$lessinit$greater$default$"
    planned = execution(
        *(session, df._jdf.queryExecution().analyzed(), mode_object(jvm, output_mode)),
        *(state.as_uri(), jvm.java.util.UUID.randomUUID(), jvm.java.util.UUID.randomUUID()),
        *(0, jvm.scala.Option.empty(), metadata.apply(0, 0, session.conf())),
        *(getattr(jvm, f"{_STREAMING}.runtime.WatermarkPropagator").noop(), True),
        *(getattr(execution, f"{default}{number}")() for number in (12, 13, 14)),
        False,
    )
    return planned.executedPlan()


def _log_first_offsets(checkpoint: Path) -> None:
    """Write the entry of batch 0, which Spark logs before it plans a batch."""
    entry = json.dumps({"batchWatermarkMs": 0, "batchTimestampMs": 0, "conf": {}})
    (checkpoint / "offsets").mkdir(parents=True, exist_ok=True)
    (checkpoint / "offsets" / "0").write_text(f"v1\n{entry}\n", encoding="utf-8")


def mode_object(jvm: Any, output_mode: str) -> Any:
    """Return Spark's `OutputMode` of that name."""
    modes = companion(jvm, "org.apache.spark.sql.catalyst.streaming.InternalOutputModes")
    return modes.apply(output_mode)


def _operator(jvm: Any, folder: Path) -> dict[str, Any]:
    metadata = _metadata(folder / "_metadata")
    stores = [
        {"store": info["storeName"]} | schema | _store_facts(info)
        for info in metadata.get("stateStoreInfo", ())
        for schema in _schemas(jvm, folder, info["storeName"])
    ]
    properties = metadata.get("operatorPropertiesJson")
    return {
        "operator_id": int(folder.name),
        "name": metadata.get("operatorInfo", {}).get("operatorName"),
        "properties": json.loads(properties) if properties else {},
        "stores": stores,
    }


def _store_facts(info: dict[str, Any]) -> dict[str, Any]:
    return {"prefix_columns": info.get("numColsPrefixKey"), "partitions": info.get("numPartitions")}


def _metadata(folder: Path) -> dict[str, Any]:
    """Read the operator's metadata: a version word, then JSON; in a log of batches from v2 on."""
    file = folder / "metadata" if (folder / "metadata").exists() else folder / "v2" / "0"
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8").partition("\n")[2])
    return found


def _schemas(jvm: Any, folder: Path, store: str) -> Iterator[dict[str, Any]]:
    inner = folder / "0" if store == "default" else folder / "0" / store
    files = [inner / "_metadata" / "schema", *sorted((folder / "_stateSchema" / store).glob("0_*"))]
    for file in files:
        if file.is_file():
            yield from _read_schema(jvm, file)


def _read_schema(jvm: Any, file: Path) -> Iterator[dict[str, Any]]:
    path = jvm.org.apache.hadoop.fs.Path(file.as_uri())
    stream = path.getFileSystem(jvm.org.apache.hadoop.conf.Configuration()).open(path)
    try:
        version = stream.readUTF()
        reader = companion(jvm, f"{_STREAMING}.state.SchemaHelper$SchemaReader")
        for schema in elements(reader.createSchemaReader(version).read(stream)):
            family = str(schema.colFamilyName())
            yield {
                "key_schema": json.loads(schema.keySchema().json()),
                "value_schema": json.loads(schema.valueSchema().json()),
                "format": version,
            } | ({} if family == "default" else {"column_family": family})
    finally:
        stream.close()
