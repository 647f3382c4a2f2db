"""A command imports what it needs: what takes long to import is not in one that doesn't use it."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

GOLDEN = Path(__file__).parents[1] / "golden"
PLAN = GOLDEN / "spark/win_sliding_to_tumbling/before/explain.txt"
CHECKPOINT = GOLDEN / "checkpoints/rocksdb/checkpoint"
HEAVY = {
    "alembic", "confluent_kafka", "dbos", "msgspec", "networkx", "numpy", "pandas", "plotly",
    "py4j", "pyarrow", "pyspark", "rich", "sqlalchemy", "streamlit",
}  # fmt: skip
PROGRAM = """
import sys
from headgate.cli.main import headgate
try:
    headgate.main(sys.argv[1:], prog_name="headgate")
finally:
    print(*sorted({m.partition(".")[0] for m in sys.modules}), file=sys.stderr)
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["topology", str(PLAN)],
        ["topology", str(CHECKPOINT)],
        ["topology", str(PLAN), "--format", "json"],
    ],
    ids=["help", "plan", "checkpoint", "json"],
)
def test_nothing_heavy_is_imported(arguments):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
    modules = set(done.stderr.splitlines()[-1].split())
    assert "headgate" in modules
    assert modules & HEAVY == set()
