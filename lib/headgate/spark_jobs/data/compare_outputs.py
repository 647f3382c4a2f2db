"""The program that compares two outputs by key and writes what differs as JSON.

    spark-submit compare_outputs.py A B --keys id[,more] [--tolerance X] [--ignore COLUMNS]
        [--newest] [--samples N] [--result FILE | --report FOLDER] [--connections FILE]

A and B are a path, `kafka:TOPIC[@FROM..TO]` or `jdbc:NAME.TABLE`. The file of connections is
`{"kafka": {client settings}, "jdbc": {NAME: {"url", "user", "password"}}}`; without one it is read
from the environment variable HEADGATE_CONNECTIONS. The result goes to FILE, else to stdout. With
`--report` it is the report's facts; those of an error are its `kind`, the name of its class.
Exits 0 if the outputs are equal, 1 if they differ, 2 if something given is wrong, 4 if a server did
not respond.
"""

from __future__ import annotations

import argparse
import json
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from headgate.errors import HeadgateError, OutputError
from headgate.spark_jobs.data.output_address import TableOutput, parse_address
from headgate.spark_jobs.data.read_output import (
    Connections,
    Output,
    database_error,
    given_connections,
    read_output,
    spark_error,
)
from headgate.spark_jobs.data.report import Ended, Report, run
from headgate.text.near_names import near_names
from headgate.text.secrets import mask_json, mask_text

MOST_SAMPLES = 20
_LONGEST_TEXT = 400
_EVERY_S = 0.5
_SETTINGS = {
    # What a timestamp means must not depend on where this runs.
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.caseSensitive": "true",
}
Say = Callable[[str], None]


def main() -> None:
    """Run the program."""
    parser = argparse.ArgumentParser(description="Compare two outputs by key.")
    parser.add_argument("a", help="a path, kafka:TOPIC[@FROM..TO] or jdbc:NAME.TABLE")
    parser.add_argument("b", help="the output to compare with A")
    parser.add_argument("--keys", required=True, help="columns that identify a row, such as id,day")
    tolerance = "two numbers count as equal up to this difference (default 0)"
    parser.add_argument("--tolerance", type=float, default=0.0, help=tolerance)
    parser.add_argument("--ignore", default="", help="columns not to compare, separated by commas")
    newest = "compare only the newest record of each key (topics)"
    parser.add_argument("--newest", action="store_true", help=newest)
    samples = f"maximum number of different rows to show (at most {MOST_SAMPLES}, the default)"
    parser.add_argument("--samples", type=int, default=MOST_SAMPLES, help=samples)
    parser.add_argument("--result", help="file to write the result to (default: stdout)")
    parser.add_argument("--connections", help="JSON file with the settings of Kafka and databases")
    run(parser, work, _write)


def work(given: argparse.Namespace, report: Report) -> Ended:
    """Compare; the exit code says what came out."""

    def say(text: str) -> None:
        # Otherwise it went to stderr, which `spark-submit` joins with the result on stdout.
        if given.report:
            report.progress(note=text)

    try:
        found = _compare(given, say)
    except HeadgateError as error:
        return Ended("failed", {"kind": type(error).__name__}, str(error), error.exit_code)
    return Ended("done", found, code=0 if found["equal"] else 1)


def _write(given: argparse.Namespace, ended: Ended) -> None:
    """Write the facts, and the error if there is one, to the file of `--result` or to stdout."""
    error = {"error": mask_text(ended.error)} if ended.error else {}
    text = json.dumps(error | dict(ended.facts), ensure_ascii=False)
    if not given.result:
        print(text)
        return
    draft = Path(f"{given.result}.part")
    draft.write_text(text, encoding="utf-8")
    draft.replace(given.result)


def _compare(args: argparse.Namespace, say: Say) -> dict[str, Any]:
    for text in (args.a, args.b):
        parse_address(text)
    keys, ignored = _names(args.keys), _names(args.ignore)
    check(keys, ignored, args.tolerance)
    connections = given_connections(
        Path(args.connections).read_text(encoding="utf-8") if args.connections else None
    )
    say("Starting Spark")
    spark = _session()
    try:
        outputs = []
        for text in (args.a, args.b):
            say(f"Reading {text}")
            outputs.append(_read(spark, text, connections, keys, args.newest))
        return _judge(spark, args, outputs, (keys, ignored), say)
    finally:
        spark.stop()


def _names(text: str) -> list[str]:
    return list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def check(keys: Sequence[str], ignored: Sequence[str], tolerance: float) -> None:
    """Raise OutputError if the options contradict each other or have no meaning."""
    if not keys:
        raise OutputError("a comparison needs key columns: pass --keys, such as --keys id")
    if both := [k for k in keys if k in ignored]:
        raise OutputError(f"column {both[0]} is a key, so --ignore can't leave it out")
    if not 0 <= tolerance < float("inf"):
        raise OutputError(f"--tolerance must be a number, 0 or more, found {tolerance:g}")


def _session() -> Any:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("headgate-compare-output")
    for key, value in _SETTINGS.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    for key, value in _SETTINGS.items():
        spark.conf.set(key, value)
    return spark


def _read(
    spark: Any, text: str, connections: Connections, keys: Sequence[str], newest: bool
) -> Output:
    """Read an output; what Spark says of it becomes an error of ours."""
    address = parse_address(text)
    try:
        return read_output(spark, address, connections, keys=keys, newest=newest)
    except HeadgateError:
        raise
    except Exception as error:
        if isinstance(address, TableOutput):
            raise database_error(text, error) from error
        raise spark_error(f"{text} can't be read", error) from error


def _judge(
    spark: Any,
    args: argparse.Namespace,
    outputs: Sequence[Output],
    columns: tuple[list[str], list[str]],
    say: Say,
) -> dict[str, Any]:
    from headgate.spark_jobs.data.compare_rows import Comparison, compare_rows

    keys, ignored = columns
    notes = [note for output in outputs for note in output.notes]
    shared = {"keys": keys, "tolerance": args.tolerance, "ignored": ignored, "notes": notes}
    a, b = _with_columns(outputs)
    if a is None or b is None:
        return _nothing() | shared
    which = _columns(a, b, (args.a, args.b), keys, ignored)
    what = Comparison(*which, args.tolerance, min(max(args.samples, 0), MOST_SAMPLES) or 1)
    a, b = (rows.persist() if output.is_costly else rows
            for rows, output in zip((a, b), outputs, strict=True))  # fmt: skip
    say("Comparing")
    with _Progress(spark, say):
        try:
            found = compare_rows(a, b, what)
        except HeadgateError:
            raise
        except Exception as error:
            raise _failed(args, error) from error
    for column, one in zip(found["columns"], which[1], strict=True):
        column |= {"type_a": _type(one.kind_a), "type_b": _type(one.kind_b)}
    notes += _notes(found)
    equal = not (found["missing"] or found["extra"] or found["different"])
    found["samples"] = [_masked(sample) for sample in found["samples"][: args.samples]]
    return {"equal": equal} | found | shared


def _failed(args: argparse.Namespace, error: Exception) -> HeadgateError:
    for text in (args.a, args.b):
        if isinstance(parse_address(text), TableOutput) and "SQLException" in str(error):
            return database_error(text, error)
    return spark_error(f"{args.a} and {args.b} can't be compared", error)


def _with_columns(outputs: Sequence[Output]) -> tuple[Any, Any]:
    """Return both sides' rows; one without data has the other's columns and no row."""
    a, b = (output.rows for output in outputs)
    if a is None and b is not None:
        return b.limit(0), b
    if b is None and a is not None:
        return a, a.limit(0)
    return a, b


def _nothing() -> dict[str, Any]:
    counts = dict.fromkeys(("missing", "extra", "different"), 0)
    return {"equal": True, "rows": {"a": 0, "b": 0}, **counts, "columns": [], "samples": [],
            "has_duplicates": False}  # fmt: skip


def _columns(
    a: Any, b: Any, names: tuple[str, str], keys: list[str], ignored: list[str]
) -> tuple[list[Any], list[Any]]:
    """Return the key columns and the others; OutputError where an output lacks one."""
    from pyspark.sql.types import NullType

    from headgate.spark_jobs.data.compare_rows import ComparedColumn, KeyColumn, unusable_keys

    kinds_a, kinds_b = ({f.name: f.dataType for f in rows.schema.fields} for rows in (a, b))
    for name, kinds in zip(names, (kinds_a, kinds_b), strict=True):
        for key in keys:
            if key not in kinds:
                raise OutputError(_no_column(name, key, list(kinds)))
    for column in ignored:
        if column not in kinds_a and column not in kinds_b:
            known = list(dict.fromkeys((*kinds_a, *kinds_b)))
            raise OutputError(_no_column("neither output", column, known, has=""))
    by = [KeyColumn(k, kinds_a[k], kinds_b[k]) for k in keys]
    if bad := unusable_keys(by):
        raise OutputError(
            f"column {bad[0]} contains a map or variant, which can't be a key. Choose other key "
            "columns"
        )
    others = [n for n in dict.fromkeys((*kinds_a, *kinds_b)) if n not in (*keys, *ignored)]
    none = NullType()
    return by, [ComparedColumn(n, kinds_a.get(n, none), kinds_b.get(n, none)) for n in others]


def _no_column(name: str, column: str, known: list[str], has: str = " has no") -> str:
    near = near_names(column, known, 1)
    hint = f"did you mean {near[0]}?" if near else f"choose one of {', '.join(sorted(known)[:20])}"
    what = f"{name}{has} column {column}" if has else f"{name} has column {column}"
    return f"{what}: {hint}"


def _type(kind: Any) -> str | None:
    from pyspark.sql.types import NullType

    return None if isinstance(kind, NullType) else str(kind.simpleString())


def _notes(found: dict[str, Any]) -> list[str]:
    notes = []
    for column in found["columns"]:
        one, other = column["type_a"], column["type_b"]
        if (one is None) != (other is None):
            has, lacks = ("A", "B") if other is None else ("B", "A")
            notes.append(
                f"Column {column['name']} is only in {has}, and counts as null in {lacks}."
            )
        elif one != other:
            notes.append(f"Column {column['name']} is {one} in A and {other} in B.")
    if found["has_duplicates"]:
        notes.append("Several rows have the same key. The comparison ignores their order.")
    return notes


def _masked(sample: dict[str, Any]) -> dict[str, Any]:
    return {name: _cut(mask_json(value)) for name, value in sample.items()}


def _cut(value: Any) -> Any:
    """Return a value with long texts cut."""
    if isinstance(value, str) and len(value) > _LONGEST_TEXT:
        return f"{value[:_LONGEST_TEXT]}…"
    if isinstance(value, list):
        return [_cut(v) for v in value]
    if isinstance(value, dict):
        return {k: _cut(v) for k, v in value.items()}
    return value


class _Progress:
    """Say how many of Spark's tasks are done, for the time of a `with` block."""

    def __init__(self, spark: Any, say: Say) -> None:
        self._tracker = spark.sparkContext.statusTracker()
        self._say, self._stop = say, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        last = None
        while not self._stop.wait(_EVERY_S):
            infos = filter(None, map(self._tracker.getStageInfo, self._tracker.getActiveStageIds()))
            counts = [(i.numCompletedTasks, i.numTasks) for i in infos]
            done, all_tasks = (sum(c[n] for c in counts) for n in (0, 1))
            if counts and (done, all_tasks) != last:
                last = done, all_tasks
                self._say(f"Comparing: {done} of {all_tasks} tasks of this stage done")


if __name__ == "__main__":
    main()
