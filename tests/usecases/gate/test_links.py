"""What differs behind a symbolic link changes the pipelines that use the link."""

import pytest

from headgate.gateway.process.git import repository_of
from headgate.usecases.context import read_context, unset_variables
from headgate.usecases.gate.base import find_base
from headgate.usecases.gate.find_changes import find_changes
from headgate.usecases.gate.links import matches

pytestmark = pytest.mark.slow


@pytest.fixture
def repo(clone):
    clone.file("jobs/__init__.py", "")
    clone.file("jobs/orders.py", "from jobs.lib.util import limit\n")
    clone.file("README.md", "")
    clone.register(orders="jobs.orders:build")
    return clone


def link(repo, path, target):
    place = repo.folder / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target)


def reasons():
    context = read_context(None, unset_variables())
    base = find_base(repository_of(context.home.parent), "HEAD")
    (found,) = find_changes(context, base)[0]
    return found.reasons


def test_a_linked_module_changes_with_its_target(repo):
    repo.file("shared/real.py", "def limit():\n    return 1\n")
    link(repo, "jobs/lib/one.py", "../../shared/real.py")
    link(repo, "jobs/lib/util.py", "one.py")
    repo.commit()
    repo.file("README.md", "x")
    assert reasons() == ()
    repo.file("shared/real.py", "def limit():\n    return 2\n")
    assert reasons() == ("jobs/lib/util.py changed",)


def test_a_linked_folder_changes_with_its_target(repo):
    repo.file("shared/lib/util.py", "limit = 1\n")
    link(repo, "jobs/lib", "../shared/lib")
    repo.commit()
    repo.file("README.md", "x")
    assert reasons() == ()
    repo.file("shared/lib/util.py", "limit = 2\n")
    assert reasons() == ("jobs/lib/util.py changed",)
    (repo.folder / "shared/lib/util.py").unlink()
    assert reasons() == ("jobs/lib/util.py changed",)


def test_another_target_of_a_link_is_a_change(repo):
    repo.file("shared/a.py", "limit = 1\n")
    repo.file("shared/b.py", "limit = 1\n")
    link(repo, "jobs/lib/util.py", "../../shared/a.py")
    repo.commit()
    (repo.folder / "jobs/lib/util.py").unlink()
    link(repo, "jobs/lib/util.py", "../../shared/b.py")
    assert reasons() == ("jobs/lib/util.py changed",)


@pytest.mark.parametrize("path", ["jobs/lib", "jobs/lib/util.py"])
def test_a_link_out_of_the_clone_may_have_changed(repo, tmp_path, path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "util.py").write_text("limit = 1\n")
    link(repo, path, outside if path == "jobs/lib" else outside / "util.py")
    repo.commit()
    repo.file("README.md", "x")
    said = f"the link {path} leads out of the repository, so the target may have changed"
    assert reasons() == (said,)


INPUTS = """
[[pipeline]]
name = "views"
engine = "spark"
checkpoint = "/data/views"
inputs = ["sql/**/*.sql"]
"""


@pytest.mark.parametrize(
    ("path", "target"), [("sql/views.sql", "../q/views.sql"), ("sql/more", "../q"), ("sql", "q")]
)
def test_a_linked_input_changes_with_its_target(repo, path, target):
    repo.file("headgate.toml", INPUTS)
    repo.file("q/views.sql", "select 1")
    if path != "sql":
        repo.file("sql/other.sql", "select 0")
    link(repo, path, target)
    repo.commit()
    repo.file("README.md", "x")
    assert reasons() == ()
    repo.file("q/views.sql", "select 2")
    name = path if path.endswith(".sql") else f"{path}/views.sql"
    assert reasons() == (f"{name} changed",)


def test_an_input_that_is_a_link_out_of_the_clone_may_have_changed(repo, tmp_path):
    (tmp_path / "views.sql").write_text("select 1")
    repo.file("headgate.toml", INPUTS)
    link(repo, "sql/views.sql", tmp_path / "views.sql")
    repo.commit()
    repo.file("README.md", "x")
    (said,) = reasons()
    assert said.startswith("the link sql/views.sql leads out of the repository")


def test_a_folder_that_leads_to_itself_ends(repo):
    repo.file("jobs/lib/util.py", "limit = 1\n")
    link(repo, "jobs/lib/again", ".")
    link(repo, "jobs/lib/round", "../lib")
    link(repo, "everything", ".")
    repo.commit()
    repo.file("jobs/lib/util.py", "limit = 2\n")
    assert "jobs/lib/util.py changed" in reasons()


@pytest.mark.parametrize(
    ("path", "pattern", "found"),
    [
        ("sql/a.sql", "sql/**/*.sql", True),
        ("sql/x/y/a.sql", "sql/**/*.sql", True),
        ("sql/x/a.sql", "sql/*.sql", False),
        ("sql/x/a", "sql/**", True),
        ("sql", "sql/a", False),
    ],
)
def test_globs_match_as_git_does(path, pattern, found):
    assert matches(path, pattern) is found
