"""Sources as the engine distinguishes them: by name or by position, and where they read from."""

from __future__ import annotations

from fnmatch import fnmatchcase

from headgate.model.evidence_kinds import HAVE_NAMES
from headgate.model.sinks import FILE_FORMATS, normal_path
from headgate.model.version import Source, Version

_GLOB = set("*?[")
EVOLUTION = "spark.sql.streaming.queryEvolution.enableSourceEvolution"
OFFSET_LOG = "spark.sql.streaming.offsetLog.formatVersion"
# Spark reads one more than it writes.
FILE_SOURCES = FILE_FORMATS | {"binaryfile"}


def names_count(before: Version, after: Version) -> bool:
    """Say whether offsets are found by name: evolution was on *and* the offset log is v2.

    Source: restarts measured on 4.2.0; with only one of the two, offsets stay positional.
    """
    every = [*(before.sources or ()), *(after.sources or ())]
    return (
        _evolution(before) and _log_version(before) == 2 and bool(every) and all(map(_name, every))
    )


def names_pinned(version: Version) -> bool:
    """Say whether the offset log holds that source evolution is on, whatever a session says."""
    return (version.pinned.get(EVOLUTION) or "").lower() == "true"


def names_known(version: Version) -> bool:
    """Say whether missing names mean that there are none: a started query's plan shows none."""
    if any(s.name for s in version.sources or ()) or not version.evidence:
        return True
    return any(e.kind in HAVE_NAMES for e in version.evidence)


def names_unclear(before: Version, after: Version) -> bool:
    """Say whether offsets are found by name, and the new names are not in the evidence."""
    by_name = _evolution(before) and _log_version(before) == 2
    named = bool(before.sources) and all(s.name for s in before.sources or ())
    return by_name and named and not names_known(after)


def is_located(source: Source) -> bool:
    """Say whether the evidence shows what a source reads, as far as its kind needs it."""
    match family(source):
        case "kafka":
            return bool(source.topics or source.pattern)
        case "file":
            return location(source) is not None
        case None:
            return bool(source.topics or source.pattern or location(source))
    return True


def _evolution(version: Version) -> bool:
    value = version.pinned.get(EVOLUTION, version.settings.get(EVOLUTION))
    return (value or "").lower() == "true"


def _log_version(version: Version) -> int:
    if version.offset_log_version is not None:
        return version.offset_log_version
    return 2 if version.settings.get(OFFSET_LOG) == "2" else 1


def _name(source: Source) -> str | None:
    return source.name


def is_file(source: Source) -> bool:
    """Say whether a source reads files; all file formats share one log and one offset form."""
    return (source.format or "").lower() in FILE_SOURCES


def family(source: Source) -> str | None:
    """Return the format with all file formats as one; None where unknown."""
    if source.format is None:
        return None
    return "file" if is_file(source) else source.format.lower()


def option(source: Source, key: str) -> str | None:
    """Return a source option; keys are compared without case, as Spark does."""
    wanted = key.lower()
    return next((v for k, v in source.options.items() if k.lower() == wanted), None)


def location(source: Source) -> str | None:
    """Return where a file source reads, without the local scheme and trailing slashes."""
    path = source.path or option(source, "path")
    return normal_path(path) if path else None


def covers(new: str, old: str) -> bool:
    """Say whether `new` is a pattern that matches the directory `old`, or files in it.

    Names are matched step by step, as Hadoop's globs are; braces are left to the question.
    """
    steps, there = new.split("/"), old.split("/")
    if not _GLOB & set(new) or _GLOB & set(old) or len(steps) - len(there) not in (0, 1):
        return False
    in_folder = len(steps) == len(there) or bool(_GLOB & set(steps[-1]))
    return in_folder and all(map(fnmatchcase, there, steps))


def loses_data_silently(source: Source) -> bool:
    """Say whether `failOnDataLoss` is off."""
    return (option(source, "failOnDataLoss") or "true").lower() == "false"


def describe(source: Source | None) -> str | None:
    """Return one line for people."""
    if source is None:
        return None
    reads = ", ".join(source.topics) or source.pattern or location(source) or ""
    name = f" (name: {source.name})" if source.name else ""
    return f"{source.format or 'source'} {reads}".strip() + name
