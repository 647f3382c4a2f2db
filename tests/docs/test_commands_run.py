"""Each command of the docs is run on a seeded home, or is listed with the reason why not."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import test_documents as docs
from click.testing import CliRunner

from headgate.cli.main import headgate
from headgate.parse.evidence.version_file import fingerprint
from headgate.store import open_store
from headgate.usecases.evidence.read_version import read_version
from support.console_seed import orders_v1, orders_v2, write_checkpoint

CASE = docs.ROOT / "tests" / "cases" / "spark" / "agg_min_to_max"
KAFKA = "needs a broker and a Spark query that reads from Kafka"
SPARK = "starts Spark or imports the code of an example"
PROGRAM = "starts servers"
RUNS = "needs a run or a request, which needs a broker"
# What is only parsed, as the beginning of a command line, and why.
PARSED = {
    "headgate apply ": "needs the plan of an earlier command, whose run needs a broker",
    "headgate approve ": RUNS,
    "headgate cancel ": RUNS,
    "headgate decline ": RUNS,
    "headgate report ": RUNS,
    "headgate requests REQUEST": RUNS,
    "headgate resume ": RUNS,
    "headgate runs --follow ": RUNS,
    "headgate runs RUN": RUNS,
    "headgate undo ": RUNS,
    "headgate plan from-point orders-by-city ": KAFKA,
    "headgate plan chain ": KAFKA,
    "headgate plan online-upgrade orders-by-city ": KAFKA,
    "headgate plan late-batch ": KAFKA,
    "headgate plan historical-range ": KAFKA,
    "headgate plan skip-records ": KAFKA,
    "headgate plan repartition orders-by-city ": KAFKA,
    "headgate plan ab ": KAFKA,
    "headgate plan bounded ": KAFKA,
    "headgate plan incremental ": KAFKA,
    "headgate estimate ": KAFKA,
    "headgate request from-point ": KAFKA,
    "headgate schedules --": "needs a schedule, which needs a broker",
    "headgate plan offline-upgrade ": SPARK,
    "headgate capture ": SPARK,
    ".venv/bin/headgate --config .headgate/demo/headgate.toml capture ": SPARK,
    "headgate diff --before orders-by-city --after sales": SPARK,
    "headgate diff --before orders-by-city@3 --after sales": SPARK,
    "headgate diff --before pipelines/orders.headgate.json --after sales": SPARK,
    "headgate rehearse ": SPARK,
    "headgate compare-output ": SPARK,
    "headgate gate ": "needs a repository of the team; tests/cli has it",
    "headgate check EVIDENCE|PIPELINE ": "shows the syntax",
    "headgate up": PROGRAM,
}
# What test_commands_on_a_broker.py runs.
ON_A_BROKER = (
    "headgate doctor",
    "headgate plan dead-letters ",
    "headgate plan decommission ",
    "headgate plan from-point billing ",
    "headgate plan from-scratch shop ",
    "headgate plan online-upgrade billing ",
    "headgate plan repartition shop ",
    "headgate reset ",
)
# What a command exits with, if not with 0, and what it prints then.
EXPECTED = {
    "headgate diff --before old/ ": (1, "AGG002"),
    "headgate diff --before orders@3 ": (1, "AGG002"),
    "headgate schemas diff --before orders-1.avsc --after orders-2.json": (1, "SCH001"),
    # The restore point is made here, at the newest batch.
    "headgate plan rewind orders-by-city --restore-point ": (3, "is the last batch"),
    "headgate plan repair ": (3, "nothing to repair"),
}
# What stands for a value of the reader's own.
FILLED = {
    "PIPELINE": "orders-by-city",
    "/etc/headgate/": "",
    "--batch 1200": "--batch 1",
    "2026-11-20T10:00:00Z": "2026-11-22T10:00:00Z",
    "20261125-190500-a1b2c3": "{point}",
}
TOML = """\
[[pipeline]]
name = "orders-by-city"
engine = "spark"
checkpoint = "ck/orders-by-city"
[pipeline.commands]
stop = "true"
start = "true"
status = "test -e running || exit 3"
[[pipeline]]
name = "orders"
engine = "spark"
evidence = ["old"]
[topics.orders]
schema = "orders.avsc"
"""
AVRO = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "string"}]}
PROTO = 'syntax = "proto3";\nmessage Order { string id = 1; }\n'
JSON = {"type": "object", "properties": {"id": {"type": "string"}}}


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    """A folder as the guides have it: a registry, stored versions and evidence."""
    folder = tmp_path_factory.mktemp("docs")
    (folder / "headgate.toml").write_text(TOML)
    write_checkpoint(folder / "ck" / "orders-by-city", batches=3)
    newest = folder / "ck" / "orders-by-city" / "offsets" / "2"
    newest.write_text(newest.read_text().replace("1795250729015", "1795423529015"))
    for batch in "012":
        (folder / f"in-{batch}").write_text("{}")
        path = f"file://{folder}/in-{batch}"
        entry = json.dumps({"path": path, "timestamp": 1, "batchId": int(batch)})
        (folder / "ck" / "orders-by-city" / "sources" / "0" / batch).write_text(f"v1\n{entry}")
    (folder / ".headgate").mkdir()
    store = open_store(f"sqlite:///{folder / '.headgate' / 'headgate.db'}")
    for version in (orders_v1(), orders_v2()):
        # As the checkpoint has it: a query without state.
        query = "0d4f3c1e-54a5-4d0e-9c55-2d1f9b1f7a10"
        version = replace(version, query_id=query, stateful=())
        store.versions.add("orders-by-city", version, fingerprint(version))
    old = read_version([str(CASE / "before")])
    for name in "abc":
        store.versions.add("orders", replace(old, name=name), name)
    store.close()
    for name, side in (("old", "before"), ("new", "after"), ("new-version", "after")):
        shutil.copytree(CASE / side, folder / name)
    for name, text in (("avsc", json.dumps(AVRO)), ("proto", PROTO), ("json", json.dumps(JSON))):
        for stem in ("orders-1", "orders-2", "orders", "order", "old", "new"):
            (folder / f"{stem}.{name}").write_text(text)
    return folder


def lines():
    """Return each command line of the docs once, in a fixed order."""
    found = {line for page in docs.PAGES for line in docs.commands(page.read_text("utf-8"))}
    return sorted(line for line in found if "tests/cases/" not in line)


def is_parsed(line: str) -> bool:
    return any(line.startswith(start) for start in PARSED)


def is_run_on_a_broker(line: str) -> bool:
    return line.startswith(ON_A_BROKER)


HERE = [line for line in lines() if not is_parsed(line) and not is_run_on_a_broker(line)]


@pytest.mark.parametrize("line", HERE)
def test_a_command_of_the_docs_runs(home, monkeypatch, line):
    monkeypatch.chdir(home)
    monkeypatch.delenv("HEADGATE_CONFIG", raising=False)
    code, said = next((e for start, e in EXPECTED.items() if line.startswith(start)), (0, ""))
    for shown, value in FILLED.items():
        line = line.replace(shown, value)
    # Only a stopped query is repaired.
    running = home / "running"
    running.unlink(missing_ok=True) if " repair " in line else running.touch()
    if "{point}" in line:
        made = CliRunner().invoke(headgate, ["restore-points", "orders-by-city", "--create"])
        line = line.format(point=re.search(r"\d{8}-\d{6}-\w{6}", made.output)[0])
    ended = CliRunner().invoke(headgate, docs.words(line))
    assert (ended.exit_code, said in ended.output) == (code, True), ended.output


def test_each_reason_is_for_a_command():
    starts = [*PARSED, *ON_A_BROKER, *EXPECTED]
    assert [s for s in starts if not any(line.startswith(s) for line in lines())] == []
