"""How far a batch has read each Kafka partition, from the tasks that read it.

A batch has no offset log. But each task of a Kafka scan reads one range of offsets, and Spark
reports how many records a task has read. Records are fewer than offsets if a topic is compacted
or has transaction markers. So the partition of a running task is at least at the reported offset.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from headgate.spark_jobs.data.offset_ranges import OffsetRanges
from headgate.spark_jobs.data.report import Report
from headgate.spark_jobs.spark_reflection import elements, kind_of

# The newer of Spark's two Kafka readers: only its tasks count the records that they have read.
_OLD_READERS, _NEW_KAFKA = "spark.sql.sources.useV1SourceList", "avro,csv,json,orc,parquet,text"
_HEARTBEAT = "spark.executor.heartbeatInterval"
Parts = dict[str, tuple[int, int, int]]


@dataclass(frozen=True, slots=True)
class Task:
    """The offsets that a task reads."""

    topic: str
    partition: int
    begin: int
    end: int


def counting_session(name: str) -> Any:
    """Return a session whose Kafka tasks report every two seconds what they have read."""
    from pyspark import SparkConf
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName(name)
    if not SparkConf().contains(_HEARTBEAT):
        builder = builder.config(_HEARTBEAT, "2s")
    spark = builder.getOrCreate()
    spark.conf.set(_OLD_READERS, _NEW_KAFKA)
    return spark


class KafkaReading:
    """Observes the running query of a session; `ranges` are what it reads in all."""

    def __init__(self, spark: Any, ranges: OffsetRanges) -> None:
        self._spark, self._ranges = spark, ranges
        # By the RDD that the tasks of a scan compute.
        self._scans: dict[int, tuple[Task, ...]] = {}

    def look(self) -> Parts | None:
        """Return first offset, offset and end by partition; None as long as no task is known."""
        for plan in self._plans():
            rdd = int(plan.inputRDD().id())
            if rdd not in self._scans:
                self._scans[rdd] = _tasks(plan)
        read = self._read()
        return None if read is None else self._parts(read)

    def whole(self) -> Parts:
        """Return the partitions as they are once the query has ended well."""
        ends = {
            (topic, number, begin): end
            for topic, parts in self._ranges.parts.items()
            for number, (begin, end) in parts.items()
        }
        return self._parts(ends)

    def _parts(self, read: dict[tuple[str, int, int], int]) -> Parts:
        """Return the partitions; `read` has the offset of each range by its first one."""
        done: Counter[tuple[str, int]] = Counter()
        for (topic, number, first), at in read.items():
            done[topic, number] += at - first
        return {
            f"{topic}[{number}]": (begin, min(begin + done[topic, number], end), end)
            for topic, parts in sorted(self._ranges.parts.items())
            for number, (begin, end) in sorted(parts.items())
            if end > begin
        }

    def _plans(self) -> Iterator[Any]:
        """Yield the Kafka scans of the queries that run now."""
        jvm = self._spark._jvm
        store = self._spark._jsparkSession.sharedState().statusStore()
        for number in range(int(store.executionsCount())):
            running = jvm.org.apache.spark.sql.execution.SQLExecution.getQueryExecution(number)
            if running is not None:
                yield from _kafka_scans(running.executedPlan())

    def _read(self) -> dict[tuple[str, int, int], int] | None:
        """Return by range how far its tasks are; None if no stage is that of a known scan."""
        found: dict[tuple[str, int, int], int] | None = None
        for stage in stages(self._spark):
            ids = {int(i) for i in elements(stage.rddIds())}
            tasks = [task for rdd, own in self._scans.items() if rdd in ids for task in own]
            # Of a stage with other tasks too, nothing says which of them read what.
            if not tasks or int(stage.numTasks()) != len(tasks):
                continue
            found = {} if found is None else found
            for index, at in self._ats(stage, tasks):
                task = tasks[index]
                key = (task.topic, task.partition, task.begin)
                found[key] = max(at, found.get(key, task.begin))
        return found

    def _ats(self, stage: Any, tasks: list[Task]) -> Iterator[tuple[int, int]]:
        told = (
            self._spark._jsc.sc()
            .statusStore()
            .taskList(stage.stageId(), stage.attemptId(), 1 << 30)
        )
        for one in elements(told):
            index, status = int(one.index()), str(one.status())
            if status == "SUCCESS":
                yield index, tasks[index].end
            elif status == "RUNNING" and one.taskMetrics().isDefined():
                count = int(one.taskMetrics().get().inputMetrics().recordsRead())
                yield index, min(tasks[index].begin + count, tasks[index].end)


def stages(spark: Any) -> list[Any]:
    """Return the stages of all jobs so far, as Spark's UI knows them."""
    none = spark._jvm.java.util.ArrayList()
    quantiles = spark.sparkContext._gateway.new_array(spark._jvm.double, 0)
    store = spark._jsc.sc().statusStore()
    return elements(store.stageList(none, False, False, quantiles, none))


def report_reading(report: Report, parts: Parts | None) -> None:
    """Report offsets by partition, and their sum."""
    if not parts:
        return
    done = sum(at - begin for begin, at, _ in parts.values())
    total = sum(end - begin for begin, _, end in parts.values())
    report.progress(done=done, total=total, unit="records", partitions=parts)


def _kafka_scans(plan: Any) -> Iterator[Any]:
    """Yield the Kafka scans of a physical plan, from left to right."""
    kind = kind_of(plan)
    if kind == "BatchScanExec":
        if "kafka" in str(plan.scan().getClass().getName()):
            yield plan
    elif kind == "AdaptiveSparkPlanExec":
        yield from _kafka_scans(plan.executedPlan())
    elif kind.endswith("QueryStageExec"):
        yield from _kafka_scans(plan.plan())
    else:
        for child in elements(plan.children()):
            yield from _kafka_scans(child)


def _tasks(plan: Any) -> tuple[Task, ...]:
    """Return what the tasks of a Kafka scan read, by index."""
    tasks = []
    for part in elements(plan.inputPartitions()):
        offsets = part.offsetRange()
        name = offsets.topicPartition()
        limits = int(offsets.fromOffset()), int(offsets.untilOffset())
        tasks.append(Task(str(name.topic()), int(name.partition()), *limits))
    return tuple(tasks)
