"""The results of a replay as a stream: a folder for each batch, and the target made of all.

A batch that runs again overwrites its folder, and the target is written from the folders once the
stream is at its end. So a program that is killed neither loses nor repeats a result.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from headgate.errors import CaptureError

_BATCH, _ROW = "headgate_batch", "headgate_row"
_SUCCESS = "_SUCCESS"


class StreamResults:
    """Collects what a stream gives its sink into `folder`; `select` chooses the rows to keep.

    `mode` is the output mode: in `complete`, each batch replaces those before it.
    """

    def __init__(self, folder: Path, mode: str, select: Callable[[Any], Any]) -> None:
        self._folder, self._mode, self._select = folder, mode, select
        self.error: Exception | None = None

    def keep(self, rows: Any, batch: int) -> None:
        """Write the rows of a batch; what an earlier try of it has written is overwritten."""
        from pyspark.sql import functions as f

        try:
            # A task writes rows in the order in which the operator gave them.
            kept = self._select(rows).withColumn(_ROW, f.monotonically_increasing_id())
            kept._jdf.write().mode("overwrite").parquet(str(self._folder / f"{_BATCH}={batch}"))
            if self._mode == "complete":
                self._drop_before(batch)
        except Exception as error:
            # PySpark loses its cause on the way to the query.
            self.error = error
            raise

    def rows(self, like: Any, keys: Sequence[str], *, ordered_by: str | None = None) -> Any:
        """Return the rows of all batches, in the columns of the streaming rows `like`.

        With `keys`, the last row of each. With `ordered_by`, the rows of each value of this column
        are in the order in which they came.
        """
        from pyspark.sql import functions as f
        from pyspark.sql.types import LongType, StructType

        from headgate.spark_jobs.spark_reflection import literal_path

        spark, schema = like.sparkSession, like.schema
        if not any(self._folder.glob(f"{_BATCH}=*/{_SUCCESS}")):
            return spark.createDataFrame([], schema)
        more = StructType(schema.fields).add(_ROW, LongType()).add(_BATCH, LongType())
        rows = spark.read.schema(more).parquet(literal_path(str(self._folder)))
        if keys:
            rows = _last(rows, keys)
        if ordered_by in like.columns:
            rows = rows.repartition(f.col(ordered_by)).sortWithinPartitions(_BATCH, _ROW)
        return rows.select(*(f.col(f"`{name}`") for name in like.columns))

    def _drop_before(self, batch: int) -> None:
        for folder in self._folder.glob(f"{_BATCH}=*"):
            if int(folder.name.partition("=")[2]) < batch:
                shutil.rmtree(folder)


def _last(rows: Any, keys: Sequence[str]) -> Any:
    """Return the last row of each key."""
    from pyspark.sql import functions as f

    names = [f"headgate_key_{n}" for n in range(len(keys))]
    keyed = [key_column(rows, key).alias(n) for n, key in zip(names, keys, strict=True)]
    whole = f.struct(*(f.col(f"`{name}`") for name in rows.columns)).alias("row")
    at = f.struct(_BATCH, _ROW).alias("at")
    found = rows.select(*keyed, whole, at).groupBy(*names).agg(f.max_by("row", "at").alias("row"))
    return found.select("row.*")


def key_column(rows: Any, name: str) -> Any:
    """Return a column of a key; `value.FIELD` is a field of the JSON in `value`.

    CaptureError if the result has no such column.
    """
    from pyspark.sql import functions as f

    kinds = dict(rows.dtypes)
    if name in kinds:
        return f.col(f"`{name}`")
    if name.startswith("value.") and kinds.get("value") in ("string", "binary"):
        text = f.col("value").cast("string")
        return f.get_json_object(text, f"$.{name.removeprefix('value.')}")
    if name.partition(".")[0] in kinds:
        return f.col(name)
    raise CaptureError(f"--keys: the result has no column {name}. Its columns: {', '.join(kinds)}")
