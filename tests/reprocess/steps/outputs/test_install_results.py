"""Results get to their place, and back, whatever crashes in between."""

import shutil
from pathlib import Path

import pytest

from headgate.errors import RefusedError
from headgate.gateway.adapters.folders import FolderAdapter
from headgate.gateway.adapters.run_context import RunContext
from headgate.model.registered_pipelines import Registry
from headgate.reprocess.steps.outputs.install_results import InstallResults
from headgate.reprocess.steps.outputs.process_records import DeleteResults, staged_folder
from support.flat_ports import FlatPorts


class Applier(FlatPorts):
    def __init__(self, home, run="run-1"):
        self.run = run
        self.folders = FolderAdapter(RunContext(registry=Registry(), home=home, run=run))

    folders = None


@pytest.fixture
def applier(tmp_path):
    (tmp_path / "home" / "runs").mkdir(parents=True)
    return Applier(tmp_path / "home")


def staged(folder, run="run-1", text="new"):
    made = Path(staged_folder(str(folder), run))
    made.mkdir()
    (made / "part-0").write_text(text)
    return made


def done(applier, step, was=None):
    was = was or step.bind(applier)
    if not step.is_applied(applier, was):
        step.apply(applier, was)
    step.verify(applier, was)
    return was


def test_results_are_moved_and_an_undo_deletes_them(tmp_path, applier):
    folder = tmp_path / "april"
    staged(folder)
    step = InstallResults(folder=str(folder))
    was = done(applier, step)
    assert (folder / "part-0").read_text() == "new"
    (back,) = step.undo(was)
    done(applier, back)
    assert not folder.exists()
    done(applier, DeleteResults(folder=was["staged"]))
    assert [p.name for p in tmp_path.iterdir()] == ["home"]


def test_a_replaced_folder_comes_back(tmp_path, applier):
    folder = tmp_path / "april"
    folder.mkdir()
    (folder / "part-0").write_text("old")
    staged(folder)
    step = InstallResults(folder=str(folder), replaces=True)
    was = done(applier, step)
    assert (folder / "part-0").read_text() == "new"
    (back,) = step.undo(was)
    done(applier, back)
    assert (folder / "part-0").read_text() == "old"


def test_between_the_two_moves_it_continues(tmp_path, applier):
    folder = tmp_path / "april"
    folder.mkdir()
    (folder / "part-0").write_text("old")
    staged(folder)
    step = InstallResults(folder=str(folder), replaces=True)
    was = step.bind(applier)
    folder.rename(was["backup"])
    done(applier, step, was)
    assert (folder / "part-0").read_text() == "new"
    (back,) = step.undo(was)
    folder.rename(was["staged"])
    done(applier, back)
    assert (folder / "part-0").read_text() == "old"


def test_an_undo_deletes_nothing_that_somebody_has_added(tmp_path, applier):
    folder = tmp_path / "april"
    staged(folder)
    step = InstallResults(folder=str(folder))
    was = done(applier, step)
    (folder / "part-1").write_text("somebody's")
    (back,) = step.undo(was)
    with pytest.raises(RefusedError, match="were changed after the run"):
        back.apply(applier, was)
    assert (folder / "part-1").exists()
    folder.rename(tmp_path / "kept")
    done(applier, back)


def test_a_folder_that_appeared_meanwhile_is_left_alone(tmp_path, applier):
    folder = tmp_path / "april"
    staged(folder)
    step = InstallResults(folder=str(folder))
    was = step.bind(applier)
    folder.mkdir()
    with pytest.raises(RefusedError, match="already exists"):
        step.apply(applier, was)
    (back,) = step.undo(was)
    done(applier, back)
    assert folder.is_dir() and Path(was["staged"]).is_dir()


@pytest.mark.parametrize("name", ["april", ".april", ".headgate-x", ".april.headgate-a/../b"])
def test_only_folders_of_results_are_deleted(tmp_path, applier, name):
    from headgate.errors import StepError

    (tmp_path / "april").mkdir(exist_ok=True)
    with pytest.raises(StepError, match="isn't the result of a run"):
        applier.folders.remove_results(str(tmp_path / name))


def test_a_killed_removal_leaves_no_part_under_the_name(tmp_path, applier, monkeypatch):
    folder = tmp_path / ".april.stream.headgate-r1"
    for log in ("offsets", "state"):
        (folder / "checkpoint" / log).mkdir(parents=True)
        (folder / "checkpoint" / log / "0").write_text("x")
    real = shutil.rmtree

    def killed(path, **_given):
        real(Path(path) / "checkpoint" / "offsets")
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(shutil, "rmtree", killed)
        with pytest.raises(KeyboardInterrupt):
            applier.folders.remove_results(str(folder))
    assert not folder.exists(), "Spark would fail at a checkpoint without its offset log"
    applier.folders.remove_results(str(folder))
    assert [p.name for p in tmp_path.iterdir()] == ["home"]
