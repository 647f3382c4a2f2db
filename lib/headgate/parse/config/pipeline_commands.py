"""Read `[pipeline.commands]`: shell commands as strings, all other kinds as tables."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import PurePath
from typing import Any, Final
from urllib.parse import urlsplit

from headgate.model.commands import (
    Ask,
    Call,
    Find,
    HttpCall,
    Reading,
    Request,
    Shell,
    Wait,
    WatchControl,
)
from headgate.model.registered_pipelines import Commands
from headgate.parse.config.json_path import json_path
from headgate.parse.config.keys import names
from headgate.parse.config.toml_table import Table
from headgate.text.secrets import is_secret, mask_text

WORDS: Final = names("[pipeline.commands]")
MEANINGS: Final = ("runs", "stopped", "paused")
_METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE")
_VARIABLE = re.compile(r"\$\{[^}]+\}")
_BLANK = re.compile(r"\{(found|answer)\}")
# Headers that only ever carry secrets, whatever their value looks like.
_CARRIERS = frozenset({"authorization", "cookie", "proxy-authorization"})
_LONGEST = 3600.0


def read_commands(table: Table, folder: PurePath) -> Commands:
    """Return the commands of a pipeline; `folder` is what relative files are taken from."""
    commands = table.table("commands", "[pipeline.commands]").allow(*WORDS)
    calls = {
        word: _call(commands.table(word, f"[pipeline.commands.{word}]"), word, folder)
        for word in WORDS
        if isinstance(commands.data.get(word), dict)
    }
    shell = {word: commands.text(word) for word in WORDS if word not in calls}
    for word, command in shell.items():
        if command and (masked := mask_text(command)) != command:
            shell[word] = masked
            calls[word] = Shell(command=command, shown=masked)
    shown = {word: call.shown for word, call in calls.items()}
    found = Commands(**{**shell, **shown}, calls=calls)
    _pairs(commands, found)
    return found


def _pairs(table: Table, found: Commands) -> None:
    """Fail for a command that can't be reversed, or whose effect can't be checked after a crash."""
    for word, back in (("suspend", "reenable"), ("pause", "resume"), ("deploy", "rollback")):
        if getattr(found, word) and not getattr(found, back):
            table.fail(word, f"{word!r} also needs {back!r}, the command that reverses {word!r}")
    if isinstance(found.calls.get("start"), HttpCall) and found.status is None:
        why = "after a crash, only 'status' shows whether the call was made"
        table.fail("start", f"'start' as an HTTP call also needs 'status': {why}")


def _call(table: Table, word: str, folder: PurePath) -> Call:
    if "ask" in table.data:
        return _ask(table, word)
    if "watch" in table.data:
        return _control(table, word)
    return _http(table, word, folder)


def _ask(table: Table, word: str) -> Ask:
    if word in ("status", "notify"):
        table.fail("ask", f"{word!r} can't be a manual step: write a command or an HTTP call")
    text = table.allow("ask").text("ask")
    assert text is not None
    return Ask(text=text)


def _control(table: Table, word: str) -> WatchControl:
    if word != "stop" or table.allow("watch", "token").data["watch"] is not True:
        table.fail(
            "watch",
            "`watch` is only for the `stop` command: write `stop = { watch = true }`",
        )
    token = table.text("token")
    if token is not None and not _VARIABLE.fullmatch(token):
        table.fail(
            "token", "`token` is a secret: write ${NAME} (an environment variable) or ${file:PATH}"
        )
    return WatchControl(token=token)


def _http(table: Table, word: str, folder: PurePath) -> HttpCall:
    if word == "status":
        table.allow(*names("[pipeline.commands.status]"))
        reading, usual = _reading(table), "GET"
    else:
        table.allow(*names("[pipeline.commands.NAME]"))
        reading, usual = None, "POST"
    call = HttpCall(
        request=_request(table, folder, usual),
        find=_find(table, folder),
        answer=_path(table, "answer"),
        wait=_wait(table, folder),
        reading=reading,
    )
    _blanks(table, call)
    return call


def _blanks(table: Table, call: HttpCall) -> None:
    """Refuse `{found}` and `{answer}` where nothing fills them in."""
    known = {"found"} if call.find else set()
    if call.answer and "answer" in _BLANK.findall(f"{call.request.url} {call.request.body or ''}"):
        table.fail("answer", "{answer} is known only after this call: use it only in `wait`")
    _only(table, call.request, known)
    if call.wait:
        known = known | ({"answer"} if call.answer else set())
        _only(table.table("wait", ""), call.wait.request, known)


def _only(table: Table, request: Request, known: set[str]) -> None:
    for name in _BLANK.findall(f"{request.url} {request.body or ''}"):
        if name not in known:
            key = "url" if f"{{{name}}}" in request.url else "body"
            source = "a `find` table" if name == "found" else "`answer` (a path in the response)"
            table.fail(key, f"{{{name}}} needs {source} in the command")


def _request(table: Table, folder: PurePath, usual: str) -> Request:
    method = table.choice("method", _METHODS) if "method" in table.data else usual
    ca = table.text("ca")
    request = Request(
        url=_url(table),
        method=method,
        headers=_headers(table),
        body=_body(table),
        is_json=isinstance(table.data.get("body"), dict),
        ca=str(folder / ca) if ca else None,
        seconds=_number(table, "seconds", 30.0),
    )
    expect = _codes(table)
    return replace(request, expect=expect) if expect else request


def _url(table: Table) -> str:
    url = table.text("url")
    if url is None:
        table.fail("url", f"{table.title} needs `url`, the address to call")
    parts = urlsplit(_VARIABLE.sub("x", url))
    if parts.scheme not in ("http", "https") or not parts.hostname:
        table.fail("url", "`url` must start with http:// or https://")
    if parts.username is not None or mask_text(_VARIABLE.sub("", url)) != _VARIABLE.sub("", url):
        table.fail(
            "url",
            (
                "`url` contains a secret, but plans show the URL. Put the secret into `headers` "
                "as ${NAME}"
            ),
        )
    return url


def _headers(table: Table) -> tuple[tuple[str, str], ...]:
    headers = table.table("headers", "names and values of HTTP headers")
    found = []
    for name in sorted(headers.data):
        value = headers.text(name)
        assert value is not None
        bare = name.replace("-", "")
        secret = name.lower() in _CARRIERS or is_secret(bare) or mask_text(value) != value
        if secret and not _VARIABLE.search(value):
            reason = "write the secret as ${NAME} (an environment variable) or ${file:PATH}"
            headers.fail(name, f"header {name!r} carries a secret: {reason}")
        found.append((name, value))
    return tuple(found)


def _body(table: Table) -> str | None:
    body = table.data.get("body")
    if not isinstance(body, dict):
        return table.text("body")
    _no_secrets(table, body)
    return json.dumps(body)


def _no_secrets(table: Table, body: Any) -> None:
    for key, value in body.items() if isinstance(body, dict) else ():
        if isinstance(value, str) and is_secret(key) and not _VARIABLE.search(value):
            table.fail(
                "body",
                f"{key!r} in `body` looks like a secret: instead of the value, write ${{NAME}} (an "
                "environment variable)",
            )
        for inner in value if isinstance(value, list) else [value]:
            _no_secrets(table, inner)


def _codes(table: Table) -> tuple[int, ...]:
    codes = table.data.get("expect", [])
    codes = codes if isinstance(codes, list) else [codes]
    if not all(type(c) is int and 100 <= c <= 599 for c in codes):
        table.fail(
            "expect", "`expect` must be a status code such as 200, or an array of status codes"
        )
    return tuple(codes)


def _number(table: Table, key: str, usual: float) -> float:
    value = table.data.get(key, usual)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= _LONGEST:
        table.fail(key, f"{key!r} must be a number of seconds, more than 0 and at most 3600")
    return float(value)


def _path(table: Table, key: str) -> str | None:
    path = table.text(key)
    if path is None:
        return None
    try:
        json_path(path)
    except ValueError as error:
        table.fail(key, str(error))
    return path


def _needed_path(table: Table) -> str:
    path = _path(table, "path")
    if path is None:
        table.fail(
            "path", f"{table.title} needs `path`: the path of the value in the JSON response"
        )
    return path


def _find(table: Table, folder: PurePath) -> Find | None:
    if "find" not in table.data:
        return None
    found = table.table("find", "`find`").allow(*names("[pipeline.commands.NAME.find]"))
    return Find(request=_request(found, folder, "GET"), path=_needed_path(found))


def _wait(table: Table, folder: PurePath) -> Wait | None:
    if "wait" not in table.data:
        return None
    found = table.table("wait", "`wait`").allow(*names("[pipeline.commands.NAME.wait]"))
    done = found.texts("done")
    if not done:
        found.fail("done", "`wait` needs `done`: the values at `path` that mean success")
    return Wait(
        request=_request(found, folder, "GET"),
        path=_needed_path(found),
        done=done,
        failed=found.texts("failed"),
        every=_number(found, "every", 2.0),
        within=_number(found, "within", 300.0),
    )


def _reading(table: Table) -> Reading:
    lists = {word: table.texts(word) for word in MEANINGS}
    absent = table.choice("absent", MEANINGS) if "absent" in table.data else None
    if "stopped" not in (absent, *_meant(table)) and not lists["stopped"]:
        table.fail(
            "stopped", "`status` maps no value to `stopped`: list the values that mean stopped"
        )
    _distinct(table, lists)
    return Reading(path=_needed_path(table), **lists, absent=absent, codes=_code_words(table))


def _distinct(table: Table, lists: dict[str, tuple[str, ...]]) -> None:
    seen: dict[str, str] = {}
    for meaning, words in lists.items():
        for word in words:
            if word in seen:
                table.fail(
                    meaning,
                    f"{word!r} is already listed under `{seen[word]}`: list each value once",
                )
            seen[word] = meaning


def _meant(table: Table) -> tuple[str, ...]:
    return tuple(meaning for _, meaning in _code_words(table))


def _code_words(table: Table) -> tuple[tuple[int, str], ...]:
    codes = table.table("codes", 'for example { 404 = "stopped" }')
    found = []
    for code in sorted(codes.data):
        if not re.fullmatch(r"[1-5]\d\d", code):
            codes.fail(code, f"{code!r} isn't an HTTP status code")
        found.append((int(code), codes.choice(code, MEANINGS)))
    return tuple(found)
