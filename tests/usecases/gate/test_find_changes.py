"""Which pipelines a working tree changes: real clones, no Spark."""

import pytest

from headgate.errors import NotFoundError, SetupError
from headgate.gateway.process.git import repository_of
from headgate.usecases.context import read_context, unset_variables
from headgate.usecases.gate.base import find_base
from headgate.usecases.gate.find_changes import find_changes

pytestmark = pytest.mark.slow

FILES = {
    "jobs/__init__.py": "",
    "jobs/orders.py": "from jobs.shared import rows\n",
    "jobs/clicks.py": "from .util import text\nimport json\n",
    "jobs/shared/__init__.py": "from .rows import rows\n",
    "jobs/shared/rows.py": "rows = 1\n",
    "jobs/util/text.py": "import lib.deep.words as w\n",
    "lib/deep/words.py": "",
    "README.md": "",
}


@pytest.fixture
def repo(clone):
    for path, text in FILES.items():
        clone.file(path, text)
    clone.register(orders="jobs.orders:build", clicks="jobs.clicks:build")
    clone.commit()
    return clone


def changes(revision="HEAD"):
    """Return {pipeline: (change, reasons)} of the clone in the working directory."""
    context = read_context(None, unset_variables())
    base = find_base(repository_of(context.home.parent), revision)
    found, warnings = find_changes(context, base)
    return {c.pipeline.name: (c.change.value, *c.reasons) for c in found}, warnings


@pytest.mark.parametrize(
    ("path", "changed"),
    [
        ("jobs/orders.py", {"orders"}),
        ("jobs/shared/__init__.py", {"orders"}),
        ("jobs/shared/rows.py", {"orders"}),
        ("jobs/util/text.py", {"clicks"}),
        ("lib/deep/words.py", {"clicks"}),
        ("jobs/__init__.py", {"orders", "clicks"}),
        ("README.md", set()),
    ],
)
def test_a_pipeline_changes_with_what_it_imports(repo, path, changed):
    repo.file(path, "x = 2\n")
    found, _ = changes()
    assert {name for name, (change, *_) in found.items() if change == "changed"} == changed
    assert all(f"{path} changed" in found[name] for name in changed)


def test_committed_staged_and_new_files_count(repo):
    repo.git("checkout", "-q", "-b", "work")
    repo.file("jobs/shared/rows.py", "rows = 2\n")
    repo.commit()
    assert changes("main")[0]["orders"] == ("changed", "jobs/shared/rows.py changed")
    repo.file("jobs/util/text.py", "y = 1\n")
    repo.git("add", "-A")
    assert changes("main")[0]["clicks"] == ("changed", "jobs/util/text.py changed")


def test_a_module_that_is_removed_or_comes_first_changes_who_imports_it(repo):
    (repo.folder / "jobs/shared/rows.py").unlink()
    # Python would take this one instead of the standard library's.
    repo.file("json.py", "")
    found, _ = changes()
    assert found["orders"] == ("changed", "jobs/shared/rows.py changed")
    assert found["clicks"] == ("changed", "json.py changed")


def test_newer_commits_of_the_base_are_no_changes(repo):
    repo.git("checkout", "-q", "-b", "work")
    repo.git("checkout", "-q", "main")
    repo.file("jobs/orders.py", "x = 3\n")
    repo.commit()
    repo.git("checkout", "-q", "work")
    repo.file("jobs/clicks.py", "x = 3\n")
    found, warnings = changes("main")
    assert {name: change for name, (change, *_) in found.items()} == {
        "orders": "unchanged",
        "clicks": "changed",
    }
    assert warnings == ()


def test_what_can_not_be_resolved_counts_as_changed(repo):
    repo.file("jobs/orders.py", "import importlib\nimportlib.import_module(NAME)\n")
    repo.commit()
    assert changes()[0]["orders"] == ("unchanged",)
    repo.file("README.md", "x")
    why = "Headgate can't follow all imports: jobs/orders.py:2 calls import_module"
    assert changes()[0]["orders"] == ("changed", why)


def test_an_entry_point_outside_of_the_repository_counts_as_changed(repo):
    repo.register(orders="elsewhere.orders:build")
    repo.commit()
    repo.file("README.md", "x")
    why = (
        "Headgate can't follow all imports: module elsewhere.orders isn't in a folder of the "
        "repository that Python imports from"
    )
    assert changes()[0]["orders"] == ("changed", why)


def test_a_source_folder_that_python_does_not_import_from_is_named(repo, monkeypatch):
    repo.register(orders="shop.orders:build")
    repo.file("src/shop/__init__.py", "")
    repo.file("src/shop/orders.py", "x = 1\n")
    repo.commit()
    repo.file("README.md", "x")
    monkeypatch.chdir(repo.folder)
    why = (
        "Headgate can't follow all imports: module shop.orders is in the folder src: set "
        "PYTHONPATH=src"
    )
    assert changes()[0]["orders"] == ("changed", why)
    monkeypatch.setenv("PYTHONPATH", "src")
    assert changes()[0]["orders"] == ("unchanged",)


INPUTS = """
[[pipeline]]
name = "views"
engine = "spark"
checkpoint = "/data/views"
entry_point = "jobs.views:build"
inputs = ["sql/**/*.sql"]
"""


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("sql/a.sql", "sql/a.sql changed"),
        ("sql/more/b.sql", "sql/more/b.sql changed"),
        ("sql/notes.md", None),
    ],
)
def test_inputs_are_globs_of_files(repo, path, why):
    repo.file("headgate.toml", INPUTS)
    repo.file("jobs/views.py", "")
    repo.file("sql/a.sql", "select 1")
    repo.commit()
    repo.file(path, "select 2")
    assert changes()[0]["views"] == (("changed", why) if why else ("unchanged",))


def test_inputs_that_are_removed_missing_or_ignored_count_as_changed(repo):
    repo.file("headgate.toml", INPUTS)
    repo.file("jobs/views.py", "")
    repo.file("sql/a.sql", "select 1")
    repo.file(".gitignore", "sql/made.sql\n")
    repo.commit()
    repo.file("sql/made.sql", "")
    repo.file("README.md", "x")
    said = "sql/made.sql isn't under version control, so it may have changed"
    assert changes()[0]["views"] == ("changed", said)
    (repo.folder / "sql/made.sql").unlink()
    (repo.folder / "sql/a.sql").unlink()
    assert changes()[0]["views"] == ("changed", "sql/a.sql changed")
    repo.commit()
    repo.file("README.md", "y")
    assert changes()[0]["views"] == (
        "changed",
        "the pattern sql/**/*.sql in `inputs` matches no file",
    )


def test_a_file_that_the_code_names_is_an_input(repo):
    repo.file("jobs/orders.py", "q = open(HERE / 'orders.sql')\n")
    repo.file("queries/orders.sql", "select 1")
    repo.commit()
    repo.file("queries/orders.sql", "select 2")
    assert changes()[0]["orders"] == ("changed", "queries/orders.sql changed")


def test_code_that_git_ignores_counts_as_changed(repo):
    repo.file(".gitignore", "jobs/made.py\n")
    repo.file("jobs/orders.py", "import jobs.made\n")
    repo.commit()
    repo.file("jobs/made.py", "x = 1\n")
    repo.file("README.md", "x")
    said = "jobs/made.py isn't under version control, so it may have changed"
    assert changes()[0]["orders"] == ("changed", said)


def test_packages_in_the_clone_are_not_followed(repo, monkeypatch):
    packages = repo.folder / ".venv/lib/python3.11/site-packages"
    repo.file(".gitignore", ".venv\n")
    repo.file(".venv/lib/python3.11/site-packages/dynamic.py", "exec(code)\n")
    monkeypatch.syspath_prepend(packages)
    repo.file("jobs/orders.py", "import dynamic\n")
    repo.commit()
    repo.file("README.md", "x")
    assert changes()[0]["orders"] == ("unchanged",)


def test_settings_of_the_pipeline_and_its_packages(repo):
    text = (repo.folder / "headgate.toml").read_text()
    repo.file("headgate.toml", text.replace("/data/orders", "/data/orders-2"))
    repo.file("requirements.txt", "a==1\n")
    found, _ = changes()
    assert found["orders"] == (
        "changed",
        "`checkpoint` in headgate.toml changed",
        "requirements.txt changed",
    )
    assert found["clicks"] == ("changed", "requirements.txt changed")


@pytest.mark.parametrize("option", ["-r ", "--requirement=", "-c ", "-r"])
def test_included_requirements_change_pipelines(repo, option):
    repo.file("requirements.txt", f"{option}more/base.txt\n")
    repo.file("more/base.txt", "-c limits.txt\n")
    repo.file("more/limits.txt", "a<2\n")
    repo.commit()
    repo.file("README.md", "x")
    assert changes()[0]["orders"] == ("unchanged",)
    repo.file("more/limits.txt", "a<3\n")
    assert changes()[0]["orders"] == ("changed", "more/limits.txt changed")
    (repo.folder / "more/limits.txt").unlink()
    assert changes()[0]["orders"] == ("changed", "more/limits.txt changed")


def test_another_requirements_file_changes_pipelines(repo):
    text = (repo.folder / "headgate.toml").read_text()
    repo.file("requirements.txt", "a==1\n")
    repo.file("other.txt", "a==2\n")
    repo.commit()
    repo.file("headgate.toml", f'[gate]\nrequirements = "requirements.txt"\n{text}')
    assert changes()[0]["orders"] == ("unchanged",)
    repo.file("headgate.toml", f'[gate]\nrequirements = "other.txt"\n{text}')
    assert changes()[0]["orders"] == ("changed", "`requirements` in headgate.toml changed")


def test_new_removed_and_renamed_pipelines(repo):
    text = (repo.folder / "headgate.toml").read_text()
    text = text.replace('name = "orders"', 'name = "sales"')
    text = text.replace('name = "clicks"', 'name = "views"').replace("/data/clicks", "/data/v")
    repo.file("headgate.toml", text)
    found, _ = changes()
    assert found == {"sales": ("renamed",), "views": ("new",), "clicks": ("removed",)}


def test_without_a_registry_at_the_base_all_are_new(repo):
    (repo.folder / "headgate.toml").unlink()
    repo.commit()
    repo.register(orders="jobs.orders:build")
    found, (warning,) = changes()
    assert found == {"orders": ("new",)}
    assert warning == "headgate.toml isn't in the base commit, so all pipelines count as new."


def test_a_registry_of_the_base_that_can_not_be_read_is_a_warning(repo):
    repo.file("headgate.toml", "[[pipeline]]\nname = 3\n")
    repo.commit()
    repo.register(orders="jobs.orders:build")
    found, (warning,) = changes()
    assert found == {"orders": ("unchanged",)}
    assert warning.startswith("headgate.toml (base commit):2: ")


def test_no_secret_is_needed(repo):
    text = (repo.folder / "headgate.toml").read_text()
    more = '[kafka]\nbootstrap_servers = "${BROKERS}"\n[store]\nurl = "${STORE_URL}"\n'
    repo.file("headgate.toml", more + text)
    assert changes()[0]["orders"] == ("unchanged",)


@pytest.mark.parametrize("revision", ["nowhere", "--help", "HEAD~9"])
def test_an_unknown_revision_is_one_sentence(repo, revision):
    with pytest.raises(NotFoundError, match="isn't a commit of this clone"):
        changes(revision)


def test_a_folder_without_git_is_one_sentence(tmp_path):
    with pytest.raises(SetupError, match="isn't in a working tree of git: not a git repository"):
        repository_of(tmp_path)


def test_a_missing_git_is_one_sentence(repo, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(SetupError, match="install git"):
        repository_of(repo.folder)


def test_branches_without_a_shared_commit_warn(repo):
    repo.git("checkout", "-q", "--orphan", "lonely")
    repo.git("commit", "-q", "-m", "begin without parents", "--allow-empty")
    base = find_base(repository_of(repo.folder), "main")
    assert base.warnings[0].startswith("main and HEAD share no history")
    assert "--unshallow" not in base.warnings[0]


def test_a_shallow_clone_without_the_shared_history_warns(repo, tmp_path, monkeypatch):
    for text in ("1", "2"):
        repo.file("README.md", text)
        repo.commit()
    repo.git("checkout", "-q", "-b", "work", "HEAD~2")
    repo.file("jobs/orders.py", "x = 9\n")
    repo.commit()
    shallow = tmp_path / "shallow"
    source = f"file://{repo.folder}"
    repo.git("clone", "-q", "--depth", "1", "-b", "work", source, str(shallow))
    monkeypatch.chdir(shallow)
    with pytest.raises(NotFoundError, match="fetch-depth: 0"):
        changes("origin/main")
    repo.git(
        "-C", str(shallow), "fetch", "-q", "--depth", "1", "origin", "main:refs/remotes/origin/main"
    )
    context = read_context(None, unset_variables())
    base = find_base(repository_of(shallow), "origin/main")
    assert "doesn't have the history that origin/main and HEAD share" in base.warnings[0]
    assert "jobs/orders.py" in base.changed and context.registry.pipelines
