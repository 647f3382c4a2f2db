"""Find the jars beside PySpark's own: Spark's connectors, the broker with its admin client.

`ivy.xml` is resolved into `jars/<hash of that file>/<part>`, one folder for each of PARTS, below
`.cache` of the clone, else below the user's cache folder. HEADGATE_JARS names another folder that
holds the parts.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from headgate.errors import SetupError
from headgate.gateway.process.ivy import PARTS, fetch
from headgate.gateway.process.ivy import resolve as ivy_resolve
from headgate.gateway.process.java import java
from headgate.gateway.process.system_user import home_folder

ENVIRONMENT = "HEADGATE_JARS"
IVY_FILE = Path(__file__).with_name("ivy.xml")
_CLONE = Path(__file__).parents[4]


def jars_folder() -> Path:
    """Return the folder that holds a folder for each of PARTS; it may not exist yet."""
    if given := os.environ.get(ENVIRONMENT):
        return Path(given)
    digest = hashlib.sha256(IVY_FILE.read_bytes()).hexdigest()[:12]
    return _cache() / "jars" / digest


def fetch_jars(say: Callable[[str], None]) -> None:
    """Fetch the jars if they are missing; SetupError if that fails."""
    folder = jars_folder()
    if folder.is_dir():
        return
    say("Fetching the jars of Kafka and of Spark's connectors (170 MB, once).")
    spark = find_spec("pyspark")
    folders = (spark.submodule_search_locations if spark else None) or []
    ivy = next(jar for f in folders for jar in Path(f, "jars").glob("ivy-*.jar"))
    resolving = partial(ivy_resolve, java=java(), ivy=ivy, ivy_file=IVY_FILE, parts=PARTS)
    if reason := fetch(folder, _cache(), resolving):
        raise SetupError(
            f"Jars not fetched: {reason}. Check the network, or set {ENVIRONMENT} to the "
            "folder of the jars."
        )


def install_step() -> str:
    """Return what fetches missing jars: where a wheel is installed, there is no Makefile."""
    if (_CLONE / "pyproject.toml").is_file():
        return "run `make setup`"
    return "run `headgate up --demo`, which downloads the jars at its first start"


def _cache() -> Path:
    """Return `.cache` of the clone, else the user's cache folder."""
    if (_CLONE / "pyproject.toml").is_file():
        return _CLONE / ".cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or home_folder() / ".cache") / "headgate"


def spark_jars() -> tuple[Path, ...]:
    """Return the jars for `spark.jars`; SetupError where they are missing."""
    return _jars("spark")


def delta_jars() -> tuple[Path, ...]:
    """Return the jars that Spark needs for Delta tables; SetupError where they are missing."""
    return _jars("delta")


def jdbc_jars() -> tuple[Path, ...]:
    """Return PostgreSQL's JDBC driver; SetupError where it is missing."""
    return _jars("jdbc")


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
        raise SetupError(
            f"No jars in {folder}: {install_step()}. If the jars are in another folder, set "
            f"{ENVIRONMENT} to this folder"
        )
    return found
