"""Keep what a comparison of two outputs found, for the step that requested it."""

from __future__ import annotations

import json
from dataclasses import asdict

from headgate.model.output_comparison import OutputComparison
from headgate.reprocess.ports.inspector import Applier
from headgate.text.numbers import name_list, plural


def keep_comparison(applier: Applier, found: OutputComparison) -> tuple[str, str]:
    """Keep a comparison with the run and note its counts; return what was noted, and the file."""
    file = f"{applier.folders.snapshot_folder()}/comparison.json"
    applier.folders.write_record(file, json.dumps(asdict(found)))
    said = (
        f"{plural(found.rows_a, 'old row')}, {plural(found.rows_b, 'new row')}, "
        f"{found.missing} missing, {found.extra} extra, {found.different} different"
    )
    columns = [c.name for c in found.columns if c.different]
    said += f" (columns {name_list(columns)})" if columns else ""
    applier.note(said)
    return said, file
