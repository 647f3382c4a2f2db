"""`headgate gate` with jars of Kafka Streams: both versions start on brokers of their own."""

from __future__ import annotations

import json
import shutil
import zipfile

import pytest
from click.testing import CliRunner

from headgate.cli.main import headgate
from support.git_clone import clone

pytestmark = pytest.mark.kafka
__all__ = ["clone"]

TABLE = """
[[pipeline]]
name = "counts"
engine = "kafka-streams"
group = "counts"
jar = "build/app.jar"
entry_point = "Rehearsed#{method}"
properties = "app.properties"
"""
STRINGS = "".join(
    f"default.{part}.serde=org.apache.kafka.common.serialization.Serdes$StringSerde\n"
    for part in ("key", "value")
)


@pytest.fixture
def app(clone, rehearsed_jar, tmp_path):
    """A clone whose jar is built, and not under version control; the base's is elsewhere."""
    clone.file("headgate.toml", TABLE.format(method="counts"))
    clone.file("app.properties", STRINGS)
    clone.file(".gitignore", "build/\n")
    clone.commit()
    clone.git("checkout", "-q", "-b", "work")
    clone.file("src/Counts.java", "class Counts {}\n")
    (clone.folder / "build").mkdir()
    shutil.copy(rehearsed_jar, clone.folder / "build" / "app.jar")
    (tmp_path / "old").mkdir()
    shutil.copy(rehearsed_jar, tmp_path / "old" / "app.jar")
    return clone


def asked(*more):
    result = CliRunner().invoke(headgate, ["gate", "--base", "main", "--format", "json", *more])
    assert result.stdout, result.stderr
    (one,) = json.loads(result.stdout)["pipelines"]
    return one


def test_without_the_jar_of_the_base_it_says_what_to_build(app):
    one = asked()
    assert one["outcome"] == "unknown"
    assert "the base commit has no build/app.jar" in one["twin"] and "--base-jars" in one["twin"]


def test_equal_jars_need_no_run(app, tmp_path):
    # Another build of the same code: only the manifest differs.
    with zipfile.ZipFile(tmp_path / "old" / "app.jar", "a") as jar:
        jar.writestr("META-INF/MANIFEST.MF", "Build-Time: yesterday\n")
    one = asked("--base-jars", str(tmp_path / "old"))
    assert (one["outcome"], one["error"]) == ("resumes", None)
    assert one["reason"].startswith("Both jars have the same contents")


def test_what_both_jars_do_is_the_verdict(app, tmp_path):
    app.file("headgate.toml", TABLE.format(method="renamed"))
    comment = tmp_path / "comment.md"
    one = asked("--base-jars", str(tmp_path / "old"), "--write", f"markdown={comment}")
    assert (one["outcome"], one["twin"], one["error"]) == ("silently_wrong", "ran", None)
    assert one["report"]["counterexample"]["key"]["topic"] == "rehearsed-out"
    text = comment.read_text()
    assert "Twin run" in text and "on Kafka Streams 4." in text


def test_a_file_that_is_no_jar_is_one_sentence(app, tmp_path):
    (tmp_path / "old" / "app.jar").write_text("not a jar")
    one = asked("--base-jars", str(tmp_path / "old"))
    assert "can't be read as a jar" in one["twin"] and one["outcome"] == "unknown"
