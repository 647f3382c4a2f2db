"""Uploads: a zip becomes the folder in it, the same files the same paths, a bomb a sentence."""

import io
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
import streamlit as st

from headgate.errors import EvidenceError
from headgate.ui.shared import upload


@dataclass
class File:
    name: str
    content: bytes

    def getvalue(self):
        return self.content


def zipped(**files):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, text in files.items():
            archive.writestr(name.replace("__", "/"), text)
    return target.getvalue()


@pytest.fixture(autouse=True)
def session(monkeypatch):
    monkeypatch.setattr(st, "session_state", {})


def test_the_same_files_give_the_same_paths():
    files = [File("explain.txt", b"a"), File("../conf.json", b"{}")]
    paths = upload.save(files)
    assert paths == upload.save(files)
    assert [Path(p).name for p in paths] == ["explain.txt", "conf.json"]
    assert paths != upload.save([File("explain.txt", b"b"), File("conf.json", b"{}")])
    assert upload.save([]) == ()


def test_a_zipped_checkpoint_is_its_folder():
    (path,) = upload.save([File("ck.zip", zipped(ck__metadata="{}", ck__offsets__0="v1"))])
    assert sorted(p.name for p in Path(path).iterdir()) == ["metadata", "offsets"]


def test_a_zip_without_a_folder_is_one_itself():
    (path,) = upload.save([File("ck.zip", zipped(metadata="{}", offsets__0="v1"))])
    assert sorted(p.name for p in Path(path).iterdir()) == ["metadata", "offsets"]


def test_nothing_leaves_its_folder():
    content = zipped(**{"..__evil": "x"})
    with pytest.raises(EvidenceError, match="path outside its folder"):
        upload.save([File("evil.zip", content)])


def test_a_bomb_is_refused(monkeypatch):
    monkeypatch.setattr(upload, "LARGEST", 10)
    with pytest.raises(EvidenceError, match="unpacks to more"):
        upload.save([File("big.zip", zipped(a="x" * 100))])
