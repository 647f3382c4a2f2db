"""Commands other than plain shell commands: HTTP calls, manual steps, stop requests to a driver.

The texts of calls are templates. `${NAME}` is an environment variable of the calling process,
`${file:PATH}` the content of a file, `${HEADGATE_RUN}` the id of the run. `{found}` and `{answer}`
are values from an earlier call of the same command. The values are inserted when the call is made,
and stored nowhere.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One HTTP request.

    `expect` are the status codes that mean success, `ca` is a file with CA certificates. `seconds`
    is the timeout for the response. In a body with `is_json`, inserted values are escaped.
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
    """How a response becomes a status: the values at `path` of its JSON are looked up in the lists.

    `*` in a list is any value that isn't in another list. `absent` is the status if there is no
    value at `path`. `codes` maps HTTP status codes to a status, without a check of the response
    (`404 = "stopped"`). A status is `runs`, `stopped` or `paused`. It is unknown if no list has the
    value.
    """

    path: str
    runs: tuple[str, ...] = ()
    stopped: tuple[str, ...] = ()
    paused: tuple[str, ...] = ()
    absent: str | None = None
    codes: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Find:
    """A call before the command.

    The value at `path` of its response replaces `{found}` in the command.
    """

    request: Request
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """A call that is repeated after the command, every `every` seconds.

    It is repeated for at most `within` seconds. The command succeeded when all values at `path` are
    in `done`. It failed when one value is in `failed`.
    """

    request: Request
    path: str
    done: tuple[str, ...]
    failed: tuple[str, ...] = ()
    every: float = 2.0
    within: float = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpCall:
    """One command as an HTTP call; the value at the path `answer` of the response is `{answer}`."""

    request: Request
    find: Find | None = None
    answer: str | None = None
    wait: Wait | None = None
    reading: Reading | None = None

    @property
    def shown(self) -> str:
        """The call in one line, as plans show it; its hash changes with any part of the call."""
        whole = json.dumps(asdict(self), sort_keys=True, default=str)
        digest = hashlib.sha256(whole.encode()).hexdigest()[:8]
        return f"{self.request.method} {self.request.url} (hash of the call: {digest})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A manual step: a person does what `text` says, and confirms it."""

    text: str

    @property
    def shown(self) -> str:
        """The command in one line, as plans show it."""
        return f"manual step: {self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchControl:
    """A request to the driver, through the pipeline's `watch`, to stop the query.

    `token` is a template of the token that signs the request, None if the driver accepts unsigned
    requests.
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
    """A shell command with a secret; plans show `shown`, the command without the secret."""

    command: str
    shown: str


Call: TypeAlias = HttpCall | Ask | WatchControl | Shell
