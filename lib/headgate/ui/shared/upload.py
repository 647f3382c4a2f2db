"""Uploaded files become evidence: a folder of this session that is gone when it ends."""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Protocol

import streamlit as st

from headgate.errors import EvidenceError

SESSION = "uploads"
LARGEST = 1 << 30
"""Maximum size of an unpacked archive, in bytes."""
MOST = 50_000
"""Maximum number of files in an archive or a folder."""
PASTED = "pasted text"
"""File name of pasted text, shown in messages."""
_KEPT = re.compile(r"^[0-9a-f]{16}/(?:(?:\d+|tree)/(?:archive/)?)?")
"""Folder name between the session's folder and the name of an upload."""


class Upload(Protocol):
    """What the file uploader hands over; of a folder, `name` is the path below it."""

    name: str

    def getvalue(self) -> bytes:
        """Return the content."""


def save(uploads: Sequence[Upload]) -> tuple[str, ...]:
    """Write uploads below a folder named after their content; return the paths to read.

    A zip is unpacked, the files of a folder are restored into it. The same files give the same
    paths within a session. EvidenceError where there is too much, or a name leaves its folder.
    """
    contents = [(_relative(u.name), u.getvalue()) for u in uploads]
    if not contents:
        return ()
    if len(contents) > MOST:
        raise EvidenceError(
            f"the upload has more than {MOST:,} files. Run `headgate capture FOLDER -o FILE`, and "
            "upload FILE"
        )
    digest = hashlib.sha256()
    for name, content in contents:
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    folder = _root() / digest.hexdigest()[:16]
    paths = [_write(folder / _slot(n, c[0]), *c) for n, c in enumerate(contents)]
    return tuple(dict.fromkeys(paths))


def save_text(text: str) -> tuple[str, ...]:
    """Write pasted text; return the path to read, none where there is nothing in it."""
    if not text.strip():
        return ()
    content = text.encode("utf-8", "replace")
    folder = _root() / hashlib.sha256(content).hexdigest()[:16]
    return (_write(folder, PurePosixPath(PASTED), content),)


def session_folder() -> str:
    """Return where this session's uploads lie."""
    return str(_root())


def as_uploaded(text: str) -> str:
    """Return a path, or a sentence with paths, naming uploads as their owner named them."""
    first, *rest = text.split(f"{session_folder()}/")
    return first + "".join(_KEPT.sub("", part, count=1) for part in rest)


def _root() -> Path:
    if SESSION not in st.session_state:
        st.session_state[SESSION] = TemporaryDirectory(prefix="headgate-")
    return Path(st.session_state[SESSION].name)


def _relative(name: str) -> PurePosixPath:
    """Return the path below a folder that was uploaded, else the plain name of a file."""
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or "\0" in name:
        return PurePosixPath(path.name.replace("\0", "") or "upload")
    return path if path.parts else PurePosixPath("upload")


def _slot(number: int, name: PurePosixPath) -> str:
    return "tree" if len(name.parts) > 1 else str(number)


def _write(folder: Path, name: PurePosixPath, content: bytes) -> str:
    """Write one file; return it, or the folder that it belongs to where it came within one."""
    target = folder / name
    if len(name.parts) == 1 and zipfile.is_zipfile(io.BytesIO(content)):
        return str(_unpacked(folder / "archive", name.name, content))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    except OSError as error:
        raise EvidenceError(
            f"{name.name} can't be stored: {error.strerror or error}. Check the free disk space "
            "of the console's temporary folder"
        ) from error
    return str(folder / name.parts[0])


def _unpacked(folder: Path, name: str, content: bytes) -> Path:
    """Unpack into `folder`; if everything is in one folder, that one is the evidence."""
    if not folder.exists():
        try:
            _unpack(folder, name, content)
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError) as error:
            reason = " ".join(str(error).split())[:120]
            raise EvidenceError(
                f"{name} is a zip that can't be unpacked: {reason}. Check the zip and the free "
                "disk space, or upload the files without a zip"
            ) from error
    inside = [p for p in folder.iterdir() if p.name not in ("__MACOSX", ".DS_Store")]
    return inside[0] if len(inside) == 1 and inside[0].is_dir() else folder


def _unpack(folder: Path, name: str, content: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = archive.infolist()
        if len(members) > MOST or sum(m.file_size for m in members) > LARGEST:
            raise EvidenceError(
                f"{name} unpacks to more than {LARGEST >> 20} MB or {MOST:,} files. Run `headgate "
                "capture FOLDER -o FILE` on the unpacked folder, and upload FILE"
            )
        for member in members:
            if PurePosixPath(member.filename).is_absolute() or ".." in member.filename:
                raise EvidenceError(
                    f"{name} has a file with a path outside its folder: {member.filename}. Remove "
                    "this file from the zip"
                )
        folder.mkdir(parents=True)
        archive.extractall(folder)
