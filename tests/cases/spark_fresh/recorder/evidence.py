"""Write what a query says of itself in the forms that a corpus case has."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

from headgate.spark_jobs.block_sources import EmptyFolders
from headgate.spark_jobs.block_start import Unstarted
from headgate.spark_jobs.record_query import RecordFolder, record, refusal
from headgate.spark_jobs.user_functions import UsedFunctions

_METADATA = re.compile(
    r"(?:^|/)(?:metadata|_metadata/.*|_stateSchema/.*|offsets/\d+|commits/\d+|sources/.*)$"
)
_TEXT = re.compile(r"/_metadata/(?:metadata|v2/[0-9]+)$")
# What a session's own capture says beside these is kept apart: a corpus case has no more.
_PLAIN = ("sources", "sink", "output_mode", "trigger")


class Texts:
    """Writes files with `/data` and `broker` in place of the folders and addresses of a machine."""

    def __init__(self, said: dict[str, str]) -> None:
        self.said = dict(sorted(said.items(), key=lambda pair: -len(pair[0])))

    def clean(self, text: str) -> str:
        """Return `text` with other names."""
        for found, put in self.said.items():
            text = text.replace(found, put)
        return text

    def write(self, path: Path, text: str) -> None:
        """Write a text file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.clean(text).rstrip("\n") + "\n", encoding="utf-8")


def unstarted(
    query: Unstarted, used: UsedFunctions, into: Path, captured: Path, texts: Texts
) -> None:
    """Write a version before its start into `into`; all that a capture tells into `captured`."""
    pieces = captured.parent / "pieces"
    shutil.rmtree(pieces, ignore_errors=True)
    pieces.mkdir(parents=True)
    try:
        record(
            query.writer._df, query, used, EmptyFolders(pieces), RecordFolder(pieces, pieces / "scratch")
        )
        known = json.loads((pieces / "capture.json").read_text(encoding="utf-8"))
        # Before a start explain.txt says nothing that the other two don't.
        for name in ("formatted.txt", "logical.json"):
            texts.write(into / name, (pieces / name).read_text(encoding="utf-8"))
    except Exception as error:
        known = {"error": refusal(error)}
    finally:
        shutil.rmtree(pieces)
    plain = {k: known[k] for k in _PLAIN if k in known} or known
    texts.write(into / "capture.json", json.dumps(plain, indent=1))
    texts.write(captured, json.dumps(known, separators=(",", ":")))


def checkpoint(found: Path, into: Path, texts: Texts) -> None:
    """Copy a checkpoint without its state: logs, sources and the schemas of the stores."""
    for file in sorted(p for p in found.rglob("*") if p.is_file()):
        name = str(file.relative_to(found))
        if not _METADATA.search(name) or file.name.endswith(".crc"):
            continue
        if name.startswith("state/") and not _TEXT.search(name):
            (into / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, into / name)
        else:
            texts.write(into / name, file.read_bytes().decode("utf-8"))


def progress(reports: list[Any], into: Path, texts: Texts) -> None:
    """Write the last report, without measurements of time and memory."""
    kept = [json.loads(p.json) for p in reports][-1:]
    for report in kept:
        for operator in report.get("stateOperators", ()):
            operator.pop("customMetrics", None)
    texts.write(into / "progress.json", json.dumps(kept, indent=1))
