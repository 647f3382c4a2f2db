"""Start a program of these tests and read what it says; everything ends with the test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parent


@contextmanager
def running(program: str, *args: object, log: Path, wait: bool = True):
    """Yield the process and the first line of its output, as JSON where it is an object."""
    argv = [sys.executable, str(HERE / program), *map(str, args)]
    with log.open("wb") as errors:
        process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env=environment()
        )
        try:
            line = process.stdout.readline().decode() if wait else ""
            assert line or not wait, log.read_text()[-3000:]
            yield process, json.loads(line) if line.startswith("{") else line.strip()
        finally:
            process.stdin.close()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()


def environment() -> dict[str, str]:
    return {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
