"""Compare two versions of a pipeline, wherever their evidence lies."""

from __future__ import annotations

from collections.abc import Sequence

from headgate.compat.compare import compare
from headgate.compat.report import Report
from headgate.usecases.capture import capture
from headgate.usecases.context import Context


def compare_versions(
    before: Sequence[str],
    after: Sequence[str],
    *,
    context: Context | None = None,
    renames: Sequence[str] = (),
    spark_version: str | None = None,
) -> Report:
    """Read both sides and compare them; nothing is written and no engine is asked.

    Raises EvidenceError where a side can't be read and RenameError for a rename that is none.
    """
    return compare(
        capture(before, context=context),
        capture(after, context=context),
        renames=renames,
        spark_version=spark_version,
    )
