"""Which locations a page may read: what the registry names, and hosts that [console] lists."""

from __future__ import annotations

import os
import re
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from headgate.errors import EvidenceError, OutputError
from headgate.gateway.files.evidence_files import is_uri
from headgate.gateway.http.client import is_internal
from headgate.spark_jobs.data.output_address import JDBC, KAFKA, FileOutput, parse_address
from headgate.usecases.context import Context

_ADDRESSES = (KAFKA, JDBC)
WEB = ("http://", "https://")


def registered(context: Context, pipeline: str | None = None) -> tuple[str, ...]:
    """Return checkpoints and evidence that the registry names, those of `pipeline` first."""
    pipelines = sorted(context.registry.pipelines, key=lambda p: p.name != pipeline)
    places = ((*([p.checkpoint] if p.checkpoint else []), *p.evidence) for p in pipelines)
    return tuple(dict.fromkeys(place for row in places for place in row))


READ = (
    "Add the path to `evidence` of a pipeline in headgate.toml, upload the files, or run `headgate "
    "topology` on the server"
)
REHEARSE = (
    "Set the path as `checkpoint` of a pipeline in headgate.toml, or run `headgate rehearse` on "
    "the server"
)


def allowed(context: Context, address: str, advice: str = READ) -> str:
    """Return the address as it is read; EvidenceError where a page may not read it.

    Whoever sees a page must not see with it every file that the server may read. `advice` is what
    to do then.
    """
    place = address.strip()
    if place.startswith(WEB):
        return _allowed_web(context, place)
    if "\0" not in place and any(_is_within(place, root) for root in registered(context)):
        return place
    raise EvidenceError(
        f"the console doesn't read {place}, because no pipeline in headgate.toml has this path as "
        f"`checkpoint` or `evidence`. {advice}"
    )


def _allowed_web(context: Context, place: str) -> str:
    """Return an address whose host somebody named; whoever sees a page must not reach others."""
    origin = _origin(place)
    if origin is None:
        raise EvidenceError(f"the address {place} has no host: use the form http://host:4040")
    registry = context.registry
    named = {w for p in registry.pipelines for w in (p.checkpoint, p.watch, *p.evidence) if w}
    if origin in map(_origin, named):
        return place
    host, port = origin
    shown = f"[{host}]" if ":" in host else host
    if {shown, f"{shown}:{port}"} & set(registry.console_hosts):
        if is_internal(host):
            raise EvidenceError(
                f"the console doesn't read from {shown}, because this name resolves to a loopback "
                "or link-local address. Use the IP address instead of this name in `allowed_hosts` "
                "of [console] in headgate.toml"
            )
        return place
    raise EvidenceError(
        f"the console doesn't read from {shown}:{port}, because headgate.toml doesn't allow "
        "this address. In headgate.toml, add the address to `evidence` of a pipeline, or add the "
        "host to `allowed_hosts` of [console]"
    )


def _origin(place: str) -> tuple[str, int] | None:
    """Return host and port of a web address, None of anything else."""
    try:
        parts = urlsplit(place)
        port = parts.port
    except ValueError:
        return None
    if not place.startswith(WEB) or not parts.hostname:
        return None
    return parts.hostname, port or (443 if parts.scheme == "https" else 80)


def comparable(context: Context, address: str) -> str:
    """Return an output's address; OutputError where a page may not read it.

    A page shows rows of an output, so [console] lists which: whoever sees it sees those.
    """
    text = address.strip()
    parsed = parse_address(text)
    outputs = context.registry.console_outputs
    if isinstance(parsed, FileOutput):
        is_allowed = any(_is_within(text, o) for o in outputs if not o.startswith(_ADDRESSES))
    else:
        name = text.partition("@")[0]
        is_allowed = any(fnmatchcase(name, o) for o in outputs if o.startswith(_ADDRESSES))
    if is_allowed:
        return text
    # A range of a topic is no part of what is allowed.
    named = text if isinstance(parsed, FileOutput) else text.partition("@")[0]
    raise OutputError(
        f"the console doesn't compare {text}, because headgate.toml doesn't allow this output. "
        f"Add {named} to `outputs` of [console] in headgate.toml, or run `headgate compare-output` "
        "on the server"
    )


def startable(context: Context, function: str) -> str:
    """Return a `module:function` that a page may start; EvidenceError where it may not.

    Its module is beside headgate.toml, or a registered pipeline's: what else the server could
    import is nobody's pipeline.
    """
    text = function.strip()
    name = text.partition(":")[0]
    known = {(p.entry_point or "").partition(":")[0] for p in context.registry.pipelines}
    module = name.replace(".", "/")
    folder = Path(context.registry.path or "headgate.toml").resolve().parent
    files = (folder / f"{module}.py", folder / module / "__init__.py")
    is_named = re.fullmatch(r"\w+(\.\w+)*:\w+", text) is not None
    is_beside = any(f.is_file() and _is_within(str(f), str(folder)) for f in files)
    if is_named and (is_beside or name in known):
        return text
    raise EvidenceError(
        f"the console can't call {text or 'an empty name'}. Enter module:function, with a module "
        f"in {folder} (the folder of headgate.toml) or the module of a registered `entry_point`. "
        "For other modules, run `headgate rehearse` on the server"
    )


def _is_within(place: str, root: str) -> bool:
    if is_uri(place) or is_uri(root):
        return ".." not in PurePosixPath(place).parts and f"{place}/".startswith(
            f"{root.rstrip('/')}/"
        )
    return Path(os.path.realpath(place)).is_relative_to(os.path.realpath(root))
