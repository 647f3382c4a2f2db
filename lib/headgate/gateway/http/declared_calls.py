"""Make the HTTP calls that `headgate.toml` declares; secrets are filled in and kept nowhere."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import requests
from requests.exceptions import RequestException

from headgate.errors import StepError
from headgate.gateway.http.client import LOOPBACK, why
from headgate.gateway.http.secret_values import named_value
from headgate.model.commands import HttpCall, Reading, Request
from headgate.parse.config.json_path import words_at
from headgate.reprocess.ports.processes import Status
from headgate.text.secrets import MASK, mask_text

_FIELD = re.compile(r"\$\{(?P<variable>[^}]+)\}|\{(?P<blank>found|answer)\}")
_LARGEST = 16 << 20
_SAID = 200
# A secret shorter than this would mask ordinary words.
_SHORTEST = 6
_CONNECT = 6.0


class HttpCalls:
    """Calls with the values of this process's environment and of `given`, which come first."""

    def __init__(self, given: Mapping[str, str], folder: Path) -> None:
        self._given = given
        self._folder = folder
        self._secrets: set[str] = set()

    def perform(self, call: HttpCall, pause: Callable[[float], None]) -> str:
        """Make the call and wait as it says; return what was found or waited for, in words.

        StepError where it does not work; no message holds a value that was filled in.
        """
        blanks: dict[str, str] = {}
        if call.find is not None:
            found = self._words(call.find.request, call.find.path, blanks)
            if not found:
                return (
                    f"HTTP call skipped: {call.find.request.url} returned no value at "
                    f"{call.find.path}"
                )
            blanks["found"] = self._only(found, call.find.path)
        answered = self._asked(call.request, blanks)[1]
        if call.answer is not None:
            blanks["answer"] = self._only(words_at(call.answer, answered), call.answer)
        return self._wait(call, blanks, pause) if call.wait is not None else ""

    def status(self, call: HttpCall) -> Status:
        """Return what the call says, UNKNOWN where it does not work or says nothing that is known.

        Of several words all must say `stopped`; one that runs is enough.
        """
        assert call.reading is not None
        blanks: dict[str, str] = {}
        try:
            if call.find is not None:
                found = self._words(call.find.request, call.find.path, blanks)
                if not found:
                    return _meaning(call.reading.absent)
                blanks["found"] = self._only(found, call.find.path)
            codes = dict(call.reading.codes)
            code, answer = self._asked(call.request, blanks, also=frozenset(codes))
        except StepError:
            return Status.UNKNOWN
        return _meaning(codes[code]) if code in codes else read_status(call.reading, answer)

    def _wait(
        self, call: HttpCall, blanks: Mapping[str, str], pause: Callable[[float], None]
    ) -> str:
        wait, waited = call.wait, 0.0
        assert wait is not None
        while True:
            words = self._words(wait.request, wait.path, blanks)
            if failed := set(words) & set(wait.failed):
                raise StepError(
                    f"{wait.request.url} reported failure: {self._masked(', '.join(failed))}"
                )
            if words and set(words) <= set(wait.done):
                return self._masked(", ".join(words))
            if waited >= wait.within:
                last = self._masked(", ".join(words)) or "no value"
                raise StepError(
                    f"{wait.request.url} still reported {last} after {waited:.0f} s (expected "
                    f"{' or '.join(wait.done)}). Check the service, or increase `within` of this "
                    "call in headgate.toml"
                )
            pause(wait.every)
            waited += wait.every

    def _words(self, request: Request, path: str, blanks: Mapping[str, str]) -> tuple[str, ...]:
        return words_at(path, self._asked(request, blanks)[1])

    def _only(self, words: tuple[str, ...], path: str) -> str:
        if len(words) != 1:
            count = f"{len(words)} values" if words else "nothing"
            raise StepError(
                f"expected one value at {path} in the response, found {count}. Correct this call "
                "in headgate.toml"
            )
        return words[0]

    def _asked(
        self,
        request: Request,
        blanks: Mapping[str, str],
        also: frozenset[int] = frozenset(),
    ) -> tuple[int, Any]:
        """Return the status code and the JSON of the answer; None if it isn't JSON."""
        body = self._filled(request.body, blanks, request.is_json) if request.body else None
        headers = {name: self._filled(value, {}).strip() for name, value in request.headers}
        if request.is_json and not any(name.lower() == "content-type" for name in headers):
            headers["Content-Type"] = "application/json"
        code, data = self._sent(request, self._filled_url(request.url, blanks), headers, body)
        if code not in also and code not in request.expect:
            said = self._masked(" ".join(data.decode(errors="replace").split()))[:_SAID]
            raise StepError(
                f"{request.method} {request.url} returned HTTP status {code}{said and ': '}{said}"
            )
        try:
            return code, json.loads(data)
        except (ValueError, RecursionError):
            return code, None

    def _sent(
        self, request: Request, url: str, headers: Mapping[str, str], body: str | None
    ) -> tuple[int, bytes]:
        with requests.Session() as session:
            # A proxy would not reach this machine; a .netrc must not add what nobody declared.
            session.trust_env = not LOOPBACK.match(urlsplit(url).hostname or "")
            session.auth = _no_auth
            try:
                with session.request(
                    request.method,
                    url,
                    headers={"User-Agent": "headgate", **headers},
                    data=None if body is None else body.encode(),
                    timeout=(_CONNECT, request.seconds),
                    verify=request.ca or True,
                    # A redirect leads to a log-in, or takes the token elsewhere.
                    allow_redirects=False,
                    stream=True,
                ) as answer:
                    return answer.status_code, answer.raw.read(_LARGEST, decode_content=True)
            except RequestException as error:
                raise StepError(f"{request.url} {self._masked(why(error))}") from None
            except (OSError, ValueError) as error:
                reason = self._masked(str(error))
                raise StepError(f"{request.method} {request.url} failed: {reason}") from None

    def _filled_url(self, url: str, blanks: Mapping[str, str]) -> str:
        return _FIELD.sub(lambda m: quote(self._value(m, blanks), safe=":,"), url)

    def _filled(self, text: str, blanks: Mapping[str, str], is_json: bool = False) -> str:
        def value(match: re.Match[str]) -> str:
            found = self._value(match, blanks)
            return json.dumps(found)[1:-1] if is_json else found

        return _FIELD.sub(value, text)

    def _value(self, match: re.Match[str], blanks: Mapping[str, str]) -> str:
        if (blank := match["blank"]) is not None:
            return blanks.get(blank, match[0])
        name = match["variable"]
        if name in self._given:
            return self._given[name]
        found = named_value(name, self._folder)
        self._secrets.add(found)
        return found

    def _masked(self, text: str) -> str:
        for secret in self._secrets:
            if len(secret) >= _SHORTEST:
                text = text.replace(secret, MASK)
        return mask_text(text)


def read_status(reading: Reading, answer: Any) -> Status:
    """Return what the words at the reading's path mean together."""
    words = words_at(reading.path, answer)
    if not words:
        # What is no JSON at all says nothing; only an answer can lack something.
        return _meaning(reading.absent) if isinstance(answer, dict | list) else Status.UNKNOWN
    found = {_word_status(reading, word) for word in words}
    for status in (Status.RUNS, Status.UNKNOWN, Status.PAUSED):
        if status in found:
            return status
    return Status.STOPPED


def _word_status(reading: Reading, word: str) -> Status:
    lists = {
        Status.RUNS: reading.runs,
        Status.STOPPED: reading.stopped,
        Status.PAUSED: reading.paused,
    }
    for wanted in (word, "*"):
        for status, words in lists.items():
            if wanted in words:
                return status
    return Status.UNKNOWN


def _meaning(word: str | None) -> Status:
    return Status(word) if word else Status.UNKNOWN


def _no_auth(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request
