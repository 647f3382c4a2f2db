"""The registry for a reset: pipeline and cluster come from the options of the command.

The plan stores the address and the name of the settings file, but never its content, because that
may contain secrets. The run reads the file a second time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headgate.errors import NotFoundError
from headgate.model.registered_pipelines import Pipeline, Registry
from headgate.model.version import Engine
from headgate.parse.config import client_properties
from headgate.reprocess.plan import RESET, UNDO, Plan, load_plan

if TYPE_CHECKING:
    from headgate.store import Store
    from headgate.store.sqlite_reader import SqliteReader

DEFAULT = "localhost:9092"


def reset_registry(registry: Registry, application: str, options: Mapping[str, Any]) -> Registry:
    """Return the registry with the application as another pipeline, without commands.

    Without an address, the configured cluster is used, else Kafka's default address. NotFoundError
    if the settings file can't be read, ParseError if it has an error.
    """
    made = Pipeline(name=application, engine=Engine.KAFKA_STREAMS, group=application)
    others = tuple(p for p in registry.pipelines if p.name != application)
    file = options.get("command-config")
    given = options.get("bootstrap-server")
    return replace(
        registry,
        bootstrap_servers=given or registry.bootstrap_servers or DEFAULT,
        kafka=_settings(file) if file else _known(registry, given),
        pipelines=(made, *others),
    )


def _known(registry: Registry, address: str | None) -> dict[str, str]:
    """The configured settings are only of the configured cluster: they may hold its password."""
    return registry.kafka if address in (None, registry.bootstrap_servers) else {}


def registry_of(registry: Registry, store: Store | SqliteReader, plan: Plan) -> Registry:
    """Return the registry in which a plan is executed: for a reset or its undo, the reset's."""
    while plan.scenario == UNDO:
        run = plan.options["run"]
        plan = load_plan(store.runs.get(run).plan, source=f"run {run}")
    if plan.scenario != RESET or plan.pipeline is None:
        return registry
    return reset_registry(registry, plan.pipeline, plan.options)


def _settings(file: str) -> dict[str, str]:
    try:
        text = Path(file).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise NotFoundError(
            f"--command-config: {file} isn't UTF-8 text. Save the file as UTF-8"
        ) from None
    except OSError as error:
        raise NotFoundError(
            f"--command-config: {file} can't be read: {error.strerror}. Check the path and its "
            "permissions"
        ) from None
    return client_properties.parse(text, source=file)
