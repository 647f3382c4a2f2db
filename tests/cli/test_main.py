"""The entry of the command line: lazy commands, and one exit code for each kind of error."""

import json
import os
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from headgate import errors
from headgate.cli.main import COMMANDS, headgate
from headgate.cli.shared import options
from headgate.cli.shared.group import CommandEntry, LazyGroup, Settings, config_option
from support.waiting import PATIENCE

HEAVY = ("streamlit", "dbos", "pyspark", "pandas", "confluent_kafka", "sqlalchemy", "networkx")

PLAN = """== Physical Plan ==
WriteToDataSourceV2 MicroBatchWrite[epoch: 0, writer: ConsoleWriter[numRows=20, truncate=true]]
+- *(1) Project [timestamp#0, value#1L]
   +- MicroBatchScan[timestamp#0, value#1L] rate
"""


def failing(error: BaseException) -> click.Command:
    @click.command
    def command() -> None:
        raise error

    return command


@click.command
@options.format_option("markdown")
@click.pass_context
def shows(ctx, output):
    options.emit_json({"config": ctx.find_object(Settings).config, "schema": 1, "output": output})


@click.command
def closes():
    return 1


def group() -> LazyGroup:
    entries = {
        name: CommandEntry(f"{__name__}:{name}", name)
        for name in ("shows", "closes", "fails", "absent")
    }
    return LazyGroup("headgate", entries=entries, params=[config_option()])


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (errors.EvidenceError("nothing recognised x"), 2, "nothing recognised x"),
        (errors.RegistryError("no name", source="headgate.toml", line=3), 2, "headgate.toml:3:"),
        (errors.StalePlanError("the world moved"), 3, "the world moved"),
        (errors.UnreachableError("Kafka did not answer"), 4, "Kafka did not answer. Check that"),
        (errors.UnreachableError("no; check x"), 4, "no; check x\n"),
        (errors.QueryChoiceError("it has", ["a"]), 2, "it has:\n  a\nChoose a query with --query."),
        (errors.StepError("stuck"), 5, "stuck"),
        (KeyboardInterrupt(), 130, "Interrupted"),
        (click.Abort(), 130, "Interrupted"),
        (click.BadParameter("no such scenario"), 2, "no such scenario"),
        (click.ClickException("odd"), 2, "odd"),
        (ValueError("a\nb"), 2, "unexpected ValueError: a b\nSet HEADGATE_DEBUG=1"),
        (ModuleNotFoundError("No module named 'q'", name="q"), 2, "unexpected ModuleNotFound"),
    ],
)
def test_every_error_has_its_exit_code_and_is_said_on_stderr(monkeypatch, error, code, said):
    monkeypatch.setitem(globals(), "fails", failing(error))
    result = CliRunner().invoke(group(), ["fails"])
    assert result.exit_code == code
    assert said in result.stderr
    assert not result.stdout
    assert "Traceback" not in result.stderr


def test_the_trace_is_shown_on_demand(monkeypatch):
    monkeypatch.setenv("HEADGATE_DEBUG", "1")
    monkeypatch.setitem(globals(), "fails", failing(ValueError("a")))
    assert "Traceback" in CliRunner().invoke(group(), ["fails"]).stderr


@pytest.mark.parametrize(
    "args", [["--config", "a.toml", "shows"], ["shows", "--config", "a.toml", "--format", "json"]]
)
def test_config_stands_before_or_after_the_command(args):
    result = CliRunner().invoke(group(), args)
    assert json.loads(result.stdout)["config"] == "a.toml"
    assert next(iter(json.loads(result.stdout))) == "schema"


def test_a_command_may_return_its_exit_code():
    assert CliRunner().invoke(group(), ["closes"]).exit_code == 1
    assert CliRunner().invoke(group(), ["shows"]).exit_code == 0


@pytest.mark.parametrize("args", [[], ["nope"], ["--nope"], ["shows", "--format", "x"]])
def test_a_wrong_command_line_is_exit_2(args):
    assert CliRunner().invoke(group(), args).exit_code == 2


def test_help_names_every_command_and_imports_none():
    result = CliRunner().invoke(headgate, ["--help"])
    assert result.exit_code == 0
    assert all(name in result.stdout for name in COMMANDS)
    code = "import sys; from headgate.cli.main import main; sys.argv = ['headgate', '--help']\n"
    code += f"try: main()\nexcept SystemExit: sys.exit([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.strip() == "[]"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_there_and_knows_config_and_help(name):
    result = CliRunner().invoke(headgate, [name, "--help"])
    assert result.exit_code == 0
    assert "--config FILE" in result.stdout


def test_a_closed_pipe_leaves_no_trace():
    done = subprocess.run(
        f"{sys.executable} -m headgate.cli.main --help | true",
        shell=True,
        capture_output=True,
        text=True,
    )
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("words", [["--help"], ["topology", "PLAN"], ["diff", "--help"]])
def test_without_a_reader_it_ends_as_other_programs_do(tmp_path, words):
    (tmp_path / "PLAN").write_text(PLAN)
    gone, end = os.pipe()
    os.close(gone)
    done = subprocess.run(
        [sys.executable, "-m", "headgate.cli.main", *words],
        cwd=tmp_path, stdout=end, stderr=subprocess.PIPE, text=True, timeout=PATIENCE,
    )  # fmt: skip
    os.close(end)
    assert (done.returncode, done.stderr) == (141, "")


def test_with_stdout_closed_it_does_its_work_all_the_same(tmp_path):
    (tmp_path / "PLAN").write_text(PLAN)
    words = "-m headgate.cli.main topology PLAN >&-; echo $? >code"
    done = subprocess.run(
        f"{sys.executable} {words}",
        shell=True, cwd=tmp_path, stderr=subprocess.PIPE, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert ((tmp_path / "code").read_text(), done.stderr) == ("0\n", "")
