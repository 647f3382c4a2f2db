"""Record the types of Spark's functions: `python tests/golden/spark/making/function_types.py`.

Each expression of the recorded file is planned again over columns with and without nulls, with ANSI
mode on and off; what the analysed and the optimized plan print, as text and as JSON, gets the
type and the nullability that Spark says. Writes tests/golden/functions/spark_4.2.0.json.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T

from headgate.parse.spark.plan_json.expression import expression as as_text

FILE = Path(__file__).parents[2] / "functions" / "spark_4.2.0.json"
COLUMNS = (
    "i int, l bigint, sh smallint, d double, f float, s string, dec decimal(10,2), dt date, "
    "ts timestamp, b boolean, bin binary, ai array<int>, ad array<double>, ass array<string>, "
    "m map<string,int>, st struct<a:int,b:string>"
)
# Seeds, today's date and names that differ each time.
_OTHERWISE_EACH_TIME = re.compile(r"Some\(-?\d{6,}|\d{4}-\d\d-\d\d \d\d:|common_expr")
_LONGEST = 160


def schema() -> T.StructType:
    """Return each column twice: without nulls, and with them as `n_` and its name."""
    found = T.StructType()
    for field in T._parse_datatype_string(COLUMNS).fields:
        found.add(T.StructField(field.name, field.dataType, False))
        found.add(T.StructField(f"n_{field.name}", field.dataType, True))
    return found


def printed(rows: DataFrame, sql: str) -> Iterator[tuple[str, Any, bool]]:
    """Yield each text of an expression, with its type and nullability; columns count from #0."""
    columns = rows._jdf.queryExecution().analyzed().output()
    ids = {int(columns.apply(n).exprId().id()): n for n in range(columns.size())}

    def counted(text: str) -> str:
        return re.sub(r"#(\d+)", lambda m: f"#{ids.get(int(m[1]), m[1])}", text)

    execution = rows.selectExpr(f"{sql} as x")._jdf.queryExecution()
    for plan in (execution.analyzed(), execution.optimizedPlan()):
        if str(plan.nodeName()) != "Project":
            continue
        alias = plan.expressions().apply(0)
        child = alias.child() if str(alias.getClass().getSimpleName()) == "Alias" else alias
        about = json.loads(child.dataType().json()), bool(child.nullable())
        yield counted(str(child.toString())), *about
        nodes = json.loads(plan.toJSON())[0]["projectList"][0]
        yield counted(as_text(nodes[1:] if child is not alias else nodes)), *about


def main() -> None:
    """Plan every expression in both modes."""
    known = json.loads(FILE.read_text(encoding="utf-8"))["expressions"]
    found: dict[str, dict[str, Any]] = {}
    for mode, word in (("ansi", "true"), ("no_ansi", "false")):
        spark = (
            SparkSession.builder.master("local[1]")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.session.timeZone", "UTC")
            .config("spark.sql.ansi.enabled", word)
            .getOrCreate()
        )
        rows = spark.createDataFrame([], schema())
        for sql in dict.fromkeys(one["from"] for one in known):
            for text, kind, null in printed(rows, sql):
                if _OTHERWISE_EACH_TIME.search(text) or len(text) > _LONGEST:
                    continue
                one = found.setdefault(text, {"from": sql, "type": kind})
                one["type"] = kind if one["type"] == kind else None
                one[mode] = null if one.get(mode, null) == null else None
        spark.stop()
    lines = ",\n".join(json.dumps({"text": t, **one}) for t, one in sorted(found.items()))
    text = f'{{"columns": "{COLUMNS}",\n"expressions": [\n{lines}\n]}}\n'
    FILE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
