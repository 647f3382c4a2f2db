"""Build the applications of tests/cases/streams_pulls, or of another group, two jars a change.

usage: pull_jars.py [--group=streams_pulls_later] FOLDER [CASE...]

FOLDER gets CASE-before.jar and CASE-after.jar, and beside each its settings in a properties file.
A jar runs with `java -cp JAR:KAFKA_STREAMS PullApplication BOOTSTRAP STATE_DIR APPLICATION_ID`;
`PullApplication#topology` returns its topology, as `headgate rehearse --jar JAR --after
PullApplication#topology --properties FILE` needs it. Its topics have the recorded names.
Without names, every change of the group is built.
"""

from __future__ import annotations

import argparse
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

from rehearse_upgrades import build

GROUPS = Path(__file__).parents[1] / "tests" / "cases"
# The recorder's settings that are no case's own.
SERDE = "org.apache.kafka.common.serialization.Serdes$StringSerde"
USUAL = {"default.key.serde": SERDE, "default.value.serde": SERDE}
MANIFEST = "Manifest-Version: 1.0\nMain-Class: PullApplication\n\n"


def main() -> None:
    """Compile once, then write the jars of each change."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--group", default="streams_pulls")
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    target, cases = given.folder, GROUPS / given.group
    target.mkdir(parents=True, exist_ok=True)
    classes = build(target)
    recorded = [cases / name for name in given.names] or sorted(
        file.parent for file in cases.glob("*/outcome.json")
    )
    for jar in jars(classes, target, recorded):
        print(jar)


def jars(classes: Path, folder: Path, cases: list[Path]) -> Iterator[Path]:
    """Copy the jar of all classes, and name the change and its version inside."""
    for case in cases:
        name = case.name
        for version in ("before", "after"):
            jar = folder / f"{name}-{version}.jar"
            jar.write_bytes(classes.read_bytes())
            with zipfile.ZipFile(jar, "a") as file:
                file.writestr("META-INF/MANIFEST.MF", MANIFEST)
                file.writestr("pull.properties", f"case={name}\nversion={version}\n")
            jar.with_suffix(".properties").write_text(settings(case, version))
            yield jar


def settings(case: Path, version: str) -> str:
    """Return what a version was recorded with, as a properties file without the application id."""
    config = json.loads((case / version / "config.json").read_text())
    known = {**USUAL, **config}
    return "".join(f"{key}={known[key]}\n" for key in sorted(known) if key != "application.id")


if __name__ == "__main__":
    main()
