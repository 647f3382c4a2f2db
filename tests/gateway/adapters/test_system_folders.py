"""Which folders are a system's, so that no result may be put there."""

import pytest

from headgate.gateway.adapters.run_context import RunContext
from headgate.gateway.adapters.sinks import SinkAdapter
from headgate.model.registered_pipelines import Registry


@pytest.fixture
def find(tmp_path):
    adapter = SinkAdapter(RunContext(registry=Registry(), home=tmp_path / "home"))
    return lambda name, known=None: adapter.system_folder(str(tmp_path / name), known or {})


def made(folder, *names):
    for name in names:
        (folder / name).mkdir(parents=True)
    return folder


@pytest.mark.parametrize("name", ["out", "out/day=1", "data", "data/none/new"])
def test_a_known_folder_its_parents_and_what_is_in_it(tmp_path, find, name):
    known = {
        str(tmp_path / "out"): "the output of p",
        str(tmp_path / "data/none"): "the checkpoint",
    }
    assert find(name, known) in known.values()
    assert find("other", known) is None


@pytest.mark.parametrize(
    ("marker", "said"),
    [("_spark_metadata", "the output of a streaming query"), ("_delta_log", "a Delta table")],
)
@pytest.mark.parametrize("name", ["a/b", "a", "a/b/c/d"])
def test_outputs_are_recognised_above_and_below(tmp_path, find, marker, said, name):
    made(tmp_path / "a" / "b", marker)
    assert find(name) == f"{said} ({tmp_path / 'a' / 'b'})"


def test_a_checkpoint_is_recognised_by_both_of_its_parts(tmp_path, find):
    folder = made(tmp_path / "ck", "offsets")
    assert find("ck") is None
    (folder / "metadata").write_text("{}")
    assert find("ck") == f"a checkpoint ({folder})"
    assert find(".") == f"a checkpoint ({folder})"


def test_remote_checkpoints_are_no_folders_here(find):
    assert find("a", {"s3://bucket/ck": "the checkpoint of p"}) is None
