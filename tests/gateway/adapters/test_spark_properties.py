"""Settings of a Spark program as Java reads them, the lines of its progress, and its end."""

import subprocess
import time

import pytest

from headgate.gateway.process.java import java
from headgate.gateway.process.shell_commands import marked
from headgate.gateway.spark.submit_job import (
    CONNECTIONS,
    PROGRESS,
    PROPERTIES,
    ProgressFile,
    Submission,
    as_properties,
)
from headgate.model.registered_pipelines import SparkSettings
from support.waiting import until

LOCAL = SparkSettings(master="local[1]")
BAR = "spark.ui.showConsoleProgress"
SETTINGS = {
    "spark.app.name": " two  words ",
    "spark.x y:z=1": "C:\\jars, a=b # c",
    "spark.e": "é 😀\nnext",
}
READER = """
public class R {
  public static void main(String[] a) throws Exception {
    var p = new java.util.Properties();
    p.load(new java.io.InputStreamReader(new java.io.FileInputStream(a[0]), "UTF-8"));
    var out = new java.io.PrintStream(System.out, true, "UTF-8");
    for (var k : new java.util.TreeSet<Object>(p.keySet())) out.print(k + "\\0" + p.get(k) + "\\1");
  }
}
"""


def submitted(folder, *arguments, spark=LOCAL, **more):
    return Submission(
        program="compare_outputs", arguments=arguments, spark=spark, folder=folder, report=folder,
        mark=f"m:{folder}", **more,
    )  # fmt: skip


@pytest.mark.slow
def test_java_reads_the_settings_that_were_written(tmp_path):
    (tmp_path / "R.java").write_text(READER)
    (tmp_path / "p").write_text(as_properties(SETTINGS), encoding="utf-8")
    said = subprocess.run(
        [str(java()), str(tmp_path / "R.java"), str(tmp_path / "p")],
        capture_output=True,
        check=False,
    )
    if b"compiler" in said.stderr.lower():
        pytest.skip("this Java can't run source files")
    pairs = said.stdout.decode().split("\1")[:-1]
    assert dict(p.split("\0") for p in pairs) == SETTINGS


@pytest.mark.parametrize(("config", "shown"), [({}, "false"), ({BAR: "true"}, "true")])
def test_the_log_has_no_progress_bars_unless_they_are_wanted(tmp_path, config, shown):
    spark = SparkSettings(master="local[1]", config=config)
    assert submitted(tmp_path, spark=spark)._settings()[BAR] == shown


def test_connections_are_only_in_the_environment(tmp_path):
    database = {"url": "jdbc:postgresql://h/d", "password": "s3cret"}
    connections = {"kafka": {"sasl.jaas.config": "s3cret"}, "jdbc": {"shop": database}}
    one = submitted(tmp_path, connections=connections)
    properties = tmp_path / PROPERTIES
    assert "s3cret" in one._environment(properties)[CONNECTIONS]
    shown = (str(one._settings()), str(one._command(properties)), repr(one))
    assert not any("s3cret" in text for text in shown)
    assert "postgresql" in one._settings()["spark.jars"]


@pytest.mark.parametrize(("master", "given"), [("local[*]", True), ("spark://h:7077", False)])
def test_temporary_files_are_in_the_given_folder(tmp_path, master, given):
    # Executors would look for the same folder on their own machines.
    folder = tmp_path / "it's mine"
    one = submitted(folder, spark=SparkSettings(master=master), temporary=folder)
    assert one._environment(folder / PROPERTIES)["TMPDIR"] == str(folder)
    found, local = one._settings(), folder / "local"
    assert found.get("spark.local.dir") == (str(local) if given else None)
    java = f'"-Djava.io.tmpdir={local}"' if given else None
    assert found.get("spark.driver.extraJavaOptions") == java
    assert local.is_dir() == given


def test_a_program_reports_how_it_failed(tmp_path):
    """Before Spark is started, for it takes long."""
    reports = []
    one = submitted(tmp_path, "a", "b", "--keys=")
    code, found = one.run(reports.append, lambda child: time.sleep(0.05))
    assert code == 2 and reports == []
    assert found["outcome"] == "failed" and found["facts"] == {"kind": "OutputError"}
    assert "needs key columns" in found["error"]
    assert not (tmp_path / PROPERTIES).exists()


def test_what_a_wrong_command_line_says_is_in_the_log(tmp_path):
    one = submitted(tmp_path, "a", "b")
    assert one.run(print, lambda child: time.sleep(0.05)) == (2, None)
    assert "--keys" in one.log.read_text().splitlines()[-1]


def test_an_error_while_it_runs_kills_the_program(tmp_path):
    one = submitted(tmp_path, "a", "b", "--keys=id")

    def wait(child):
        until(lambda: marked(f"m:{tmp_path}"), every=0.01)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        one.run(print, wait)
    assert marked(f"m:{tmp_path}") == []
    assert [file.name for file in tmp_path.iterdir()] == ["spark.log"]


def test_each_whole_line_of_progress_is_read_once(tmp_path):
    lines, file = ProgressFile(tmp_path), tmp_path / PROGRESS
    assert list(lines.new()) == []
    file.write_bytes(b'{"done": 1}\n{"do')
    assert list(lines.new()) == [{"done": 1}]
    file.write_bytes(b'{"done": 1}\n{"done": 2}\n')
    assert list(lines.new()) == [{"done": 2}]
    assert list(lines.new()) == []
