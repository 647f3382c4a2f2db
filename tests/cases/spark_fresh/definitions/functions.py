"""Python functions: user-defined, over groups, with state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.streaming import StatefulProcessor
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout
from recorder.case import ROCKSDB, Place, case
from recorder.shapes import grouped


def udf_sum(name: str, factor: int, kind: str = "int") -> Any:
    def build(p: Place) -> DataFrame:
        def body(v: Any) -> Any:
            return None if v is None else v * factor

        body.__name__ = name
        return grouped(p.read().withColumn("v", F.udf(body, kind)("v")), "k", "sum(v) s")

    return build


case(
    "udf_renamed",
    "udf scale -> udf factor, the same body",
    udf_sum("scale", 1),
    udf_sum("factor", 1),
    files_tell=False,
)
case(
    "udf_other_type",
    "udf returns int -> double",
    udf_sum("scale", 1),
    udf_sum("scale", 1, "double"),
)
case(
    "udf_put_before_aggregate",
    "sum(v) -> sum(udf(v))",
    lambda p: grouped(p.read(), "k", "sum(v) s"),
    udf_sum("scale", 2),
)


def pandas_sum(name: str, factor: int) -> Any:
    def build(p: Place) -> DataFrame:
        def body(v: pd.Series) -> pd.Series:
            return v * factor

        body.__name__ = name
        scaled = F.pandas_udf(body, "bigint")
        return grouped(p.read().withColumn("v", scaled("v")), "k", "sum(v) s")

    return build


case(
    "udf_python_to_pandas",
    "udf -> pandas_udf, the same result",
    udf_sum("scale", 1, "bigint"),
    pandas_sum("scale", 1),
    files_tell=False,
)
case(
    "udf_pandas_body",
    "pandas_udf: x -> 10 x",
    pandas_sum("scale", 1),
    pandas_sum("scale", 10),
    files_tell=False,
)


def counted(
    key: str,
    state: str = "c long",
    out: str = "k string, c long",
    wait: Any = GroupStateTimeout.NoTimeout,
) -> Any:
    def build(p: Place) -> DataFrame:
        def body(
            keys: Any, frames: Iterator[pd.DataFrame], state: GroupState
        ) -> Iterator[pd.DataFrame]:
            before = state.get[0] if state.exists else 0
            n = int(before) + sum(len(f) for f in frames)
            state.update((n,))
            yield pd.DataFrame({"k": [keys[0]], "c": [n]})

        return p.read().groupBy(key).applyInPandasWithState(body, out, state, "update", wait)

    return build


case("fmgws_other_key", "groupBy(k) -> groupBy(d)", counted("k"), counted("d"))
case(
    "fmgws_output_renamed",
    "output (k, c) -> (k, c double)",
    counted("k"),
    counted("k", out="k string, c double"),
    files_tell=False,
)
case("fmgws_state_to_int", "state c long -> c short", counted("k"), counted("k", state="c short"))


def flat(p: Place) -> DataFrame:
    return grouped(p.read(), "k", "count(*) c")


case("fmgws_to_aggregate", "applyInPandasWithState -> count", counted("k"), flat)


def processor(variable: str, field: str = "c long", key: str = "k", mode: str = "Update") -> Any:
    def build(p: Place) -> DataFrame:
        class Count(StatefulProcessor):
            def init(self, handle: Any) -> None:
                self.count = handle.getValueState(variable, field)

            def handleInputRows(self, key: Any, rows: Any, timers: Any) -> Iterator[pd.DataFrame]:
                before = self.count.get()[0] if self.count.exists() else 0
                n = int(before) + sum(len(r) for r in rows)
                self.count.update((n,))
                yield pd.DataFrame({"k": [key[0]], "c": [n]})

            def close(self) -> None:
                pass

        return (
            p.read()
            .groupBy(key)
            .transformWithStateInPandas(
                statefulProcessor=Count(),
                outputStructType="k string, c long",
                outputMode=mode,
                timeMode="None",
            )
        )

    return build


TWS = {"settings": ROCKSDB}
case("tws_other_key", "groupBy(k) -> groupBy(d)", processor("n"), processor("n", key="d"), **TWS)
case("tws_variable_renamed", "n -> m", processor("n"), processor("m"), files_tell=False, **TWS)
case(
    "tws_value_narrower",
    "n: c long -> c int",
    processor("n"),
    processor("n", "c int"),
    files_tell=False,
    **TWS,
)
case(
    "tws_output_mode",
    "Update -> Append",
    processor("n"),
    processor("n", mode="Append"),
    new_mode="append",
    **TWS,
)
case("tws_to_aggregate", "transformWithState -> count", processor("n"), flat, **TWS)
