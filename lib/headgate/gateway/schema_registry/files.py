"""Read a schema's file, and the files beside it that it imports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from headgate.errors import SchemaError
from headgate.model.topic_schema import SchemaFormat, SchemaText
from headgate.parse.topic_schemas.read import LONGEST, format_of, imported

MOST_FILES = 200


def read_schema_file(path: str) -> SchemaText:
    """Return the text with what it imports; SchemaError in one sentence if it can't be read.

    An import is looked for from the file's folder, then from the folders above it, as deep as the
    import's own path. One that is not there is left out: the parser of the schema reports it.
    """
    file = Path(path)
    text = _read(file)
    form = format_of(text, path)
    found: dict[str, str] = {}
    roots = (file.parent, *file.parent.parents[:4])
    _collect(imported(text, form, path), form, roots, found, {file.name: ""})
    return SchemaText(text, form, path, tuple(found.items()))


def _collect(
    names: Iterable[str],
    form: SchemaFormat,
    roots: Sequence[Path],
    found: dict[str, str],
    opened: dict[str, str],
) -> None:
    """Add the files that are there, each after those that it needs; a circle ends at its start."""
    for name in names:
        if name in found or name in opened:
            continue
        if len(found) >= MOST_FILES:
            raise SchemaError(
                f"the schema imports more than {MOST_FILES} files, the most that Headgate "
                "reads. Combine the schemas into fewer files"
            )
        place = next((r / name for r in roots if _is_file(r / name)), None)
        if place is None:
            continue
        text = _read(place)
        opened[name] = text
        _collect(imported(text, form, str(place)), form, roots, found, opened)
        found[name] = text


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _read(file: Path) -> str:
    try:
        if file.is_dir():
            raise SchemaError(f"{file} is a folder: choose a schema file")
        with file.open("rb") as stream:
            data = stream.read(LONGEST + 1)
    except FileNotFoundError:
        raise SchemaError(f"schema file {file} not found") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SchemaError(f"{file} cannot be read: {reason}") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        if len(data) > LONGEST:
            return "x" * (LONGEST + 1)
        raise SchemaError(f"{file} isn't UTF-8 text, so the file isn't a schema") from None
