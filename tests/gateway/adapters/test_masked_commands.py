"""A secret in a shell command is used and never shown."""

from __future__ import annotations

from contextlib import closing

from headgate.gateway.adapters.live import LiveInspector
from headgate.reprocess.ports.processes import Status
from headgate.usecases.context import open_context

REGISTRY = """
[[pipeline]]
name = "billing"
engine = "consumer-group"
group = "billing"
[pipeline.commands]
status = "test --api-key hunter2X9 = --api-key hunter2X9 || [ token=hunter2X9 = token=hunter2X9 ]"
stop = "curl -H 'Authorization: Bearer hunter2X9' http://localhost/stop"
start = "run --conf password=${SECRET}"
"""


def test_a_plan_sees_the_command_without_its_secret_and_the_gateway_runs_it(tmp_path):
    (tmp_path / "headgate.toml").write_text(REGISTRY)
    context = open_context(str(tmp_path / "headgate.toml"))
    commands = context.registry.pipeline("billing").commands
    assert commands.stop == "curl -H 'Authorization: Bearer ********' http://localhost/stop"
    assert commands.start == "run --conf password=${SECRET}"
    assert "hunter2X9" in commands.calls["stop"].command
    with closing(LiveInspector(context.registry, context.home)) as inspector:
        assert inspector.processes.status("billing") is Status.RUNS
