"""`[pipeline.commands]`: its kinds, and the line and reason of everything that is wrong in it."""

import pytest

from headgate.errors import RegistryError
from headgate.model.commands import Ask, HttpCall, WatchControl
from headgate.parse.config.headgate_toml import parse
from headgate.parse.config.json_path import json_path, words_at

HEAD = '[[pipeline]]\nname = "a"\nengine = "consumer-group"\ngroup = "g"\n'
STOP = '[pipeline.commands.stop]\nurl = "https://h/x"\n'
STATUS = '[pipeline.commands.status]\nurl = "https://h/x"\n'
WAIT = STOP + '[pipeline.commands.stop.wait]\npath = "a"\n'


def commands(text):
    (pipeline,) = parse(HEAD + text, path="/team/headgate.toml", source="headgate.toml").pipelines
    return pipeline.commands


def test_the_kinds_stand_beside_each_other():
    found = commands(
        '[pipeline.commands]\nstop = { ask = "Stop it" }\nstart = { ask = "Start it" }\n'
        'status = "./status"\nclean = "./clean"\n[pipeline.commands.notify]\n'
        'url = "https://h/x"\nca = "ca.crt"\nbody = "hello"\n'
    )
    assert (found.status, found.clean) == ("./status", "./clean")
    assert (found.stop, found.start) == ("manual step: Stop it", "manual step: Start it")
    assert found.calls["start"] == Ask(text="Start it")
    notify = found.calls["notify"]
    assert isinstance(notify, HttpCall)
    assert (notify.request.method, notify.request.ca) == ("POST", "/team/ca.crt")
    assert found.notify.startswith("POST https://h/x (hash of the call: ")


SPARK = '[[pipeline]]\nname = "a"\nengine = "spark"\ncheckpoint = "ck"\nwatch = "w"\n'


def test_a_driver_is_asked_through_its_watch():
    text = '[pipeline.commands]\nstop = { watch = true, token = "${TOKEN}" }\n'
    (pipeline,) = parse(SPARK + text, path="/team/headgate.toml").pipelines
    assert pipeline.commands.calls["stop"] == WatchControl(token="${TOKEN}")
    assert pipeline.commands.stop == "headgate.watch (signed stop request)"


WRONG = [
    (
        "[pipeline.commands]\nstop = { watch = true }",
        5,
        "needs the pipeline's `watch` setting: the folder or topic that headgate.watch writes to",
    ),
    ('[pipeline.commands]\nstop = { watch = true, token = "hunter2" }', 6, "is a secret"),
    ('[pipeline.commands.stop]\nmethod = "POST"', 5, "needs `url`"),
    ('[pipeline.commands.stop]\nurl = "ftp://h/x"', 6, "`url` must start with http"),
    ('[pipeline.commands.stop]\nurl = "https://u:hunter2@h/x"', 6, "Put the secret into `headers`"),
    ('[pipeline.commands.stop]\nurl = "https://h/x?token=hunter2"', 6, "Put the secret into"),
    (STOP + 'headers = { Authorization = "Bearer hunter2hunter2" }', 7, "as ${NAME}"),
    (STOP + 'headers = { X-Api-Key = "hunter2" }', 7, "as ${NAME}"),
    (STOP + 'body = { auth = [{ password = "hunter2" }] }', 7, "looks like a secret"),
    (STOP + 'method = "GRAB"', 7, "unknown method 'GRAB'"),
    (STOP + "expect = [20]", 7, "must be a status code"),
    (STOP + "seconds = 0", 7, "must be a number of seconds"),
    (STOP + 'path = "a"', 7, "unknown key 'path'"),
    (STOP + 'answer = "a..b"', 7, "expected a path such as a.b[0].c"),
    (STOP.replace("/x", "/{found}"), 6, "{found} needs a `find` table"),
    (STOP + '[pipeline.commands.stop.find]\nurl = "https://h/x"', 7, "needs `path`"),
    (WAIT + 'url = "https://h/x"', 7, "needs `done`"),
    (WAIT + 'done = ["b"]\nurl = "https://h/{answer}"', 10, "{answer} needs `answer`"),
    (STOP.replace("/x", "/{answer}"), 6, "{answer} needs `answer`"),
    (
        STOP.replace("/x", "/{answer}") + 'answer = "a"',
        7,
        "{answer} is known only after this call: use it only in `wait`",
    ),
    (STATUS + 'runs = ["a"]\nabsent = "stopped"', 5, "needs `path`"),
    (STATUS + 'path = "a"\nruns = ["b"]', 5, "`status` maps no value to `stopped`"),
    (STATUS + 'path = "a"\nruns = ["b"]\nstopped = ["b"]', 9, "'b' is already listed under `runs`"),
    (STATUS + 'path = "a"\nabsent = "gone"', 8, "use one of runs, stopped, paused"),
    (
        STATUS + 'path = "a"\nstopped = ["b"]\ncodes = { 99 = "runs" }',
        9,
        "'99' isn't an HTTP status code",
    ),
    ('[pipeline.commands.start]\nurl = "https://h/x"', 5, "also needs 'status'"),
    ('[pipeline.commands]\nsuspend = "./suspend"', 6, "'suspend' also needs 'reenable'"),
    ('[pipeline.commands]\npause = "./pause"', 6, "'pause' also needs 'resume'"),
    ("[pipeline.commands]\nstart = { watch = true }", 6, "only for the `stop` command"),
    ("[pipeline.commands]\nstop = { watch = false }", 6, "only for the `stop` command"),
    ('[pipeline.commands]\nstatus = { ask = "Look" }', 6, "can't be a manual step"),
    ('[pipeline.commands]\nstop = { ask = "" }', 6, "'ask' is empty"),
    ('[pipeline.commands]\nstop = { ask = "x", url = "y" }', 6, "unknown key 'url'"),
]


@pytest.mark.parametrize(("text", "line", "reason"), WRONG, ids=range(len(WRONG)))
def test_everything_wrong_has_its_line_and_reason_and_shows_no_secret(text, line, reason):
    with pytest.raises(RegistryError) as caught:
        commands(text)
    assert reason in str(caught.value)
    assert str(caught.value).startswith(f"headgate.toml:{line}: ")
    assert "hunter2" not in str(caught.value)


PATHS = [
    ("a.b", {"a": {"b": 1}}, [1]),
    ("a[0]", {"a": [1, 2]}, [1]),
    ("a[-1]", {"a": [1, 2]}, [2]),
    ("a[5]", {"a": [1, 2]}, []),
    ("[*].b", [{"b": 1}, {"c": 2}], [1]),
    ("a[n=x].b", {"a": [{"n": "x", "b": 1}, {"n": "y", "b": 2}]}, [1]),
    ("a[n=2][m=true].b", {"a": [{"n": 2, "m": True, "b": 1}, {"n": 2, "m": False}]}, [1]),
    ("a[n.m=x]", {"a": [{"n": {"m": "x"}}, {"n": 1}]}, [{"n": {"m": "x"}}]),
    ('"a.b".c', {"a.b": {"c": 1}}, [1]),
    ("a.b", [], []),
    ("a.b", None, []),
]


@pytest.mark.parametrize(("path", "value", "found"), PATHS)
def test_paths(path, value, found):
    assert json_path(path)(value) == found


@pytest.mark.parametrize("path", [".a", "a..b", "a[", "a[x]", "a b", "a[=1]", "$"])
def test_what_is_no_path_is_refused(path):
    with pytest.raises(ValueError, match="expected a path"):
        json_path(path)


def test_nothing_is_no_word():
    value = {"a": [None, "", [], {}, 0, False, "x", {"b": 1}]}
    assert words_at("a[*]", value) == ("0", "false", "x", '{"b": 1}')
