"""Record restarts of changed queries as Spark does them: `record_restarts.py INTO [CASE ...]`.

INTO is a folder of cases (`tests/cases/spark_fresh/first`): the definitions of the group that is
called so are taken. Each case is run with its controls and written as evidence with its outcome.
`record_restarts.py INTO --rule` only puts the rulings of `rulings.json` into outcomes that the
controls left to a person; `--captured` rewrites that part, if the scratch folder still has
the sources. Needs the jars of `make setup` and a JDK; starts a broker for topics.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

HOME = Path(__file__).parents[1] / "tests" / "cases" / "spark_fresh"
sys.path.insert(0, str(HOME))

import definitions  # noqa: E402
import recorder  # noqa: E402
from definitions.groups import GROUPS, MODULES  # noqa: E402
from pyspark import cloudpickle  # noqa: E402
from recorder.case import CASES  # noqa: E402
from recorder.outcome import outcome, ruled  # noqa: E402
from recorder.restart import Recording  # noqa: E402

from headgate.gateway.kafka_broker.local_broker import running_broker  # noqa: E402
from headgate.local.demo.run_query import spark_jars  # noqa: E402
from headgate.spark_jobs.user_functions import watch_functions  # noqa: E402

SCRATCH = Path(os.environ.get("RESTARTS_SCRATCH", "/tmp/headgate-restarts"))
_LAUNCH = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1200m",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData",
    "spark.local.dir": str(SCRATCH / "local"),
    "spark.sql.warehouse.dir": str(SCRATCH / "warehouse"),
    "spark.log.level": "OFF",
    "spark.task.maxFailures": "1",
}


def main() -> None:
    """Record a group's cases, or those that are named."""
    into, wanted = Path(sys.argv[1]).resolve(), sys.argv[2:]
    again = "--captured" in wanted
    wanted = [name for name in wanted if name != "--captured"]
    if wanted == ["--rule"]:
        for file in sorted(into.glob("*/outcome.json")):
            _write(file, json.loads(file.read_text(encoding="utf-8")))
        return
    for package in (definitions, recorder, *MODULES):
        cloudpickle.register_pickle_by_value(package)
    cases = [CASES[name] for name in (wanted or GROUPS[into.name])]
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with ExitStack() as stack:
        broker = ""
        if any(c.topics for c in cases):
            broker = stack.enter_context(running_broker(SCRATCH / "kafka"))
            os.environ["HEADGATE_DEMO_KAFKA"] = broker
        spark = stack.enter_context(_session())
        used = watch_functions()
        for case in cases:
            begun = time.monotonic()
            try:
                recording = Recording(case, spark, SCRATCH, broker, used)
                if again:
                    recording.capture(into / case.name)
                    continue
                found = recording.record(into / case.name)
                known = outcome(case, found)
                _write(into / case.name / "outcome.json", known)
                said = f"{known['outcome']} {known['error_class'] or known['state_effect']}"
            except Exception:
                said = "NOT RECORDED\n" + traceback.format_exc(limit=-4)
            print(f"{case.name}: {said} ({time.monotonic() - begun:.1f} s)", flush=True)


def _write(file: Path, known: dict[str, Any]) -> None:
    """Write an outcome, with a person's ruling on what the controls left open."""
    rulings = json.loads((HOME / "rulings.json").read_text(encoding="utf-8"))
    ruled(CASES[known["id"]], known, file.parent, rulings)
    text = json.dumps(known, indent=1).replace(str(SCRATCH), "/data")
    file.write_text(text + "\n", encoding="utf-8")


@contextmanager
def _session() -> Iterator[Any]:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").appName("restarts")
    for key, value in {**_LAUNCH, "spark.jars": ",".join(map(str, spark_jars()))}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    try:
        yield spark
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
