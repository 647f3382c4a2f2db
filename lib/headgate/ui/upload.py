"""Uploaded files become evidence: a folder of this session that is gone when it ends."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Protocol

import streamlit as st

from headgate.errors import EvidenceError

SESSION = "uploads"
LARGEST = 1 << 30
"""Bytes that an archive may unpack to."""
MOST = 50_000
"""Files that an archive may hold."""


class Upload(Protocol):
    """What the file uploader hands over."""

    name: str

    def getvalue(self) -> bytes:
        """Return the content."""


def save(uploads: Sequence[Upload]) -> tuple[str, ...]:
    """Write uploads below a folder named after their content; return the paths to read.

    A zip is unpacked. The same files give the same paths within a session.
    """
    contents = [(PurePosixPath(u.name).name, u.getvalue()) for u in uploads]
    if not contents:
        return ()
    digest = hashlib.sha256()
    for name, content in contents:
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    folder = _root() / digest.hexdigest()[:16]
    return tuple(_write(folder / str(n), *item) for n, item in enumerate(contents))


def _root() -> Path:
    if SESSION not in st.session_state:
        st.session_state[SESSION] = TemporaryDirectory(prefix="headgate-")
    return Path(st.session_state[SESSION].name)


def _write(folder: Path, name: str, content: bytes) -> str:
    target = folder / (name or "upload")
    if zipfile.is_zipfile(io.BytesIO(content)):
        return str(_unpacked(folder / "archive", name, content))
    folder.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    return str(target)


def _unpacked(folder: Path, name: str, content: bytes) -> Path:
    """Unpack into `folder`; where everything lies in one folder, that one is the evidence."""
    if not folder.exists():
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            if len(members) > MOST or sum(m.file_size for m in members) > LARGEST:
                raise EvidenceError(
                    f"{name} unpacks to more than {LARGEST >> 20} MB or {MOST} files:"
                    " use `headgate capture` on the machine where it lies"
                )
            for member in members:
                if PurePosixPath(member.filename).is_absolute() or ".." in member.filename:
                    raise EvidenceError(f"{name} holds {member.filename}, which leaves its folder")
            archive.extractall(folder)
    inside = [p for p in folder.iterdir() if p.name not in ("__MACOSX", ".DS_Store")]
    return inside[0] if len(inside) == 1 and inside[0].is_dir() else folder
