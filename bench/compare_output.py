"""Two outputs of 10 million rows: against one plain full outer join of the same Parquet files.

Both run in the same Spark and take turns. The join writes its rows nowhere (format `noop`). One row
in a thousand is missing, one extra and one different.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from harness import Row, least_of

ROWS = int(os.environ.get("BENCH_COMPARE_ROWS", "10000000"))
TIMES = 4
_KEYS = ["id"]


def rows() -> Iterator[Row]:
    """Yield the comparison beside the join, measured by this file in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="bench-compare-output-") as folder:
        subprocess.run([sys.executable, __file__, folder], check=True)
        told = json.loads(Path(folder, "told.json").read_text(encoding="utf-8"))
    yield Row(
        subject=f"compare two outputs of {ROWS:,} rows, five columns",
        ours=told["ours"],
        peer=told["join"],
        goal="at most 1.2 times a plain full outer join",
        met=told["ours"] <= 1.2 * told["join"],
        peer_is="Spark's full outer join of the same files, written nowhere",
    )
    yield Row(
        subject="the same with every key twice, as a multiset",
        ours=told["twice"],
        peer=told["join_twice"],
        goal="informs",
        peer_is="the same join; it pairs each row with two",
    )


def session(folder: Path) -> Any:
    """Return a local Spark of two cores."""
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "5g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.local.dir": str(folder / "local"),
        "spark.log.level": "ERROR",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.caseSensitive": "true",
        "spark.sql.shuffle.partitions": "64",
    }
    builder = SparkSession.builder.master("local[2]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def generate(spark: Any, folder: Path, count: int) -> None:
    """Write outputs A and B."""
    a = spark.range(count).selectExpr(
        "id",
        "id % 1000 AS city",
        "concat('customer-', id % 50000) AS customer",
        "CAST(xxhash64(id) AS DOUBLE) / 1e12 AS amount",
        "timestamp_seconds(1764000000 + id % 86400) AS at",
    )
    a.write.parquet(str(folder / "a"))
    b = spark.read.parquet(str(folder / "a")).selectExpr(
        "IF(id % 1000 = 5, id + 1000000000, id) AS id",
        "city",
        "customer",
        "IF(id % 1000 = 7, amount + 1, amount) AS amount",
        "at",
    )
    b.write.parquet(str(folder / "b"))


def compare(a: Any, b: Any) -> dict[str, Any]:
    """Compare as the program does once it has read both."""
    from headgate.spark_jobs.data.compare_rows import (
        ComparedColumn,
        Comparison,
        KeyColumn,
        compare_rows,
    )

    kinds = {field.name: field.dataType for field in a.schema.fields}
    keys = [KeyColumn(k, kinds[k], kinds[k]) for k in _KEYS]
    columns = [ComparedColumn(n, kind, kind) for n, kind in kinds.items() if n not in _KEYS]
    return compare_rows(a, b, Comparison(keys, columns))


def join(a: Any, b: Any) -> None:
    """Do the plain join."""
    a.join(b, _KEYS, "full_outer").write.format("noop").mode("overwrite").save()


def _measure(folder: Path) -> None:
    spark = session(folder)
    generate(spark, folder, ROWS)
    a, b = (spark.read.parquet(str(folder / name)) for name in "ab")
    expected = ROWS // 1000

    def ours() -> None:
        found = compare(a, b)
        counts = tuple(found[word] for word in ("missing", "extra", "different"))
        assert counts == (expected,) * 3, counts

    told = dict(zip(("ours", "join"), least_of((ours, lambda: join(a, b)), TIMES), strict=True))
    fewer = [rows.where("id % 10 = 0") for rows in (a, b)]
    twice = [rows.unionAll(rows) for rows in fewer]
    told["twice"] = _seconds(lambda: compare(*twice))
    told["join_twice"] = _seconds(lambda: join(*twice))
    (folder / "told.json").write_text(json.dumps(told), encoding="utf-8")
    spark.stop()


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    _measure(Path(sys.argv[1]))
