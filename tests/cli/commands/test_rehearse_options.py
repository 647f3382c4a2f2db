"""Options of `headgate rehearse` that two engines share, and those that only one has."""

import click
import pytest
from click.testing import CliRunner

from headgate.cli.main import headgate


def commands(command: click.Command, name: str):
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for one in command.list_commands(context):
            inner = command.get_command(context, one)
            assert inner is not None
            yield from commands(inner, f"{name} {one}")


def test_no_command_has_an_option_twice():
    options = {
        name: [o for p in command.params for o in (*p.opts, *p.secondary_opts)]
        for name, command in commands(headgate, "headgate")
    }
    assert len(options) > 40
    assert [name for name, known in options.items() if len(known) != len(set(known))] == []


def rehearse(*arguments):
    done = CliRunner().invoke(headgate, ["rehearse", *arguments])
    assert done.exit_code == 2
    return done.output


def test_a_sample_is_for_both_engines(tmp_path):
    sample = tmp_path / "rows.json"
    sample.write_text("{}\n")
    pair = ("--before", "no_such_module:a", "--after", "no_such_module:b")
    assert "no_such_module" in rehearse(*pair, "--sample", str(sample))
    jars = ("--before-jar", str(sample), "--jar", str(sample), "--after", "A#topology")
    assert "isn't a file" in rehearse(*jars, "--sample", "orders=missing.jsonl")


@pytest.mark.parametrize("option", ["--sample", "--sample-from"])
def test_what_only_a_twin_run_has_is_refused_elsewhere(option, tmp_path):
    copy = ("--checkpoint", str(tmp_path), "--after", "m:f")
    assert f"{option} is for a twin run" in rehearse(*copy, option, "x")


def test_records_of_a_cluster_are_only_for_spark(tmp_path):
    jar = tmp_path / "a.jar"
    jar.touch()
    jars = ("--before-jar", str(jar), "--jar", str(jar), "--after", "A")
    said = rehearse(*jars, "--sample-from", "x")
    assert "--sample-from is only for Spark: pass records with --sample" in said


def test_records_for_a_twin_run_are_passed_with_sample(tmp_path):
    jar = tmp_path / "a.jar"
    jar.touch()
    jars = ("--before-jar", str(jar), "--jar", str(jar), "--after", "A")
    assert "pass records with --sample" in rehearse(*jars, "--records", str(jar))
    assert "doesn't use your Kafka cluster" in " ".join(rehearse(*jars, "--offline").split())
