"""Open what every use case needs: the registry, the store's URL, the home folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from headgate.errors import HeadgateError, NotFoundError, RegistryError
from headgate.gateway.files.addresses import is_remote
from headgate.gateway.process.system_user import home_folder
from headgate.model.registered_pipelines import Pipeline, Registry
from headgate.parse.config import headgate_toml
from headgate.text.numbers import instead

CONFIG = "HEADGATE_CONFIG"
FILE = "headgate.toml"


def _nothing() -> None:
    pass


@dataclass(frozen=True)
class Context:
    """Registry, store and home folder.

    Opening a context creates nothing: store and home folder may not exist yet. `home` is an
    absolute path: the folder of snapshots, plans and logs. It is `.headgate/` beside headgate.toml,
    or in the user's state folder if there is no file. `before_queueing` is called after all checks
    of a run, right before the run is queued. If it raises an exception, the run isn't queued.
    """

    registry: Registry
    store_url: str
    home: Path
    before_queueing: Callable[[], None] = field(default=_nothing, compare=False)

    def registered(self, pipeline: str) -> Pipeline:
        """Return the pipeline of this name; NotFoundError if the registry doesn't have it."""
        found = self.registry.pipeline(pipeline)
        if found is None:
            names = instead(pipeline, [p.name for p in self.registry.pipelines])
            raise NotFoundError(f"no pipeline {pipeline} is registered in headgate.toml{names}")
        return found


def importable_from(context: Context | None) -> tuple[Path, ...]:
    """Return the working directory, and the folder from which entry points are imported."""
    file = context.registry.path if context else None
    return (Path.cwd(), *([Path(file).parent] if file else []))


def open_context(config: str | None = None) -> Context:
    """Open `config`, else HEADGATE_CONFIG, else ./headgate.toml, else an empty registry.

    Raises RegistryError with the line, and NotFoundError if a named file doesn't exist.
    """
    return with_checkpoint_locations(read_context(config))


UNSET = "unset://"
"""Prefix of the values of `unset_variables`."""


def unset_variables() -> Mapping[str, str]:
    """Return the environment; a variable that isn't set has a placeholder as its value."""
    return _Unset(os.environ)


class _Unset(dict[str, str]):
    """A check of a pull request has no secrets, and needs none of them to compare versions."""

    def __contains__(self, key: object) -> bool:
        return True

    def __missing__(self, key: str) -> str:
        return f"{UNSET}{key}"


def config_file() -> Path:
    """Return the file that `open_context()` would read, if it exists."""
    return Path(os.environ.get(CONFIG) or FILE)


def read_context(config: str | None = None, env: Mapping[str, str] = os.environ) -> Context:
    """Do as `open_context`, but keep each checkpoint at the location in headgate.toml.

    `env` has the values that replace `${NAME}`.
    """
    named = config or os.environ.get(CONFIG)
    if named:
        said_by = "--config" if config else CONFIG
        try:
            return _opened(Path(named), env)
        except NotFoundError as error:
            raise NotFoundError(f"{error}. Check {said_by}") from error
    if Path(FILE).is_file():
        return _opened(Path(FILE), env)
    home = _state_folder(os.environ)
    return Context(Registry(), _default_store(home), home)


def needs_file(context: Context) -> None:
    """Raise NotFoundError if no headgate.toml registers pipelines: any name would be wrong."""
    if context.registry.path is None and not context.registry.pipelines:
        raise NotFoundError(
            f"{FILE} not found in this folder, so no pipeline is registered: change to the "
            f"folder of the file, or pass the file with --config or {CONFIG}"
        )


def _opened(file: Path, env: Mapping[str, str]) -> Context:
    path = file.absolute()
    try:
        # A byte order mark is what some Windows editors put before the first line.
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = path.read_bytes().count(b"\n", 0, error.start) + 1
        raise RegistryError(
            "the file isn't UTF-8 text. Save the file as UTF-8", source=str(file), line=line
        ) from error
    except PermissionError:
        raise HeadgateError(f"{file} can't be read: change the file's permissions") from None
    except FileNotFoundError:
        raise NotFoundError(f"{file} not found") from None
    except IsADirectoryError:
        raise NotFoundError(f"{file} is a folder, not a file") from None
    except OSError as error:
        raise NotFoundError(f"{file} can't be read: {error.strerror}") from error
    registry = headgate_toml.parse(text, path=str(path), source=str(file), env=env)
    home = path.parent / ".headgate"
    url = registry.store_url or _default_store(home)
    return Context(registry, url, home)


def with_checkpoint_locations(context: Context) -> Context:
    """Return the context with the locations that runs have switched remote checkpoints to.

    Local checkpoints never move. If all checkpoints are local, the store isn't read.
    """
    registry, url = context.registry, context.store_url
    file = url.removeprefix("sqlite:///")
    if not any(is_remote(p.checkpoint) for p in registry.pipelines if p.checkpoint):
        return context
    if file != url and not Path(file).exists():
        return context
    # Imported here: whoever has no remote checkpoint does not wait for it.
    from headgate.store.sqlite_reader import open_soonest

    with closing(open_soonest(url)) as store:
        return replace(context, registry=registry.led(store.checkpoint_locations.all()))


def _default_store(home: Path) -> str:
    return f"sqlite:///{home / 'headgate.db'}"


def _state_folder(env: Mapping[str, str]) -> Path:
    """Return the folder of the XDG base directory specification for state."""
    base = env.get("XDG_STATE_HOME", "")
    folder = Path(base) if Path(base).is_absolute() else home_folder() / ".local" / "state"
    return folder / "headgate"
