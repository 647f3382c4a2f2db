"""Commands that are no shell commands: HTTP calls, a person, the driver that is watched.

Texts of calls are templates: `${NAME}` is an environment variable of the process that calls,
`${file:PATH}` what stands in a file, `${HEADGATE_RUN}` the run's id, `{found}` and `{answer}` what
an earlier call of the same command told. They are filled in when the call is made, and kept
nowhere.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One HTTP request: `expect` are the status codes that mean success, `ca` a file of roots.

    `seconds` is how long to wait for the answer. A body that `is_json` gets values escaped.
    """

    url: str
    method: str = "GET"
    is_json: bool = False
    headers: tuple[tuple[str, str], ...] = ()
    body: str | None = None
    expect: tuple[int, ...] = (200, 201, 202, 204)
    ca: str | None = None
    seconds: float = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How an answer is read: the words at `path` of its JSON, each sorted by the lists.

    `*` in a list is any other word. `absent` is what it means that nothing stands there; `codes`
    is what a status code means without a look at the answer (`404 = "stopped"`). Meanings are
    `runs`, `stopped` and `paused`; what no list names is unknown.
    """

    path: str
    runs: tuple[str, ...] = ()
    stopped: tuple[str, ...] = ()
    paused: tuple[str, ...] = ()
    absent: str | None = None
    codes: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Find:
    """A call made before: the one word at `path` of its answer is `{found}` in the command's."""

    request: Request
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """A call repeated afterwards, `every` so many seconds and at most `within` seconds.

    The command has worked once the words at `path` are all among `done`, and has failed as soon
    as one is among `failed`.
    """

    request: Request
    path: str
    done: tuple[str, ...]
    failed: tuple[str, ...] = ()
    every: float = 2.0
    within: float = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpCall:
    """One command as an HTTP call; `answer` is the path of `{answer}` in what it answers."""

    request: Request
    find: Find | None = None
    answer: str | None = None
    wait: Wait | None = None
    reading: Reading | None = None

    @property
    def shown(self) -> str:
        """The call in one line, as plans show it; the digest is another one if anything is."""
        whole = json.dumps(asdict(self), sort_keys=True, default=str)
        digest = hashlib.sha256(whole.encode()).hexdigest()[:8]
        return f"{self.request.method} {self.request.url} (hash of the call: {digest})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A person does it when asked, and confirms it; `text` says what there is to do."""

    text: str

    @property
    def shown(self) -> str:
        """The command in one line, as plans show it."""
        return f"manual step: {self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchControl:
    """The driver stops the query itself, asked through the pipeline's `watch`.

    `token` is a template of what signs the request, None where the driver takes unsigned ones.
    """

    token: str | None = None

    @property
    def shown(self) -> str:
        """The command in one line, as plans show it."""
        return (
            "headgate.watch (signed stop request)"
            if self.token
            else "headgate.watch (stop request)"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Shell:
    """A shell command with a secret in it: `shown` is the line without it, as plans show it."""

    command: str
    shown: str


Call: TypeAlias = HttpCall | Ask | WatchControl | Shell
