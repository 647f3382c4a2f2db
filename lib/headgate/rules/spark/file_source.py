"""Rules about file sources: where they read, and what that does to their log."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from headgate.model.sinks import normal_path
from headgate.rules.core.match_operators import SourcePair
from headgate.rules.core.report import Outcome, Rollback, StateEffect
from headgate.rules.core.rule import Comparison, RuleResult, rule
from headgate.rules.core.source_names import covers, is_file, location, option
from headgate.rules.spark.facts.source_pairs import had_data, judged_pairs

_REMEDY = "Keep the paths and the order of the sources, or start with a new checkpoint."


@rule("FIL001", outcomes=(Outcome.REFUSES,), remedies=(_REMEDY,))
def path_changed_after_data(c: Comparison) -> Iterator[RuleResult]:
    """On a restart Spark asks the file source again for the files of the last batch.

    Those files are under the old path. If the new path doesn't contain the old one, Spark fails.
    """
    for pair in _moved(c):
        assert pair.before
        if _refused(c, pair):
            yield RuleResult(
                outcome=Outcome.REFUSES,
                location=pair.location,
                before=location(pair.before),
                after=location(pair.after) if pair.after else None,
                because="The last batch had files, and the path of this source changed.",
                error_class="IllegalArgumentException",
                remedy=_REMEDY,
                scenario="from-scratch",
            )


@rule("FIL002", outcomes=(Outcome.SILENTLY_WRONG,), remedies=(_REMEDY,))
def paths_swapped_after_empty_batch(c: Comparison) -> Iterator[RuleResult]:
    """If the last batch had no files, a restart with swapped paths doesn't fail.

    A source recognizes processed files by their path, so all files of the other directory count as
    new. Spark reprocesses them.
    """
    for pair in _moved(c):
        assert pair.before and pair.after
        if had_data(c.before, pair.before) is False and _read_elsewhere(c, pair):
            yield RuleResult(
                outcome=Outcome.SILENTLY_WRONG,
                state_effect=StateEffect.MIXED,
                location=pair.location,
                before=location(pair.before),
                after=location(pair.after),
                because=f"In the old version, a different source read {location(pair.after)}.",
                remedy=_REMEDY,
            )


@rule("FIL004", outcomes=(Outcome.RESUMES,))
def wider_path(c: Comparison) -> Iterator[RuleResult]:
    """Spark resumes if the new path contains all files of the old path.

    The new path is then a pattern that matches the old directory's files, or a directory above
    them, read with recursiveFileLookup=true. Spark recognizes processed files by their full path,
    and reads all other files of the new path.
    """
    for pair in judged_pairs(c):
        assert pair.before and pair.after
        old, new = location(pair.before), location(pair.after)
        files = is_file(pair.before) and is_file(pair.after)
        if files and old and new and old != new and _has_its_files(pair):
            yield RuleResult(
                outcome=Outcome.RESUMES,
                state_effect=StateEffect.MIXED if c.is_stateful else StateEffect.NONE,
                location=pair.location,
                before=old,
                after=new,
                because="The new path also contains the files of the old path.",
            )


_DID_THE_LAST = "Did the last batch read files from this source?"
_DOES_THE_NEW = "Does the new path contain files that Spark processed under the old path?"


@rule(
    "FIL003",
    outcomes=(Outcome.UNKNOWN,),
    remedies=(_REMEDY,),
    questions=(_DID_THE_LAST, _DOES_THE_NEW),
)
def path_changed(c: Comparison) -> Iterator[RuleResult]:
    """A file source recognizes processed files by their full path.

    If the last batch had files, Spark fails because these files aren't under the new path. But if
    the new path is a pattern, Spark doesn't fail. Without a failure, Spark reads all files under
    the new path. Files that were only moved are then processed twice.
    """
    for pair in _moved(c):
        assert pair.before and pair.after
        data = had_data(c.before, pair.before)
        if _refused(c, pair) or (data is False and _read_elsewhere(c, pair)):
            continue
        yield RuleResult(
            outcome=Outcome.UNKNOWN,
            location=pair.location,
            before=location(pair.before),
            after=location(pair.after),
            because="The path of the source changed.",
            question=_DID_THE_LAST if data is None else _DOES_THE_NEW,
            rollback=Rollback.UNKNOWN,
            remedy=_REMEDY,
        )


_LEAVE_FILENAMEONLY_OFF = "Set fileNameOnly=false, or make the file names unique."
_DO_NEW_FILES = "Do new files have the same names as processed files in other folders?"


@rule(
    "FIL005",
    outcomes=(Outcome.UNKNOWN,),
    remedies=(_LEAVE_FILENAMEONLY_OFF,),
    questions=(_DO_NEW_FILES,),
)
def file_name_only(c: Comparison) -> Iterator[RuleResult]:
    """With fileNameOnly=true, Spark skips a file if it has processed a file with the same name in
    any folder.

    Folders often repeat file names such as part-00000.json. Spark never reads such a new file, and
    reports no error. The rows of the file are missing from the results.
    """
    for pair in judged_pairs(c):
        assert pair.before and pair.after
        old, new = ((option(s, "fileNameOnly") or "").lower() for s in (pair.before, pair.after))
        if new == "true" and old != "true" and is_file(pair.before) and is_file(pair.after):
            yield RuleResult(
                outcome=Outcome.UNKNOWN,
                location=pair.location,
                before=old or None,
                after=new,
                because="The new version sets fileNameOnly=true.",
                question=_DO_NEW_FILES,
                remedy=_LEAVE_FILENAMEONLY_OFF,
            )


_SET_SOURCEARCHIVEDIR_TO_A_FOLDER = (
    "Set sourceArchiveDir to a folder that is neither inside nor above the source's path."
)


@rule("FIL006", outcomes=(Outcome.REFUSES,), remedies=(_SET_SOURCEARCHIVEDIR_TO_A_FOLDER,))
def archive_directory_missing(c: Comparison) -> Iterator[RuleResult]:
    """cleanSource=archive needs a folder outside the source's path.

    Spark fails to start if sourceArchiveDir isn't set, or if one of the two paths contains the
    other.
    """
    for pair in judged_pairs(c):
        assert pair.before and pair.after
        archives = (option(pair.after, "cleanSource") or "").lower() == "archive"
        if not archives or not is_file(pair.after):
            continue
        archive, source = option(pair.after, "sourceArchiveDir"), location(pair.after)
        if archive and not (source and _meet(source, archive)):
            continue
        yield RuleResult(
            outcome=Outcome.REFUSES,
            location=pair.location,
            before=option(pair.before, "sourceArchiveDir"),
            after=archive,
            because=f"The source's path {source} and sourceArchiveDir {archive} overlap."
            if archive
            else "cleanSource is archive, but sourceArchiveDir is not set.",
            error_class="IllegalArgumentException",
            remedy=_SET_SOURCEARCHIVEDIR_TO_A_FOLDER,
            scenario="offline-upgrade",
        )


def _meet(source: str, archive: str) -> bool:
    """Compare as many folders as both paths have, as Spark does; the source may be a pattern."""
    pairs = zip(_folders(source), _folders(archive), strict=False)
    return all(fnmatchcase(name, pattern) for pattern, name in pairs)


def _folders(path: str) -> list[str]:
    return [part for part in normal_path(path).split("/") if part]


def _moved(c: Comparison) -> Iterator[SourcePair]:
    for pair in judged_pairs(c):
        assert pair.before and pair.after
        if not (is_file(pair.before) and is_file(pair.after)) or _log_moves(pair):
            continue
        old, new = location(pair.before), location(pair.after)
        if old and new and old != new and not _has_its_files(pair):
            yield pair


def _has_its_files(pair: SourcePair) -> bool:
    """Say whether the new path has each file of the old one, under the same name.

    A folder that Spark took for a partition's is none any more where files are found recursively.
    """
    assert pair.before and pair.after
    old, new = location(pair.before) or "", location(pair.after) or ""
    recursive = (option(pair.after, "recursiveFileLookup") or "").lower() == "true"
    below = old.startswith(new.rstrip("/") + "/") and "=" not in old
    return covers(new, old) or (recursive and below)


def _refused(c: Comparison, pair: SourcePair) -> bool:
    """Spark compares old files with the new base path, which a pattern does not set."""
    assert pair.before and pair.after
    old, new = location(pair.before) or "", location(pair.after) or ""
    accepted = set(new) & set("*?[{") or old.startswith(new.rstrip("/") + "/")
    return not accepted and bool(had_data(c.before, pair.before))


def _log_moves(pair: SourcePair) -> bool:
    """A named source takes its log along; then the offsets' order is what counts (SRC007)."""
    assert pair.before and pair.after
    return pair.before.name != pair.after.name


def _read_elsewhere(c: Comparison, pair: SourcePair) -> bool:
    assert pair.after
    new = location(pair.after)
    return any(location(s) == new for s in c.before.sources or ())
