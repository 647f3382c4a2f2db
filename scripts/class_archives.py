"""Make a Java for the tests that starts Spark and Kafka faster: their classes are in archives.

`class_archives.py` prints the home of that Java, `.cache/java/<hash>`, and makes it if it is
missing: the machine's own Java behind a script, which names the archive of what is to be run. Java
itself checks whether an archive fits, and starts without it if it doesn't.

The script also keeps Java from compiling twice (`TieredStopAtLevel=1`): a test's JVM ends before
better code pays. Four tests of Spark data took 306 s of processor time without, 207 s with it.

Invariant: the folder gets its name only once it is complete.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

from headgate.gateway.kafka_broker.local_broker import running_broker
from headgate.gateway.process.jars import IVY_FILE, streams_class_path
from headgate.gateway.process.java import java

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / ".cache" / "java"
APPLICATION = ROOT / "tests" / "streams" / "Resettable.java"
# What a command line says of which archive it needs.
NAMES = {
    "spark": ("org.apache.spark.deploy.SparkSubmit",),
    "broker": ("kafka.Kafka", "kafka.tools.StorageTool"),
    "streams": (),
}
LAUNCHER = "org.apache.spark.launcher.Main"
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData"
SILENT = "-Xlog:cds=off -Xlog:cds+dynamic=off"
ENDS_IN = 180.0


def real_home() -> Path:
    """Return the home of the Java that is taken, though it be one of ours."""
    home = Path(java()).resolve().parents[1]
    mark = home / "real-home"
    return Path(mark.read_text()) if mark.is_file() else home


def folder() -> Path:
    """Return where the archives for this Java, this Spark and these jars belong."""
    spark = find_spec("pyspark")
    assert spark is not None and spark.origin is not None
    release = real_home() / "release"
    digest = hashlib.sha256(Path(__file__).read_bytes() + IVY_FILE.read_bytes())
    digest.update(release.read_bytes() if release.is_file() else b"")
    # Through links, so that two trees with one environment don't remove each other's.
    digest.update(f"{real_home()} {Path(spark.origin).resolve()}".encode())
    digest.update((Path(spark.origin).with_name("version.py")).read_bytes())
    return CACHE / digest.hexdigest()[:12]


def make() -> None:
    """Make the archives by running what they are for, and the script before Java."""
    partial = folder().with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    _link_home(partial)
    for name in NAMES:
        _write_script(partial, "-XX:ArchiveClassesAtExit={home}/{name}.jsa", only=name)
        _train(name, partial)
    for old in CACHE.glob("*"):
        if old != partial:
            shutil.rmtree(old, ignore_errors=True)
    partial.rename(folder())
    _write_script(folder(), "-XX:SharedArchiveFile={home}/{name}.jsa")


def _link_home(home: Path) -> None:
    """Make a Java's home whose every part is the real one's, but for `java` itself."""
    real = real_home()
    (home / "bin").mkdir(parents=True)
    for part in (*real.iterdir(), *(real / "bin").iterdir()):
        place = home / part.relative_to(real)
        if not place.exists():
            place.symlink_to(part)
    (home / "bin" / "java").unlink()
    (home / "real-home").write_text(str(real))


def _write_script(home: Path, option: str, only: str = "") -> None:
    run, lines = shlex.quote(str(real_home() / "bin" / "java")), ["#!/bin/sh"]
    for name in [only] if only else NAMES:
        given = shlex.quote(option.format(home=home, name=name))
        lines += ['case " $* " in', f'{_pattern(name)}) exec {run} {SILENT} {given} "$@" ;;']
        lines += [f'*" {LAUNCHER} "*) exec {run} {QUICK} "$@" ;;', "esac"]
    script = home / "bin" / "java"
    script.write_text("\n".join([*lines, f'exec {run} "$@"', ""]))
    script.chmod(0o755)


def _pattern(name: str) -> str:
    if name == "streams":
        return f"*{shlex.quote(streams_class_path())}*"
    return "|".join(f'*" {word} "*' for word in NAMES[name])


def _train(name: str, home: Path) -> None:
    """Run this file for one archive; its Java writes it when all is over."""
    env = {**os.environ, "JAVA_HOME": str(home)}
    argv = [sys.executable, __file__, name]
    with (home / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(argv, stdout=log, stderr=log, env=env, start_new_session=True)
        code = process.wait()
    deadline = time.monotonic() + ENDS_IN
    while _runs(process.pid) and time.monotonic() < deadline:
        time.sleep(0.2)
    if code or not (home / f"{name}.jsa").is_file():
        sys.exit(f"class archives: {name} was not archived; {home / f'{name}.log'} says why")


def _runs(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def run_broker(scratch: Path) -> None:
    """Start a broker, write to it, read as a group, and end it."""
    from confluent_kafka.admin import AdminClient, NewTopic

    with running_broker(scratch / "broker") as address:
        admin = AdminClient({"bootstrap.servers": address})
        admin.create_topics([NewTopic("t", 2)])["t"].result(30)
        _write(address, "t")
        _read(address, "t")
        admin.delete_topics(["t"])["t"].result(30)


def run_spark(scratch: Path) -> None:
    """Run queries over files with both kinds of state stores, and read their state."""
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as F

    builder = SparkSession.builder.master("local[2]").config("spark.driver.host", "127.0.0.1")
    builder = builder.config("spark.ui.enabled", "false").config("spark.driver.memory", "512m")
    builder = builder.config("spark.driver.extraJavaOptions", QUICK)
    spark = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    folder = "org.apache.spark.sql.execution.streaming.state"
    for provider in ("HDFSBackedStateStoreProvider", "RocksDBStateStoreProvider"):
        spark.conf.set("spark.sql.streaming.stateStore.providerClass", f"{folder}.{provider}")
        place = scratch / provider
        spark.range(20).withColumn("at", F.current_timestamp()).write.json(str(place / "in"))
        rows = spark.readStream.schema("id long, at timestamp").json(str(place / "in"))
        by = rows.withWatermark("at", "1 minute").groupBy(F.window("at", "1 minute"), "id").count()
        writer = by.writeStream.outputMode("update").option("checkpointLocation", f"{place}/a")
        writer.foreachBatch(_look).trigger(availableNow=True).start().awaitTermination()
        once = rows.dropDuplicates(["id"]).writeStream.format("parquet")
        once = once.option("checkpointLocation", f"{place}/b").option("path", f"{place}/out")
        once.trigger(processingTime="100 milliseconds").start().processAllAvailable()
        for query in spark.streams.active:
            query.stop()
        spark.read.format("statestore").load(f"{place}/a").collect()
        spark.read.parquet(f"{place}/out").groupBy("id").count().explain("formatted")
    spark.stop()


def _look(rows: object, _batch: int) -> None:
    rows.collect()  # type: ignore[attr-defined]


def run_streams(scratch: Path) -> None:
    """Run the tests' Kafka Streams application until it has written a count, and end it."""
    from confluent_kafka.admin import AdminClient, NewTopic

    with running_broker(scratch / "broker") as address:
        topics = [NewTopic(f"app-{end}", 1) for end in ("in", "out")]
        admin = AdminClient({"bootstrap.servers": address})
        for done in admin.create_topics(topics).values():
            done.result(30)
        _write(address, "app-in")
        # Compiled as it is run, its own classes are in no jar, which would have to be there again.
        settings = ("application.id=app", "prefix=app", f"state.dir={scratch}/state")
        argv = [java(), *QUICK.split(), "-cp", streams_class_path(), str(APPLICATION)]
        process = subprocess.Popen([*argv, "rekeyed", address, *settings])
        _read(address, "app-out")
        process.terminate()
        process.wait(ENDS_IN)


def _write(address: str, topic: str) -> None:
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": address})
    producer.produce(topic, b"v", b"k")
    producer.flush(20)


def _read(address: str, topic: str) -> None:
    from confluent_kafka import Consumer

    common = {"group.id": "g", "auto.offset.reset": "earliest"}
    consumer = Consumer({"bootstrap.servers": address, **common})
    consumer.subscribe([topic])
    deadline = time.monotonic() + 60
    while consumer.poll(0.5) is None and time.monotonic() < deadline:
        pass
    consumer.close()


def main() -> None:
    """Print the home, made where it is missing; or, named one, run what is to be archived."""
    if len(sys.argv) > 1:
        with tempfile.TemporaryDirectory() as scratch:
            runs = {"spark": run_spark, "broker": run_broker, "streams": run_streams}
            runs[sys.argv[1]](Path(scratch))
        return
    if not folder().is_dir():
        _make_once()
    print(folder())


def _make_once() -> None:
    """Make them, unless another process has done so meanwhile: two would use one folder."""
    CACHE.parent.mkdir(exist_ok=True)
    with (CACHE.parent / "java.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder().is_dir():
            print("set-up: archiving the classes of Spark and Kafka", file=sys.stderr, flush=True)
            make()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    main()
