"""`spark-submit` runs the Spark programs where Headgate isn't installed: their code is in a zip."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from headgate.gateway.spark.run_job import joined_jars
from scenes.small_spark import SMALL

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

LIB = Path(__file__).parents[3] / "lib"
QUERY = """
from pyspark.sql import functions as f

def build(spark):
    rows = spark.readStream.format("kafka").option("subscribe", "{topic}")
    rows = rows.option("kafka.bootstrap.servers", "{broker}").load()
    towns = rows.groupBy(f.col("value").cast("string").alias("town")).agg(f.count("*").alias("n"))
    return towns.writeStream.outputMode("complete").format("console")

def copied(spark):
    rows = spark.readStream.format("kafka").option("subscribe", "{topic}")
    rows = rows.option("kafka.bootstrap.servers", "{broker}").option("startingOffsets", "earliest")
    towns = rows.load().select(f.col("value").cast("string").alias("town"))
    return towns.writeStream.format("json").option("path", "copied")
"""


@pytest.fixture
def submit(tmp_path):
    """Submit a program; its Python sees no installed Headgate, as `-S` reads no .pth files."""
    (tmp_path / "towns.py").touch()
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    python.chmod(0o755)
    code = tmp_path / "headgate.zip"
    with zipfile.ZipFile(code, "w") as written:
        for file in LIB.rglob("*.py"):
            written.write(file, file.relative_to(LIB))
    config = [part for key, value in SMALL.items() for part in ("--conf", f"{key}={value}")]
    env = {
        **os.environ,
        "PYTHONPATH": sysconfig.get_path("purelib"),
        "PYSPARK_PYTHON": str(python),
        "PYSPARK_DRIVER_PYTHON": str(python),
    }

    def submitted(program, *arguments):
        command = (
            Path(sys.executable).with_name("spark-submit"), "--master", "local[2]", *config,
            "--jars", joined_jars(), "--py-files", f"{code},{tmp_path / 'towns.py'}",
            LIB / "headgate" / "spark_jobs" / "data" / program, *arguments,
        )  # fmt: skip
        return subprocess.run(
            tuple(map(str, command)), cwd=tmp_path, env=env, capture_output=True, text=True,
            timeout=300, check=False,
        )  # fmt: skip

    return submitted


@pytest.fixture
def towns(tmp_path, broker, topic, produce):
    """A topic with six records, and functions that read it."""
    name = topic("towns")
    produce(name, ["Ulm", "Bern", "Ulm", "Graz", "Ulm", "Bern"])
    (tmp_path / "towns.py").write_text(QUERY.format(topic=name, broker=broker))
    return name


def rows_of(folder):
    return [json.loads(line) for f in folder.glob("*.json") for line in f.read_text().splitlines()]


def test_a_range_is_replayed(submit, towns, tmp_path):
    ended = submit(
        "replay_query.py", "--entry-point=towns:build", "--to=json:out",
        "--offsets", json.dumps({towns: {"0": [1, 6]}}),
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout + ended.stderr
    found = Counter({row["town"]: row["n"] for row in rows_of(tmp_path / "out")})
    assert found == Counter(["Bern", "Ulm", "Graz", "Ulm", "Bern"])
    assert json.loads(ended.stdout.splitlines()[-1])["facts"]["read"] == 5


@pytest.mark.long
def test_outputs_are_compared(submit, tmp_path):
    (tmp_path / "a.csv").write_text("id,n\n1,2\n2,3\n")
    (tmp_path / "b.csv").write_text("id,n\n1,2\n2,4\n")
    ended = submit("compare_outputs.py", "a.csv", "b.csv", "--keys=id", "--result=result.json")
    assert ended.returncode in (0, 1), ended.stdout + ended.stderr
    found = json.loads((tmp_path / "result.json").read_text())
    assert (found["different"], found["missing"], found["extra"]) == (1, 0, 0)


@pytest.mark.long
def test_a_query_is_run_to_the_latest_offsets(submit, towns, produce, tmp_path):
    bounded = (
        "run_bounded.py", "--entry-point=towns:copied", "--checkpoint=checkpoint",
        "--bounds=bounds.json",
    )  # fmt: skip
    for _ in range(2):
        ended = submit(*bounded)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        # Of a second start with the same file, the end is the same.
        produce(towns, ["Linz"])
    assert len(rows_of(tmp_path / "copied")) == 6
