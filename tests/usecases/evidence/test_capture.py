"""Capturing from evidence that is there already: into a version, into the store."""

import pytest

from headgate.errors import EvidenceError, NotFoundError
from headgate.model.version import Engine, Version
from headgate.parse.evidence.version_file import dump
from headgate.usecases.context import open_context
from headgate.usecases.evidence.capture import capture, store_version

PIPELINE = '[[pipeline]]\nname = "orders"\nengine = "spark"\ncheckpoint = "ck"\n'


@pytest.fixture
def context(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HEADGATE_CONFIG", raising=False)
    (tmp_path / "headgate.toml").write_text(PIPELINE)
    return open_context()


def version_file(path, **facts):
    path.write_bytes(dump(Version(engine=Engine.SPARK, captured_at="2026-01-01T00:00", **facts)))
    return str(path)


def store(file, pipeline, context):
    return store_version(capture([file], context=context), pipeline=pipeline, context=context)


def test_a_version_file_is_captured_as_it_is(tmp_path, context):
    file = version_file(tmp_path / "v", name="a")
    found = capture([file], context=context)
    assert (found.name, found.captured_at) == ("a", "2026-01-01T00:00")


def test_an_equal_version_is_stored_once(tmp_path, context):
    first, second = (version_file(tmp_path / n, output_mode=n) for n in ("Append", "Update"))
    assert store(first, "orders", context) == (1, True)
    assert store(first, "orders", context) == (1, False)
    assert store(second, "orders", context) == (2, True)
    assert capture(["orders"], context=context).output_mode == "Update"
    assert capture(["orders@1"], context=context).output_mode == "Append"


def test_a_pipeline_must_be_declared(tmp_path, context):
    file = version_file(tmp_path / "v")
    with pytest.raises(NotFoundError, match=r"no pipeline 'ordres' in .*: did you mean orders\?"):
        store(file, "ordres", context)
    assert not (tmp_path / ".headgate").exists()


def test_what_is_no_evidence_is_said(tmp_path, context):
    with pytest.raises(EvidenceError, match="not found: check the path"):
        capture(["nowhere/explain.txt"], context=context)


def test_an_existing_path_wins_over_a_function(tmp_path, context):
    version_file(tmp_path / "a:b", name="file")
    assert capture(["a:b"], context=context).name == "file"
