"""Jars of the application in Rehearsed.java, whose methods are versions of one application."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

from headgate.gateway.process.jars import streams_class_path
from headgate.gateway.process.java import java

SOURCE = Path(__file__).with_name("Rehearsed.java")


def build_jar(folder: Path, text: str | None = None) -> Path:
    """Compile the application, or `text` in its place, and return its jar in a new folder."""
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / SOURCE.name
    source.write_text(SOURCE.read_text() if text is None else text)
    tool = ("-m", "jdk.compiler/com.sun.tools.javac.Main", "-nowarn", "-d", str(folder / "out"))
    subprocess.run([java(), *tool, "-cp", streams_class_path(), str(source)], check=True)
    with zipfile.ZipFile(folder / "app.jar", "w") as jar:
        for file in sorted((folder / "out").rglob("*.class")):
            jar.write(file, file.relative_to(folder / "out"))
    return folder / "app.jar"


def description(jar: Path) -> str:
    """Return what Topology#describe says of the jar's method `counts`."""
    path = f"{streams_class_path()}:{jar}"
    done = subprocess.run(
        [java(), "-cp", path, "Rehearsed"], check=True, capture_output=True, text=True
    )
    return done.stdout
