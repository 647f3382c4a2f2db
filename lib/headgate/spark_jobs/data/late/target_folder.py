"""The folder whose results are replaced: its rows, and which of its files hold touched keys."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from headgate.errors import CaptureError
from headgate.spark_jobs.data.late.touched_keys import same_key
from headgate.spark_jobs.spark_reflection import literal_path

FORMATS = ("parquet", "orc", "json")
# They keep the lowest and highest values of the columns. JSON would be read faster, too, but wrong
# values of rows out of these bounds would go unseen.
_WITH_BOUNDS = ("parquet", "orc")
# What a Parquet schema says of a timestamp, and the setting of Spark that writes such ones.
_TIMESTAMPS = {
    "int96": "INT96",
    "TIMESTAMP(MICROS": "TIMESTAMP_MICROS",
    "TIMESTAMP(MILLIS": "TIMESTAMP_MILLIS",
}


@dataclass(frozen=True, slots=True)
class TargetFolder:
    """A folder of files of one format, on a file system that this program sees."""

    format: str
    path: Path

    def partitions(self) -> list[str]:
        """Return the columns that are the names of its folders, as in `city=a/day=1`."""
        found, folder = [], self.path
        while names := sorted(p for p in folder.iterdir() if p.is_dir() and "=" in p.name):
            folder = names[0]
            found.append(unquote(folder.name.partition("=")[0]))
        return found

    def files(self) -> list[Path]:
        """Return all of its files but the hidden ones, which are checksums."""
        found = (Path(root) / n for root, _, names in os.walk(self.path) for n in names)
        return sorted(p for p in found if not p.name.startswith((".", "_")))

    def rows(self, like: Any, files: Sequence[str] | None = None) -> Any:
        """Return its rows with the columns and types of the result `like`.

        Spark fails at a JSON value of another type, instead of reading null.
        """
        reader = like.sparkSession.read.format(self.format).schema(like.schema)
        reader = reader.option("mode", "FAILFAST")
        if files is None:
            return reader.load(literal_path(str(self.path)))
        if not files:
            return like.where("false")
        return reader.option("basePath", str(self.path)).load(
            [_uri(literal_path(f)) for f in files]
        )

    def check(self, like: Any) -> None:
        """CaptureError if a result wouldn't fit between the rows that are there."""
        if not self.files():
            raise CaptureError(
                f"{self.path} has no files. Write all results to this folder first, for example "
                "with `headgate plan historical-range`"
            )
        reader = like.sparkSession.read.format(self.format).option("mode", "FAILFAST")
        # Columns that only some of the files have would be lost, too.
        reader = reader.option("mergeSchema", "true")
        there = dict(reader.load(literal_path(str(self.path))).dtypes)
        wanted = dict(like.dtypes)
        if there.keys() != wanted.keys():
            raise CaptureError(
                f"{self.path} has the columns {', '.join(there)}, but the results have "
                f"{', '.join(wanted)}. Pass a folder with results of this query"
            )
        # Of these, Spark guesses the types: from the names of folders, and from text.
        loose = set(wanted) if self.format == "json" else set(self.partitions())
        for name, kind in wanted.items():
            if name not in loose and there[name] != kind:
                raise CaptureError(
                    f"column {name} of {self.path} is {there[name]}, but the results have "
                    f"{kind}. Pass a folder with results of this query"
                )

    def facts(self, touch: Any) -> dict[str, Any]:
        """Return how much of it there is, and how much has results of the touched keys."""
        files = self.touched(touch)
        sizes = {str(p.resolve()): p.stat().st_size for p in self.files()}
        return {
            "rows": self.rows(touch.rows).count(),
            "touched_rows": sum(files.values()),
            "files": len(sizes),
            "touched_files": len(files),
            "bytes": sum(sizes.values()),
            "touched_bytes": sum(sizes.get(str(Path(f).resolve()), 0) for f in files),
            "nulls": [],
        }

    def touched(self, touch: Any) -> dict[str, int]:
        """Return how many rows of touched keys each file holds; files without one are left out."""
        from pyspark.sql import functions as f

        rows = self.rows(touch.rows)
        if self.format in _WITH_BOUNDS:
            rows = rows.where(touch.near)
        rows = rows.select("*", f.col("_metadata.file_path").alias("headgate_file"))
        found = rows.join(touch.sent(), same_key(touch.columns), "left_semi")
        counts = found.groupBy("headgate_file").count().collect()
        return {unquote(urlsplit(row[0]).path): int(row[1]) for row in counts}

    def write(self, rows: Any, to: Path, touched: Mapping[str, int]) -> int:
        """Write rows in place of the touched files; the other files are linked. Return their count.

        A folder that is there from an earlier try is overwritten.
        """
        if kind := self._timestamps(rows.sparkSession):
            rows.sparkSession.conf.set("spark.sql.parquet.outputTimestampType", kind)
        writer = rows._jdf.write().format(self.format).mode("overwrite")
        by = self.partitions()
        if by:
            gateway = rows.sparkSession.sparkContext._gateway
            names = gateway.new_array(gateway.jvm.java.lang.String, len(by))
            for n, name in enumerate(by):
                names[n] = name
            writer = writer.partitionBy(names)
        writer.save(str(to))
        return self._link_others(to, touched)

    def _timestamps(self, spark: Any) -> str | None:
        """Return how its Parquet files hold timestamps: consumers of a folder expect one way."""
        files = self.files()
        if self.format != "parquet" or not files:
            return None
        jvm, conf = spark._jvm, spark._jsc.hadoopConfiguration()
        path = jvm.org.apache.hadoop.fs.Path(_uri(str(files[0])))
        file = jvm.org.apache.parquet.hadoop.util.HadoopInputFile.fromPath(path, conf)
        reader = jvm.org.apache.parquet.hadoop.ParquetFileReader.open(file)
        schema = str(reader.getFooter().getFileMetaData().getSchema())
        reader.close()
        found = (kind for mark, kind in _TIMESTAMPS.items() if mark in schema)
        return next(found, None)

    def _link_others(self, to: Path, touched: Mapping[str, int]) -> int:
        """Link the files that hold no touched key into the new folder; nobody edits them."""
        gone = {Path(file).resolve() for file in touched}
        linked = 0
        for root, _, names in os.walk(self.path):
            for name in names:
                path = Path(root) / name
                checked = path.with_name(name.removeprefix(".").removesuffix(".crc"))
                is_marker = root == str(self.path) and checked.name == "_SUCCESS"
                if is_marker or path.resolve() in gone or checked.resolve() in gone:
                    continue
                new = to / path.relative_to(self.path)
                new.parent.mkdir(parents=True, exist_ok=True)
                _link(path, new)
                linked += not name.startswith((".", "_"))
        return linked


@dataclass(frozen=True, slots=True)
class NewFolder:
    """A whole copy of a folder with new results of the touched keys."""

    old: TargetFolder
    path: Path

    def write(self, results: Any, touch: Any) -> dict[str, int]:
        """Write it; return how many old rows and files are in it or not."""
        from pyspark.sql import Observation
        from pyspark.sql import functions as f

        from headgate.spark_jobs.data.replay_query import counted

        files = self.old.touched(touch)
        kept = Observation("kept")
        others = self.old.rows(touch.rows, sorted(files))
        others = others.join(touch.sent(), same_key(touch.columns), "left_anti")
        others = others.observe(kept, f.count(f.lit(1)).alias("rows"))
        linked = self.old.write(others.unionByName(results), self.path, files)
        return {
            "replaced": sum(files.values()),
            "kept": counted(kept) if files else 0,
            "rewritten": len(files),
            "linked": linked,
        }


def read_folder(text: str) -> TargetFolder:
    """Return the folder that `FORMAT:PATH` names; CaptureError if there is none such."""
    kind, _, path = text.partition(":")
    if kind not in FORMATS or not path:
        known = ", ".join(FORMATS)
        raise CaptureError(
            f"--target: expected jdbc:NAME.TABLE or FORMAT:PATH (formats: {known}), found {text!r}"
        )
    if not Path(path).is_dir():
        raise CaptureError(f"folder {path} with the old results not found. Check the path")
    return TargetFolder(kind, Path(path))


def _uri(file: str) -> str:
    """Return a path as Hadoop takes it: it decodes nothing."""
    return f"file:{file}"


def _link(path: Path, new: Path) -> None:
    try:
        os.link(path, new)
    except OSError:
        shutil.copy2(path, new)
