"""Settings of a Spark program as Java reads them, and the lines of its progress."""

import subprocess

import pytest

from headgate.gateway.process.java import java
from headgate.gateway.spark.submit_job import PROGRESS, ProgressFile, Submission, as_properties
from headgate.model.registered_pipelines import SparkSettings

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
    submission = Submission(
        program="p", arguments=(), spark=spark, folder=tmp_path, report=tmp_path, mark="m"
    )
    assert submission._settings()[BAR] == shown


def test_each_whole_line_of_progress_is_read_once(tmp_path):
    lines, file = ProgressFile(tmp_path), tmp_path / PROGRESS
    assert list(lines.new()) == []
    file.write_bytes(b'{"done": 1}\n{"do')
    assert list(lines.new()) == [{"done": 1}]
    file.write_bytes(b'{"done": 1}\n{"done": 2}\n')
    assert list(lines.new()) == [{"done": 2}]
    assert list(lines.new()) == []
