"""Rehearse recorded upgrades of Kafka Streams and write down how the outcomes agree.

usage: rehearse_upgrades.py TABLE CASE...

Each CASE is a folder of tests/cases, of tests/cases/streams_fresh/recorder's Java. The old
version runs on a broker; the new one is rehearsed on that broker and state directory. TABLE gets
one line for each, in Markdown.
"""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from headgate.errors import HeadgateError
from headgate.gateway.kafka_broker.local_broker import running_broker
from headgate.gateway.process.jars import streams_class_path
from headgate.gateway.process.java import java
from headgate.model.registered_pipelines import Registry
from headgate.usecases.context import Context
from headgate.usecases.rehearsal.rehearse_kafka_streams import (
    StreamsOptions,
    StreamsRehearsal,
    rehearse_streams,
)

RECORDER = Path(__file__).parents[1] / "tests" / "cases" / "streams_fresh" / "recorder"
HEAD = """\
| upgrade | recorded | rehearsed | agrees | same output | lost or empty stores | rules |
|---|---|---|---|---|---|---|
"""


def main() -> None:
    """Rehearse each case on a broker of its own, and write the table."""
    table, *cases = (Path(p) for p in sys.argv[1:])
    with TemporaryDirectory() as scratch:
        jar = build(Path(scratch))
        today = datetime.datetime.now(datetime.UTC).date().isoformat()
        table.write_text(f"Upgrades of Kafka Streams, rehearsed on {today}.\n\n{HEAD}")
        for case in cases:
            folder = Path(scratch) / case.name
            with running_broker(folder) as address:
                line = rehearsed(case, address, jar)
            with table.open("a") as file:
                file.write(line + "\n")
            print(line, flush=True)


def build(folder: Path) -> Path:
    """Compile the recorder into a jar."""
    sources = sorted(str(p) for p in RECORDER.glob("*.java"))
    compiler = (java(), "-m", "jdk.compiler/com.sun.tools.javac.Main", "-nowarn")
    out = folder / "classes"
    subprocess.run([*compiler, "-cp", streams_class_path(), "-d", str(out), *sources], check=True)
    with zipfile.ZipFile(folder / "cases.jar", "w") as jar:
        for file in out.rglob("*.class"):
            jar.write(file, file.relative_to(out))
    return folder / "cases.jar"


def rehearsed(case: Path, address: str, jar: Path) -> str:
    """Return a case's line of the table."""
    recorded = json.loads((case / "outcome.json").read_text())
    application = json.loads((case / "before" / "config.json").read_text())["application.id"]
    prefix = application.removesuffix("app")
    state, settings = prepared(case.name, prefix, address, jar)
    try:
        found = rehearse_streams(
            state,
            "Rehearsal#after",
            before=[str(case / "before")],
            context=Context(Registry(bootstrap_servers=address), "", state),
            options=StreamsOptions(
                jars=[jar],
                settings=settings,
                jvm_options=[f"-Dcase={case.name}", f"-Dprefix={prefix}"],
            ),
        )
    except HeadgateError as error:
        return f"| {case.name} | {recorded['outcome']} | {type(error).__name__}: {error} | | | | |"
    return line(case.name, recorded, found, prefix)


def prepared(name: str, prefix: str, address: str, jar: Path) -> tuple[Path, dict[str, str]]:
    """Let the old version run; return its state directory and the new one's settings."""
    path = f"{jar}:{streams_class_path()}"
    command = [java(), "-Xmx256m", "-XX:+UseSerialGC", "-cp", path, "Rehearsal"]
    done = subprocess.run(
        [*command, address, name, prefix], check=True, capture_output=True, text=True
    )
    lines = [text.partition(" ") for text in done.stdout.splitlines()]
    state = next(rest for word, _, rest in lines if word == "STATE")
    pairs = (rest.partition("=") for word, _, rest in lines if word == "SET")
    return Path(state), {key: value for key, _, value in pairs}


def line(name: str, recorded: dict[str, Any], found: StreamsRehearsal, prefix: str) -> str:
    """Say whether both agree: a refusal with its class, a run with every record it wrote."""
    engine = found.engine
    said = recorded["outcome"]
    expected = "refuses" if said == "refuses" else "resumes"
    agrees = engine.outcome.value == expected and engine.error_class == recorded["error_class"]
    wrote = Counter(
        f"{row['topic'].removeprefix(prefix)} {row['key']}={row['value']}"
        for row in map(json.loads, engine.rows)
    )
    same = wrote == Counter(recorded["outputs"]["upgrade"])
    output = "-" if said == "refuses" else "yes" if same else "no"
    stores = [f"{s.store} {s.fate.value}" for s in engine.stores if s.fate.value != "kept"]
    did = engine.error_class.rpartition(".")[2] if engine.error_class else engine.outcome.value
    word = "yes" if agrees else f"no ({engine.question or engine.message or ''})"
    cells = (name, said, did, word, output, ", ".join(stores) or "-", found.report.outcome.word)
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
