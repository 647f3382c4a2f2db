"""A command imports what it needs: what takes long to import is not in one that doesn't use it."""

import subprocess
import sys
from pathlib import Path

import pytest

from headgate.reprocess.plan import Plan, dump_plan
from headgate.reprocess.steps.offsets.record_offsets import RecordOffsets
from headgate.store import open_store
from support.waiting import PATIENCE

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
# What asks Kafka needs its client; it needs no database, no Java, no rules and no tables.
PLANNING = HEAVY - {"confluent_kafka", "msgspec", "py4j"}
REGISTRY = """
[kafka]
bootstrap_servers = "127.0.0.1:1"

[[pipeline]]
name = "billing"
engine = "consumer-group"
group = "billing"
topics = ["orders"]

[[pipeline]]
name = "clicks"
engine = "spark"
checkpoint = "{checkpoint}"
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
        [sys.executable, "-c", PROGRAM, *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
    modules = set(done.stderr.splitlines()[-1].split())
    assert "headgate" in modules
    assert modules & HEAVY == set()


@pytest.fixture
def team(tmp_path):
    """Two pipelines and a store that knows nothing of them yet; where Kafka should be is nobody."""
    (tmp_path / "headgate.toml").write_text(REGISTRY.format(checkpoint=CHECKPOINT))
    (tmp_path / ".headgate").mkdir()
    open_store(f"sqlite:///{tmp_path}/.headgate/headgate.db").close()
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "codes"),
    [
        (["plan", "from-scratch", "billing"], {4}),
        (["plan", "from-scratch", "clicks"], {0, 3}),
        (["plan", "rewind", "clicks", "--batch", "0"], {0, 3}),
        (["reset", "--application-id", "shop", "--bootstrap-server", "127.0.0.1:1"], {4}),
    ],
    ids=["group", "query", "old state", "reset"],
)
def test_a_plan_waits_for_no_database_and_no_rules(team, arguments, codes):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        cwd=team,
    )
    assert done.returncode in codes, done.stderr
    modules = set(done.stderr.splitlines()[-1].split())
    assert "headgate" in modules
    assert modules & PLANNING == set()


def test_who_applies_a_plan_waits_for_no_database_and_no_rules(team):
    record = RecordOffsets(group="billing")
    plan = Plan(scenario="from-scratch", pipeline="billing", steps=(record,))
    (team / "plan.json").write_text(dump_plan(plan))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "apply", "plan.json"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        cwd=team,
    )
    assert done.returncode == 4, done.stderr
    modules = set(done.stderr.splitlines()[-1].split())
    assert "headgate" in modules
    assert modules & PLANNING == set()


def test_a_list_of_runs_needs_no_database_library(tmp_path):
    config = tmp_path / "headgate.toml"
    config.write_text("")
    open_store(f"sqlite:///{tmp_path / '.headgate' / 'headgate.db'}").close()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "--config", str(config), "runs"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert not (HEAVY - {"msgspec"}) & set(done.stderr.split())
