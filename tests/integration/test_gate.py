"""`headgate gate` on real Spark: captures, twin runs, baselines, and packages of the base."""

import json
import zipfile

import pytest
from click.testing import CliRunner

from headgate.cli.main import headgate
from support.git_clone import clone

pytestmark = pytest.mark.spark
__all__ = ["clone"]

ROWS = """
from pyspark.sql import functions as F

def rows(spark):
    return spark.readStream.schema("k string, v int, w int").json("/data/rows")

def sums(spark, a, b):
    found = rows(spark).groupBy("k").agg(F.sum(a).alias("a"), F.sum(b).alias("b"))
    return found.writeStream.outputMode("update").format("console")
"""
SUMS = "from jobs.shared import sums\n\ndef build(spark):\n    return sums(spark, 'v', 'w')\n"
FILTER = (
    "from jobs.shared import rows\n\ndef build(spark):\n    return rows(spark).where('v > 1')\n"
)


def run(*arguments):
    result = CliRunner().invoke(headgate, ["gate", "--base", "main", *arguments])
    assert result.stdout, result.stderr
    return result


def asked(*arguments):
    found = json.loads(run("--format", "json", *arguments).stdout)
    return {p["pipeline"]: p for p in found["pipelines"]}, found


@pytest.fixture
def jobs(clone):
    clone.file("jobs/__init__.py", "")
    clone.file("jobs/shared.py", ROWS)
    for name in ("swapped", "same", "broken"):
        clone.file(f"jobs/{name}.py", SUMS)
    for name in ("filtered", "quiet"):
        clone.file(f"jobs/{name}.py", FILTER)
    names = ("swapped", "same", "broken", "filtered", "quiet")
    clone.register(**{name: f"jobs.{name}:build" for name in names})
    clone.commit()
    clone.git("checkout", "-q", "-b", "work")
    return clone


def test_a_change_of_several_pipelines(jobs, monkeypatch):
    monkeypatch.setenv("SOME_TOKEN", "x")
    jobs.file("jobs/swapped.py", SUMS.replace("'v', 'w'", "'w', 'v'"))
    jobs.file("jobs/same.py", f"# a comment\n{SUMS}")
    jobs.file("jobs/broken.py", "import os\n\ndef build(spark):\n    os.environ['SOME_TOKEN']\n")
    jobs.file("jobs/filtered.py", FILTER.replace("> 1", "> 2"))
    found, whole = asked()
    outcomes = {name: one["outcome"] for name, one in found.items()}
    assert outcomes == {
        "swapped": "silently_wrong",
        "broken": "unknown",
        "filtered": "resumes",
        "same": "resumes",
        "quiet": "resumes",
    }
    assert list(found) == ["swapped", "broken", "filtered", "same", "quiet"]
    swapped = found["swapped"]
    assert swapped["twin"] == "ran" and swapped["report"]["counterexample"]["key"]
    assert swapped["command"] == "headgate plan from-scratch swapped"
    assert found["same"]["twin"] is found["filtered"]["twin"] is None
    assert found["same"]["reason"].startswith("Both versions are the same")
    # No credential gets to the code of either version.
    assert "KeyError: 'SOME_TOKEN'" in found["broken"]["error"]
    assert found["broken"]["report"] is None and not found["quiet"]["changed"]
    assert whole["outcome"] == "silently_wrong"


@pytest.fixture
def baseline(jobs):
    """The clone, whose base has a baseline of its own code."""
    captured = CliRunner().invoke(
        headgate, ["capture", "jobs.swapped:build", "-o", "swapped.headgate.json"]
    )
    assert captured.exit_code == 0, captured.stderr
    jobs.git("checkout", "-q", "main")
    jobs.commit()
    return jobs


@pytest.mark.long
def test_a_baseline_of_the_bases_code_gets_a_twin_run(baseline):
    baseline.git("checkout", "-q", "-B", "work")
    baseline.file("jobs/swapped.py", SUMS.replace("'v', 'w'", "'w', 'v'"))
    (one,) = [p for p in asked()[0].values() if p["changed"]]
    assert (one["compared_with"], one["twin"]) == ("baseline", "ran")
    assert one["outcome"] == "silently_wrong"


def test_a_baseline_of_other_code_gets_no_twin_run(baseline):
    jobs = baseline
    # Another version was merged since the baseline was captured.
    jobs.file("jobs/swapped.py", SUMS.replace("'v', 'w'", "'v', 'v'"))
    jobs.commit()
    jobs.git("checkout", "-q", "-B", "work")
    jobs.file("jobs/swapped.py", SUMS.replace("'v', 'w'", "'w', 'v'"))
    (one,) = [p for p in asked()[0].values() if p["changed"]]
    assert one["compared_with"] == "baseline"
    said = "may have different code, because the version was captured from commit"
    assert said in one["twin"]


def wheel(path, limit):
    """Write a package with one constant, as a wheel that pip installs without a network."""
    info = "limits-1.dist-info"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("limits.py", f"LIMIT = {limit}\n")
        made.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: limits\nVersion: 1\n")
        made.writestr(
            f"{info}/WHEEL",
            "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        made.writestr(f"{info}/RECORD", f"limits.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n")


@pytest.fixture
def own_packages(jobs, tmp_path, monkeypatch):
    """The base needs a package that the work no longer needs."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    jobs.git("checkout", "-q", "main")
    jobs.register(filtered="jobs.filtered:build")
    wheel(jobs.folder / "limits-1-py3-none-any.whl", 41)
    jobs.file("requirements.txt", "./limits-1-py3-none-any.whl\n")
    code = FILTER.replace("def build", "import limits\n\ndef build")
    jobs.file("jobs/filtered.py", code.replace("'v > 1'", "f'v > {limits.LIMIT}'"))
    jobs.commit()
    jobs.git("checkout", "-q", "-B", "work")
    jobs.file("requirements.txt", "")
    jobs.file("jobs/filtered.py", FILTER)
    return jobs


OWN = (
    "requirements.txt changed, so Headgate ran the base's code in a separate Python environment "
    "({})."
)


def test_the_base_has_its_own_packages(own_packages):
    found, whole = asked("--twin", "never")
    assert found["filtered"]["error"] is None
    assert any("41" in c["what"] for c in found["filtered"]["report"]["changes"])
    assert whole["warnings"] == [OWN.format("created")]


@pytest.mark.long
def test_packages_of_the_base_are_reused_and_what_is_not_there_is_named(own_packages):
    jobs = own_packages
    assert asked("--twin", "never")[1]["warnings"] == [OWN.format("created")]
    assert asked("--twin", "never")[1]["warnings"] == [OWN.format("reused")]
    # What can't be installed makes the pipeline unknown, with pip's reason.
    jobs.git("checkout", "-q", "main", "--force")
    jobs.file("requirements.txt", "./nothing-1-py3-none-any.whl\n")
    jobs.commit()
    jobs.git("checkout", "-q", "-B", "work")
    jobs.file("requirements.txt", "")
    jobs.file("jobs/filtered.py", FILTER)
    one = asked("--twin", "never")[0]["filtered"]
    assert one["outcome"] == "unknown"
    assert "pip install -r requirements.txt failed" in one["error"]


def test_the_base_never_imports_from_the_working_tree(jobs, monkeypatch):
    """An editable installation that Python finds last stands for all ways that lead here."""
    finder = (
        "import sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        from importlib.util import spec_from_file_location as made\n"
        "        if name == 'other':\n"
        f"            return made(name, {str(jobs.folder / 'src/other.py')!r})\n"
        "sys.meta_path.append(Finder())\n"
    )
    jobs.file("src/other.py", "LIMIT = 1\n")
    jobs.file("jobs/filtered.py", f"{finder}import other\n{FILTER}")
    jobs.commit()
    jobs.git("branch", "-f", "main")
    jobs.file("src/other.py", "LIMIT = 2\n")
    one = asked("--twin", "never")[0]["filtered"]
    assert one["outcome"] == "unknown"
    assert "the old version imports other from the working tree" in one["error"]
