"""The timeout of captures: of each function, and only the one that hangs is named."""

import pytest

from headgate.gateway.spark import capture
from headgate.gateway.spark.run_job import Checkout

pytestmark = pytest.mark.slow

PROGRAM = """
import json, pathlib, sys, time
for one in json.loads(pathlib.Path(sys.argv[1]).read_text())["captures"]:
    time.sleep(60 if one["entry_point"] == "jobs.endless:build" else 0.5)
    folder = pathlib.Path(one["into"], ".scratch")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "outcome.json").write_text('{"error": null}')
"""


def test_each_function_has_its_own_time(tmp_path, monkeypatch):
    (tmp_path / "slow_program.py").write_text(PROGRAM)
    monkeypatch.setattr(capture, "_PROGRAM", "slow_program")
    names = ["a", "b", "c", "endless", "d", "e"]
    requests = [
        capture.CaptureRequest(f"jobs.{name}:build", tmp_path / name, None) for name in names
    ]
    errors = capture.capture_queries(requests, Checkout((tmp_path,)), timeout_s=1.2, start_s=10)
    found = {name: str(error) for name, error in zip(names, errors, strict=True) if error}
    assert list(found) == ["endless"]
    assert found["endless"].startswith(
        "the capture of jobs.endless:build did not end within 1.2 s, so Headgate ended the process."
    )
