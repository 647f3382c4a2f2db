"""What a program needs that calls somebody's function in a process of its own, and then ends."""

from __future__ import annotations

import ctypes
import hashlib
import importlib
import importlib.util
import logging
import os
import signal
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn, TextIO

from headgate.errors import CaptureError

_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG
# The working tree of another version, which nothing may be imported from; set by whoever starts
# this process.
OTHER_TREE = "HEADGATE_OTHER_TREE"
_PACKAGE_FOLDERS = ("site-packages", "dist-packages")
LIBRARIES = (
    *{path for name, path in sysconfig.get_paths().items() if name != "data"},
    str(Path(__file__).parents[1]),
)


def end_with_parent() -> None:
    """Let this process end with the one that asked: then nobody waits, and the JVM ends with us."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)


def redirect(log: Path) -> None:
    """Send the process's stdout to its stderr, and what the JVM writes into the log."""
    stderr = os.fdopen(os.dup(2), "w", encoding="utf-8", errors="replace", buffering=1)
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(stderr.fileno(), 1)
    os.dup2(file, 2)
    sys.stdout = sys.stderr = stderr


def commands() -> TextIO:
    """Return the process's standard input for its own use; any other code finds it empty."""
    found = os.fdopen(os.dup(0), encoding="utf-8")
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    sys.stdin = os.fdopen(os.dup(0), encoding="utf-8")
    return found


def end() -> NoReturn:
    """Leave at once, and without the JVM: both would wait for what the function left running."""
    from pyspark import SparkContext

    java = getattr(SparkContext._gateway, "proc", None)
    if java is not None:
        # py4j would report what it can't tell the JVM any more.
        logging.disable(logging.CRITICAL)
        java.kill()
        java.wait()
    sys.stderr.flush()
    os._exit(0)


def check_importable(entry_point: str) -> None:
    """Refuse a module that is not there before Spark is started for it."""
    package = entry_point.partition(":")[0].partition(".")[0]
    if not package or importlib.util.find_spec(package) is None:
        raise not_importable(package)


def not_importable(module: str) -> CaptureError:
    """Return the error of a module that Python doesn't find; it names a folder that has it."""
    here = Path.cwd()
    text = f"module {module} can't be imported from {here}"
    if is_in(here, module):
        return CaptureError(
            f"{text}, because Python doesn't search this folder. Set PYTHONPATH to it, or pass the "
            "module with --py-files of spark-submit"
        )
    folder = folder_below(module, here)
    if folder is None:
        return CaptureError(f"{text}. If its code is in another folder, set PYTHONPATH to it")
    return CaptureError(
        f"{text}, but it is in the folder {folder.name}: set PYTHONPATH={folder.name}"
    )


def folder_below(module: str, folder: Path) -> Path | None:
    """Return the first folder in `folder`, by name, from which Python would import the module."""
    below = sorted(folder.glob("[!.]*/"))
    return next((place for place in below if is_in(place, module)), None)


def is_in(folder: Path, module: str) -> bool:
    """Say whether Python would import the module from this folder."""
    path = folder / module.replace(".", "/")
    return bool(module) and (path.with_suffix(".py").is_file() or any(path.glob("*.py")))


def forget_modules() -> None:
    """Forget all modules but libraries' and this program's: the next function gets fresh ones."""
    own = [n for n, m in sys.modules.items() if n != "__main__" and _is_own(m)]
    for name in own:
        del sys.modules[name]
    importlib.invalidate_caches()


def check_tree() -> None:
    """Raise CaptureError if a module came from another version's working tree."""
    other = os.environ.get(OTHER_TREE)
    for name, module in list(sys.modules.items()) if other else ():
        file = str(getattr(module, "__file__", None) or "")
        if _is_own(module) and Path(file).resolve().is_relative_to(str(other)):
            raise CaptureError(
                f"the old version imports {name} from the working tree ({file}) "
                "instead of its own commit: set PYTHONPATH to the folder that has the code of the "
                "pipelines"
            )


def own_code() -> dict[str, str]:
    """Return the SHA-256 of the files of all modules that are no library's, by path."""
    files = {str(getattr(m, "__file__", "")) for m in list(sys.modules.values()) if _is_own(m)}
    return {
        name: hashlib.sha256(Path(name).read_bytes()).hexdigest()
        for name in sorted(files)
        if Path(name).is_file()
    }


def _is_own(module: object) -> bool:
    file = str(getattr(module, "__file__", None) or "")
    is_library = any(f"{os.sep}{name}{os.sep}" in file for name in _PACKAGE_FOLDERS)
    return bool(file) and not is_library and not file.startswith((*LIBRARIES, "<frozen"))


def loader(entry_point: str) -> Callable[[], Any]:
    """Return what imports the module and returns the function; CaptureError where it has none."""
    module, _, function = entry_point.partition(":")

    def load() -> Any:
        found = importlib.import_module(module)
        if not callable(getattr(found, function, None)):
            raise CaptureError(f"module {module} has no function {function}")
        return getattr(found, function)

    return load
