"""Find the jars beside PySpark's own: Spark's Kafka connector, the broker with its admin client.

The set-up resolves `ivy.xml` into `.cache/jars/<hash of that file>/{spark,broker,streams}` of the
clone; HEADGATE_JARS names another folder that holds the same three.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from headgate.errors import SetupError

ENVIRONMENT = "HEADGATE_JARS"
IVY_FILE = Path(__file__).with_name("ivy.xml")
_CLONE = Path(__file__).parents[4]


def jars_folder() -> Path:
    """Return the folder that holds `spark/`, `broker/` and `streams/`; it may not exist yet."""
    if given := os.environ.get(ENVIRONMENT):
        return Path(given)
    digest = hashlib.sha256(IVY_FILE.read_bytes()).hexdigest()[:12]
    return _CLONE / ".cache" / "jars" / digest


def spark_jars() -> tuple[Path, ...]:
    """Return the jars for `spark.jars`; SetupError where they are missing."""
    return _jars("spark")


def broker_class_path() -> str:
    """Return the class path of the broker, its tools and Kafka's Java admin client."""
    return os.pathsep.join(map(str, _jars("broker")))


def streams_class_path() -> str:
    """Return the class path of a Kafka Streams application."""
    return os.pathsep.join(map(str, _jars("streams")))


def _jars(part: str) -> tuple[Path, ...]:
    folder = jars_folder() / part
    found = tuple(sorted(folder.glob("*.jar")))
    if not found:
        raise SetupError(f"there are no jars in {folder}: run `make setup`, or set {ENVIRONMENT}")
    return found
