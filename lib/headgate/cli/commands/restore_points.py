"""`headgate restore-points PIPELINE`: the restore points that a pipeline can rewind to."""

from __future__ import annotations

from typing import Any

import click

from headgate.cli.shared.options import current_context, emit_json, format_option
from headgate.cli.shared.terminal import say
from headgate.gateway.process.system_user import system_user
from headgate.model.restore_points import verified_word
from headgate.text.numbers import plural, short_time, size
from headgate.usecases.context import Context
from headgate.usecases.restore_points.check_point import check_named
from headgate.usecases.restore_points.list_points import PointList, PointRow, list_points
from headgate.usecases.restore_points.make_point import create_point
from headgate.usecases.restore_points.remove_points import remove_point


@click.command("restore-points")
@click.argument("pipeline")
@click.option(
    "--create", is_flag=True, help="Make a restore point now; the pipeline keeps running."
)
@click.option(
    "--verify",
    metavar="ID",
    help="Id of the restore point to verify. Spark reads the whole state of the point.",
)
@click.option("--delete", metavar="ID", help="Id of the restore point to delete.")
@format_option()
def command(
    pipeline: str, create: bool, verify: str | None, delete: str | None, output: str
) -> int:
    """List the restore points of PIPELINE, newest first, for `plan rewind --restore-point ID`.

    Times are in UTC. The worker makes restore points if headgate.toml has [restore_points].
    """
    if sum(map(bool, (create, verify, delete))) > 1:
        raise click.UsageError("give only one of --create, --verify and --delete")
    context = current_context()
    effect = _act(context, pipeline, create=create, verify=verify, delete=delete)
    found = list_points(context, pipeline)
    if output == "json":
        emit_json({**found.as_json(), **effect})
    else:
        _say(found, effect)
    return 1 if effect.get("verify_problem") else 0


def _act(
    context: Context, pipeline: str, *, create: bool, verify: str | None, delete: str | None
) -> dict[str, Any]:
    if create:
        point, is_new = create_point(context, pipeline, by=system_user())
        return {"created": point.id if is_new else None, "newest": point.id}
    if delete is not None:
        return {"deleted": remove_point(context, pipeline, delete, by=system_user()).id}
    if verify is not None:
        found = check_named(context, pipeline, verify)
        return {"verified": verify, "verify_problem": found.problem, "verify_rows": found.rows}
    return {}


def _say(found: PointList, effect: dict[str, Any]) -> None:
    for line in _effect_lines(effect):
        say(line)
    if not found.points:
        say(f"No restore points of {found.pipeline} yet. Make a restore point with --create.")
    for row in found.points:
        say(_line(row))
    if found.points:
        say(f"{plural(len(found.points), 'restore point')}{_held(found)}")
    for id, why in found.unreadable.items():
        say(f"Restore point {id} exists, but can't be read: {why}")
    if found.error:
        tried = f"failed at {short_time(found.tried_at)} UTC"
        say(f"The last attempt to make a restore point {tried}: {found.error}")


def _held(found: PointList) -> str:
    """Return what the points take on disk; those of a group have only offsets."""
    if all(row.location is None for row in found.points):
        return ", only with offsets (they use no disk space)"
    return (
        f": {size(found.held_bytes)} on disk now, up to {size(found.bytes)} after Spark deletes "
        f"the files that they share with the checkpoint (max_size: {size(found.max_bytes)})"
    )


def _effect_lines(effect: dict[str, Any]) -> list[str]:
    lines = []
    if "created" in effect and effect["created"] is None:
        lines.append(
            f"No new restore point: nothing changed since restore point {effect['newest']}."
        )
    elif "created" in effect:
        lines.append(f"Restore point {effect['created']} was created.")
    if "deleted" in effect:
        lines.append(f"Restore point {effect['deleted']} was deleted.")
    if "verified" in effect:
        problem = effect["verify_problem"]
        word = verified_word(effect["verify_rows"])
        said = f" can't be used: {problem}" if problem else f": {word}"
        lines.append(f"Restore point {effect['verified']}{said}.")
    return lines


def _line(row: PointRow) -> str:
    parts = [row.id, short_time(row.time)]
    parts.append(f"batch {row.batch}" if row.batch is not None else "offsets only")
    if row.location is not None:
        parts += [size(row.bytes), verified_text(row)]
    parts.append(kafka_text(row))
    return "  ".join(parts)


def verified_text(row: PointRow) -> str:
    """Return when the point was verified, or that it was not."""
    if row.problem:
        return f"damaged: {row.problem}"
    if row.verified_at is None:
        return "not verified"
    return f"{verified_word(row.rows)} {short_time(row.verified_at)}"


def kafka_text(row: PointRow) -> str:
    """Return whether Kafka still holds the records after the point."""
    if not row.offsets:
        return "no Kafka offsets"
    if row.in_kafka is None:
        why = f" ({row.kafka})" if row.kafka else ""
        return f"unknown whether Kafka still has all records after this point{why}"
    if row.in_kafka:
        return "Kafka still has all records after this point"
    return f"Kafka no longer has all records after this point: {row.kafka}"
