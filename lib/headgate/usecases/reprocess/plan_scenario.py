"""Plan a scenario: the steps, their costs, and the reasons that block the plan."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from headgate.errors import ScenarioError
from headgate.gateway.adapters.live import LiveInspector
from headgate.reprocess.impact import with_kept
from headgate.reprocess.plan import Plan
from headgate.reprocess.scenario import Scenario
from headgate.reprocess.scenarios.build import SCENARIOS
from headgate.reprocess.steps.offsets.target import read_rows
from headgate.store.sqlite_reader import open_soonest
from headgate.usecases.compare.connect_evidence import with_judge
from headgate.usecases.context import Context, needs_file
from headgate.usecases.reprocess.copy_time import with_copy_time
from headgate.usecases.reprocess.rebuild_plan import fresh_plan


def plan_scenario(
    context: Context, scenario: str, pipeline: str, options: Mapping[str, Any] | None = None
) -> Plan:
    """Return the plan, also if it is blocked; nothing changes.

    Options that name a file are read here. Raises ScenarioError (also about such a file),
    NotFoundError (pipeline) or UnreachableError (Kafka, store).
    """
    needs_file(context)
    answers = with_rows(SCENARIOS.get(scenario), options or {})
    with (
        closing(open_soonest(context.store_url)) as store,
        closing(with_judge(LiveInspector(context.registry, context.home), context)) as inspector,
    ):
        plan = fresh_plan(store, inspector, scenario, pipeline, answers)
    return with_copy_time(context, with_kept(plan, context.registry.keep_snapshots))


def with_rows(declared: Scenario | None, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with the rows of a file instead of its name."""
    answers = {name.replace("_", "-"): value for name, value in options.items()}
    if declared is None:
        return answers
    for option in declared.options:
        name = answers.get(option.name)
        if option.rows_of is None or name is None:
            continue
        if option.rows_of in answers:
            raise ScenarioError(
                f"{declared.name}: give either --{option.name} or --{option.rows_of}, not both"
            )
        answers[option.rows_of] = _rows(answers.pop(option.name), option.name)
    return answers


def _rows(file: str, option: str) -> list[str]:
    try:
        rows = Path(file).read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise ScenarioError(
            f"--{option}: {file} can't be read: {error.strerror}. Check the path and "
            "Headgate's permission to read the file"
        ) from error
    except UnicodeDecodeError:
        raise ScenarioError(
            f"--{option}: {file} isn't UTF-8 text. Save the file as UTF-8"
        ) from None
    if not any(row.strip() for row in rows):
        # An empty list would be as if the option had not been given.
        raise ScenarioError(f"--{option}: {file} has no rows. Write each row on a separate line")
    # What is wrong is said of the file, not of the option that its rows become.
    read_rows(rows, option=f"{option}: {file}")
    return rows
