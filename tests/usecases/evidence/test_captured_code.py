"""What a captured version records about its code."""

import pytest

from headgate.model.version import Code, Engine, Version
from headgate.parse.evidence.version_file import dump
from headgate.usecases.evidence.captured_code import code_of
from support.git_clone import clone

pytestmark = pytest.mark.slow
__all__ = ["clone"]


@pytest.fixture
def repo(clone):
    clone.file("jobs/orders.py", "x = 1\n")
    clone.commit()
    return clone


@pytest.mark.parametrize("path", ["pipelines/first.headgate.json", "first.json"])
def test_a_version_file_leaves_the_code_clean(repo, path):
    head = repo.git("rev-parse", "HEAD")
    repo.file(path, dump(Version(engine=Engine.SPARK)))
    assert code_of("jobs.orders:build") == Code(
        entry_point="jobs.orders:build", commit=head, is_clean=True
    )
    repo.commit()
    repo.file(path, dump(Version(engine=Engine.SPARK, name="other")))
    assert code_of("jobs.orders:build").is_clean


@pytest.mark.parametrize("path", ["jobs/orders.py", "jobs/new.py", "settings.json"])
def test_any_other_file_does_not(repo, path):
    repo.file(path, "{}\n")
    assert code_of("jobs.orders:build").is_clean is False


def test_without_a_clone_only_the_entry_point_is_known(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert code_of("jobs.orders:build") == Code(entry_point="jobs.orders:build")
