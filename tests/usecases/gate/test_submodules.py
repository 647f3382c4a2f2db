"""A submodule is compared by its commit, and the base has it without a network."""

import shutil

import pytest

from headgate.gateway.process.git import repository_of
from headgate.usecases.context import read_context, unset_variables
from headgate.usecases.gate.base import find_base
from headgate.usecases.gate.find_changes import find_changes
from support.git_clone import Clone

pytestmark = pytest.mark.slow
LOCAL = ("-c", "protocol.file.allow=always")


@pytest.fixture
def repo(clone, tmp_path):
    """A clone with the submodule `common`, which has the submodule `deep`."""
    deep, common = Clone(tmp_path / "deep"), Clone(tmp_path / "common")
    deep.file("words.py", "x = 1\n")
    deep.commit()
    common.file("util.py", "limit = 1\n")
    common.git(*LOCAL, "submodule", "add", "-q", str(deep.folder), "deep")
    common.commit()
    clone.file("jobs/orders.py", "from common.util import limit\n")
    clone.file("README.md", "")
    clone.register(orders="jobs.orders:build")
    clone.git(*LOCAL, "submodule", "add", "-q", str(common.folder), "common")
    clone.git(*LOCAL, "submodule", "update", "-q", "--init", "--recursive")
    clone.commit()
    # Nothing may come from where the submodules were cloned from.
    shutil.rmtree(deep.folder)
    shutil.rmtree(common.folder)
    return clone


def moved(repo):
    """Give the submodule a new commit."""
    inner = Clone(repo.folder / "common")
    inner.file("util.py", "limit = 2\n")
    inner.commit()


def reasons(repo):
    context = read_context(None, unset_variables())
    (found,) = find_changes(context, find_base(repository_of(repo.folder), "HEAD"))[0]
    return found.reasons


def test_a_submodule_changes_who_imports_from_it(repo):
    repo.file("README.md", "x")
    assert reasons(repo) == ()
    moved(repo)
    assert "common/util.py changed" in reasons(repo)


def test_the_base_has_the_submodules_of_its_commit(repo, tmp_path):
    base = repo.git("rev-parse", "HEAD")
    moved(repo)
    repo.commit()
    repository = repository_of(repo.folder)
    with repository.checked_out(base, tmp_path / "headgate-gate-x/base") as folder:
        assert repository.fill_submodules(base, folder) == ()
        assert (folder / "common/util.py").read_text() == "limit = 1\n"
        assert (folder / "common/deep/words.py").read_text() == "x = 1\n"
    assert not folder.exists()
    assert len(repo.git("worktree", "list").splitlines()) == 1
    assert repo.git("status", "--porcelain") == ""


def test_a_submodule_that_is_not_here_says_what_to_do(repo, tmp_path):
    base = repo.git("rev-parse", "HEAD")
    repository = repository_of(repo.folder)
    repo.git("submodule", "deinit", "-q", "-f", "common")
    with repository.checked_out(base, tmp_path / "headgate-gate-x/base") as folder:
        (said,) = repository.fill_submodules(base, folder)
    assert said == (
        "the submodule common isn't checked out: run `git submodule update --init common`"
    )
