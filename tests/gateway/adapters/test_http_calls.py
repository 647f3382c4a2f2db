"""Commands as HTTP calls, against a real server: the examples of the docs, and what goes wrong."""

import re
from pathlib import Path
from typing import Any

import pytest
from platforms import TOKEN, served

from headgate.errors import StepError
from headgate.gateway.adapters.live import LiveApplier
from headgate.gateway.adapters.run_context import RunContext
from headgate.parse.config.headgate_toml import parse
from headgate.reprocess.ports.processes import Status

DOCS = Path(__file__).parents[3] / "docs" / "commands.md"
EXAMPLES = dict(re.findall(r"```toml\n# ([\w-]+)\n(.*?)```", DOCS.read_text(), re.DOTALL))
HEAD = '[[pipeline]]\nname = "orders"\nengine = "consumer-group"\ngroup = "g"\n'
SUSPENDED = {"databricks", "airflow"}


@pytest.fixture
def server(monkeypatch):
    for name in ("DATABRICKS_TOKEN", "AIRFLOW_TOKEN", "TOKEN"):
        monkeypatch.setenv(name, TOKEN)
    with served() as found:
        yield found


@pytest.fixture
def effects_of(tmp_path, server):
    """Makes the effects of a run over a registry's text; its notes are in `notes`."""
    (tmp_path / "token").write_text(TOKEN + "\n")

    def make(text):
        text = re.sub(r"https?://[A-Z]+(?=/)", f"http://{server[0]}", text)
        registry = parse(HEAD + text, path=str(tmp_path / "headgate.toml"))
        notes = []
        made: Any = LiveApplier(
            RunContext(
                registry=registry,
                home=tmp_path / ".headgate",
                run="r1",
                note=notes.append,
            )
        )
        made.notes = notes
        return made

    return make


def test_the_docs_have_an_example_of_each_service():
    assert EXAMPLES.keys() == {"databricks", "kubernetes", "airflow", "livy", "spark-submit"}


@pytest.mark.parametrize("service", EXAMPLES)
def test_the_examples_of_the_docs_stop_ask_and_start(service, server, effects_of):
    _, jobs = server
    applier = effects_of(EXAMPLES[service])
    assert applier.processes.status("orders") is Status.RUNS
    if service in SUSPENDED:
        applier.processes.command("orders", "suspend")
        assert jobs.suspended
    applier.processes.command("orders", "stop")
    assert not jobs.runs
    assert applier.processes.status("orders") is Status.STOPPED
    applier.processes.command("orders", "stop")  # once more, as after a crash: no harm
    if service in SUSPENDED:
        applier.processes.command("orders", "reenable")
        assert not jobs.suspended
    applier.processes.command("orders", "start")
    assert (jobs.runs, jobs.starts) == (True, 1)
    assert applier.processes.status("orders") is Status.RUNS
    assert TOKEN not in " ".join(applier.notes)
    assert not any(TOKEN in p.read_text() for p in applier.context.home.rglob("*") if p.is_file())


@pytest.mark.parametrize("service", EXAMPLES)
def test_no_plan_can_show_a_secret_of_the_examples(service, effects_of):
    commands = effects_of(EXAMPLES[service]).processes.registered("orders").commands
    assert TOKEN not in repr(commands)


def test_another_body_is_another_command(effects_of):
    shown = [
        effects_of(f'[pipeline.commands.stop]\nurl = "http://H/x"\nbody = {{ replicas = {n} }}\n')
        .processes.registered("orders")
        .commands.stop
        for n in (0, 1)
    ]
    assert shown[0] != shown[1]


STATUS = '[pipeline.commands.status]\nurl = "http://H/json/"\n'
WORDS = [
    # what the server answers            what the table says                        what it means
    (b'{"s": "up"}', 'path = "s"\nruns = ["up"]\nstopped = ["down"]', Status.RUNS),
    (b'{"s": "down"}', 'path = "s"\nruns = ["up"]\nstopped = ["down"]', Status.STOPPED),
    (b'{"s": "held"}', 'path = "s"\npaused = ["held"]\nstopped = ["down"]', Status.PAUSED),
    (b'{"s": "odd"}', 'path = "s"\nruns = ["up"]\nstopped = ["down"]', Status.UNKNOWN),
    (b'{"s": ""}', 'path = "s"\nruns = ["up"]\nstopped = ["down"]', Status.UNKNOWN),
    (b"{}", 'path = "s"\nruns = ["up"]\nabsent = "stopped"', Status.STOPPED),
    (b'{"s": []}', 'path = "s"\nruns = ["*"]\nabsent = "stopped"', Status.STOPPED),
    (b'{"s": 0}', 'path = "s"\nruns = ["*"]\nstopped = ["0"]', Status.STOPPED),
    (b'{"s": 2}', 'path = "s"\nruns = ["*"]\nstopped = ["0"]', Status.RUNS),
    (b'{"s": ["down", "up"]}', 'path = "s[*]"\nruns = ["up"]\nstopped = ["down"]', Status.RUNS),
    (b'{"s": ["down", "odd"]}', 'path = "s[*]"\nruns = ["up"]\nstopped = ["down"]', Status.UNKNOWN),
    (b"<html>log in</html>", 'path = "s"\nruns = ["up"]\nabsent = "stopped"', Status.UNKNOWN),
    (b"", 'path = "s"\nruns = ["up"]\nabsent = "stopped"', Status.UNKNOWN),
]


@pytest.mark.parametrize(("answer", "table", "meaning"), WORDS)
def test_what_a_status_means(answer, table, meaning, server, effects_of):
    server[1].answers["/json/"] = 200, answer
    assert effects_of(STATUS + table).processes.status("orders") is meaning


@pytest.mark.parametrize("code", [302, 401, 404, 500, 503])
def test_a_status_that_fails_is_unknown_unless_its_code_is_declared(code, server, effects_of):
    server[1].answers["/json/"] = code, b"{}"
    table = 'path = "s"\nabsent = "stopped"\n'
    assert effects_of(STATUS + table).processes.status("orders") is Status.UNKNOWN
    table += 'codes = { 404 = "stopped", 302 = "runs" }\n'
    wanted = {404: Status.STOPPED, 302: Status.RUNS}.get(code, Status.UNKNOWN)
    assert effects_of(STATUS + table).processes.status("orders") is wanted


FAILS = [
    (500, b"boom", "", "returned HTTP status 500: boom"),
    (302, b"", "", "returned HTTP status 302"),
    (
        403,
        b'{"token": "%s"}' % TOKEN.encode(),
        "",
        'returned HTTP status 403: {"token": "********"}',
    ),
    (200, b"{}", 'answer = "id"\n', "expected one value at id in the response, found nothing"),
    (200, b'{"id": [1, 2]}', 'answer = "id[*]"\n', "found 2 values"),
]


@pytest.mark.parametrize(("code", "said", "more", "reason"), FAILS)
def test_a_call_that_fails_says_why_without_the_secret(
    code, said, more, reason, server, effects_of
):
    server[1].answers["/json/"] = code, said
    applier = effects_of(
        '[pipeline.commands.stop]\nurl = "http://H/json/"\nheaders = { X = "${TOKEN}" }\n' + more
    )
    with pytest.raises(StepError) as caught:
        applier.processes.command("orders", "stop")
    assert reason in str(caught.value)
    assert TOKEN not in str(caught.value)
    assert "the stop HTTP call of orders failed" in str(caught.value)


def test_a_variable_or_a_file_that_is_not_there_is_named(effects_of):
    stop = '[pipeline.commands.stop]\nurl = "http://H/x"\nheaders = {{ X = "${{{}}}" }}\n'
    for name, reason in (("NOPE", "variable NOPE is not set"), ("file:gone", "gone can't be read")):
        with pytest.raises(StepError, match=reason):
            effects_of(stop.format(name)).processes.command("orders", "stop")


def test_nothing_listens(effects_of):
    applier = effects_of('[pipeline.commands.stop]\nurl = "http://127.0.0.1:9/x"')
    with pytest.raises(StepError, match="no server listens on this port"):
        applier.processes.command("orders", "stop")


def test_a_wait_ends_when_it_fails_or_takes_too_long(server, effects_of):
    wait = (
        '[pipeline.commands.stop]\nurl = "http://H/json/"\n[pipeline.commands.stop.wait]\n'
        'url = "http://H/json/"\npath = "s"\ndone = ["down"]\nfailed = ["broken"]\nwithin = 4\n'
    )
    server[1].answers["/json/"] = 200, b'{"s": "broken"}'
    with pytest.raises(StepError, match="reported failure: broken"):
        effects_of(wait).processes.command("orders", "stop")
    server[1].answers["/json/"] = 200, b'{"s": "up"}'
    with pytest.raises(StepError, match="still reported up after 4 s"):
        effects_of(wait).processes.command("orders", "stop")
    server[1].answers["/json/"] = 200, b'{"s": "down"}'
    effects_of(wait).processes.command("orders", "stop")


def test_a_message_stays_one_json_value(server, effects_of):
    applier = effects_of(
        '[pipeline.commands.notify]\nurl = "http://H/json/"\n'
        'body = { text = "${HEADGATE_PIPELINE}: ${HEADGATE_MESSAGE}" }\n'
    )
    applier.processes.command("orders", "notify", 'it "stops"\nnow')
    assert server[1].calls[-1][2] == '{"text": "orders: it \\"stops\\"\\nnow"}'


def test_a_shell_command_finds_the_message(tmp_path, effects_of):
    applier = effects_of('[pipeline.commands]\nnotify = "echo $HEADGATE_MESSAGE > told"\n')
    applier.processes.command("orders", "notify", "paused")
    assert (tmp_path / "told").read_text() == "paused\n"


def test_a_start_finds_the_topic_that_it_writes_to_and_else_nothing(tmp_path, server, effects_of):
    applier = effects_of(
        '[pipeline.commands]\nstart = "echo ${HEADGATE_OUTPUT_TOPIC:-own} > told"\n'
    )
    applier.processes.command("orders", "start", output="bills-shadow")
    assert (tmp_path / "told").read_text() == "bills-shadow\n"
    applier.processes.command("orders", "start")
    assert (tmp_path / "told").read_text() == "own\n"
    applier = effects_of(
        '[pipeline.commands]\nstatus = "exit 3"\n'
        '[pipeline.commands.start]\nurl = "http://H/json/"\nbody = "${HEADGATE_OUTPUT_TOPIC}"\n'
    )
    applier.processes.command("orders", "start", output="bills-shadow")
    assert server[1].calls[-1][2] == "bills-shadow"


def test_a_person_is_told_the_topic(effects_of):
    asked = []
    text = "start it, writing to ${HEADGATE_OUTPUT_TOPIC}"
    applier = effects_of(f'[pipeline.commands]\nstart = {{ ask = "{text}" }}\n')
    applier.context.ask = lambda word, request: asked.append((word, request)) or "ann"
    applier.processes.command("orders", "start", output="bills-shadow")
    assert asked == [("start", "start it, writing to bills-shadow")]
