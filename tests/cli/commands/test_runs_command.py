"""`headgate runs`: the same columns as the Runs page."""

import re
from contextlib import closing

import pytest
from click.testing import CliRunner

from headgate.cli.main import headgate
from headgate.store import open_store
from headgate.store.rows import NewRun
from headgate.views.words.run_columns import RUN_COLUMNS


def test_a_list_of_runs_has_every_column_and_an_empty_one_no_heading(tmp_path):
    file = tmp_path / "headgate.toml"
    file.write_text("", "utf-8")
    arguments = ["--config", str(file), "runs"]
    with closing(open_store(f"sqlite:///{tmp_path}/.headgate/headgate.db")) as store:
        empty = CliRunner().invoke(headgate, arguments)
        assert not empty.stdout and empty.stderr.startswith(
            "No runs yet. Plan with `headgate plan`"
        )
        new = NewRun(scenario="rewind", pipeline="a", plan_hash="h", plan="{}", resources=())
        run = store.runs.enqueue(new, by="ann", action="apply")
    heading, rule, row = CliRunner().invoke(headgate, arguments).output.splitlines()
    assert re.split(r" {2,}", heading) == [c.heading for c in RUN_COLUMNS]
    assert set(rule) == {"─", " "}
    assert row.startswith("queued") and "rewind" in row and row.endswith(run)


@pytest.mark.parametrize(("resumes", "said"), [(True, "pause --resume"), (False, "pause")])
def test_a_run_that_resumes_isnt_listed_as_a_pause(tmp_path, resumes, said):
    file = tmp_path / "headgate.toml"
    file.write_text("", "utf-8")
    with closing(open_store(f"sqlite:///{tmp_path}/.headgate/headgate.db")) as store:
        new = NewRun(scenario="pause", pipeline="a", plan_hash="h", plan="{}", resources=(),
                     resumes=resumes)  # fmt: skip
        store.runs.enqueue(new, by="ann", action="apply")
    row = CliRunner().invoke(headgate, ["--config", str(file), "runs"]).output.splitlines()[2]
    assert re.split(r" {2,}", row)[2] == said


def test_the_command_for_older_runs_keeps_the_length_of_the_page(tmp_path):
    file = tmp_path / "headgate.toml"
    file.write_text("", "utf-8")
    with closing(open_store(f"sqlite:///{tmp_path}/.headgate/headgate.db")) as store:
        new = NewRun(scenario="rewind", pipeline="a", plan_hash="h", plan="{}", resources=())
        for _ in range(3):
            store.runs.enqueue(new, by="ann", action="apply")
    said = CliRunner().invoke(headgate, ["--config", str(file), "runs", "--limit", "2"]).stderr
    assert said == "2 of 3 runs. `headgate runs --limit 2 --page 2` lists older runs.\n"
