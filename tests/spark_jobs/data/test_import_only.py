"""A program that only imports the function says what is wrong with it, without Spark."""

import json
import subprocess
import sys

import pytest

from support.waiting import PATIENCE


@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("own_queries:query", None),
        ("nomodule:query", "module nomodule can't be imported from "),
        ("own_queries:other", "module own_queries has no function other"),
        ("own_queries:LIMIT", "module own_queries has no function LIMIT"),
        ("raises:query", "KeyError: 'TOPIC'"),
    ],
)
def test_a_function_is_imported_before_a_run(tmp_path, function, said):
    (tmp_path / "own_queries.py").write_text("LIMIT = 1\ndef query(spark): ...\n")
    (tmp_path / "raises.py").write_text("import os\nTOPIC = os.environ['TOPIC']\n")
    program = [sys.executable, "-m", "headgate.spark_jobs.data.measure_times"]
    given = ["--entry-point", function, "--offsets", "{}", "--import-only"]
    done = subprocess.run(
        [*program, *given],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    found = json.loads(done.stdout)
    assert (found["outcome"] == "done") is (said is None)
    if said is None:
        assert list(found["facts"]["code"]) == [str(tmp_path / "own_queries.py")]
    else:
        assert said in found["error"]
