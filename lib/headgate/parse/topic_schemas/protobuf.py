"""Read Protobuf files (.proto) into messages and enums with resolved types."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from headgate.errors import SchemaError
from headgate.model.topic_schema import (
    NO_DEFAULT,
    SchemaField,
    SchemaFormat,
    SchemaText,
    TopicSchema,
)

DEEPEST = 40
MOST_FIELDS = 20_000
LONGEST = 1 << 20
SCALARS = frozenset(
    (
        *("double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64", "bool"),
        *("fixed32", "fixed64", "sfixed32", "sfixed64", "string", "bytes"),
    )
)
WELL_KNOWN = ("google/protobuf/", "google/type/", "confluent/")


@dataclass(frozen=True, slots=True)
class ProtoField:
    """A field: `type` is a scalar's word or the full name of a message or an enum.

    `label` is `optional`, `required`, `repeated` or empty; `oneof` the name of the one that it is
    in. A map has `key` and the values' type as `type`.
    """

    number: int
    name: str
    type: str
    label: str = ""
    oneof: str | None = None
    key: str | None = None
    default: str = NO_DEFAULT

    @property
    def shown(self) -> str:
        """The type in few words, messages by their full name."""
        return self.shown_as(self.type)

    def shown_as(self, kind: str) -> str:
        """The type in few words, `kind` in place of its own name."""
        return f"map<{self.key}, {kind}>" if self.key else f"{self.label} {kind}".strip()


@dataclass(frozen=True, slots=True)
class ProtoMessage:
    """A message by its full name; `reserved` are numbers (as ranges) and names kept from use."""

    name: str
    fields: tuple[ProtoField, ...] = ()
    reserved_numbers: tuple[tuple[int, int], ...] = ()
    reserved_names: frozenset[str] = frozenset()

    def by_number(self) -> dict[int, ProtoField]:
        """Return the fields by their number, which is what is on the wire."""
        return {f.number: f for f in self.fields}

    def reserves(self, number: int) -> bool:
        """Whether the number is reserved."""
        return any(low <= number <= high for low, high in self.reserved_numbers)


@dataclass(frozen=True, slots=True)
class ProtoEnum:
    """An enum by its full name, with its values' numbers."""

    name: str
    values: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProtoFile:
    """One file: what it declares (`messages`, `enums`), and all that it can name (`known`)."""

    package: str
    messages: tuple[ProtoMessage, ...]
    enums: tuple[ProtoEnum, ...]
    known: Mapping[str, ProtoMessage | ProtoEnum]

    def local(self, full_name: str) -> str:
        """Return a name without the package."""
        return full_name.removeprefix(f"{self.package}.") if self.package else full_name


def read_protobuf(given: SchemaText) -> TopicSchema:
    """Return the schema; SchemaError in one sentence where it is none, or lacks an import."""
    files = {name: _parse(text, name) for name, text in given.references}
    tree = _parse(given.text, given.name)
    known: dict[str, ProtoMessage | ProtoEnum] = {}
    names = _Names.of((*files.values(), tree))
    for parsed in (*files.values(), tree):
        for declared in _declared(parsed, names, given.name, _missing(tree, files)):
            known[declared.name] = declared
    own = {f"{p}{n}" for p, n, _ in _all(tree)}
    mine = [d for d in known.values() if d.name in own]
    file = ProtoFile(
        _package(tree),
        tuple(d for d in mine if isinstance(d, ProtoMessage)),
        tuple(d for d in mine if isinstance(d, ProtoEnum)),
        known,
    )
    if not file.messages:
        raise SchemaError(
            f"{given.name} declares no message, but a Protobuf schema needs a message"
        )
    fields = tuple(f for f, _ in zip(fields_of(file), range(MOST_FIELDS), strict=False))
    return TopicSchema(SchemaFormat.PROTOBUF, given.name, fields, file)


def imports_of(text: str, name: str) -> tuple[str, ...]:
    """Return the files that a .proto imports, without those that come with Protobuf."""
    return tuple(
        e.name
        for e in _parse(text, name).file_elements
        if type(e).__name__ == "Import" and not e.name.startswith(WELL_KNOWN)
    )


@lru_cache(maxsize=16)
def _parse(text: str, name: str) -> Any:
    """Return the syntax tree, cached: it is used for the imports first, then for the schema.

    Nobody may change it. ANTLR recovers from syntax errors; here the first error counts.
    """
    if len(text) > LONGEST:
        raise SchemaError(
            f"{name} is larger than {LONGEST >> 20} MiB, the most that Headgate reads"
        )
    if text.count("{") > 5000 or _depth(text) > 60:
        raise SchemaError(f"{name} is nested too deeply for Headgate")
    from antlr4.error.ErrorListener import ErrorListener
    from proto_schema_parser.parser import Parser

    found: list[str] = []

    class First(ErrorListener):  # type: ignore[misc]
        def syntaxError(self, _: Any, __: Any, line: int, column: int, msg: str, ___: Any) -> None:
            reason = msg.partition(" expecting ")[0]
            found.append(f"line {line}, column {column + 1}: {reason}")

    def listen(recogniser: Any) -> None:
        recogniser.removeErrorListeners()
        recogniser.addErrorListener(First())

    tree = None
    with contextlib.suppress(RecursionError, AttributeError, ValueError, TypeError, IndexError):
        tree = Parser(setup_lexer=listen, setup_parser=listen).parse(text)
    if found or tree is None:
        reason = found[0] if found else "the text can't be parsed"
        raise SchemaError(f"{name} isn't a Protobuf schema: {reason}")
    return tree


def _depth(text: str) -> int:
    deepest = depth = 0
    for mark in text:
        depth += (mark == "{") - (mark == "}")
        deepest = max(deepest, depth)
    return deepest


def _package(tree: Any) -> str:
    found = (e.name for e in tree.file_elements if type(e).__name__ == "Package")
    return str(next(found, ""))


def _missing(tree: Any, files: Mapping[str, Any]) -> tuple[str, ...]:
    imports = (e.name for e in tree.file_elements if type(e).__name__ == "Import")
    return tuple(n for n in imports if n not in files and not n.startswith(WELL_KNOWN))


def _all(tree: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield (prefix with its last dot, name, node) of every message and enum, outer ones first."""
    package = _package(tree)
    yield from _nested(tree.file_elements, f"{package}." if package else "")


def _nested(elements: Iterable[Any], prefix: str) -> Iterator[tuple[str, str, Any]]:
    for element in elements:
        kind = type(element).__name__
        if kind in ("Message", "Group"):
            yield prefix, element.name, element
            yield from _nested(element.elements, f"{prefix}{element.name}.")
        elif kind == "Enum":
            yield prefix, element.name, element


@dataclass(frozen=True, slots=True)
class _Names:
    """Every full name that is declared in the files that were given."""

    declared: frozenset[str]

    @classmethod
    def of(cls, trees: Iterable[Any]) -> _Names:
        return cls(frozenset(f"{p}{n}" for tree in trees for p, n, _ in _all(tree)))

    def resolve(self, word: str, scope: str) -> str | None:
        """Return the full name of what `word` means within `scope`, from the inside out."""
        if word.startswith("."):
            return word[1:] if word[1:] in self.declared else self._well_known(word[1:])
        while True:
            candidate = f"{scope}.{word}" if scope else word
            if candidate in self.declared:
                return candidate
            if not scope:
                return self._well_known(word)
            scope = scope.rpartition(".")[0]

    def _well_known(self, word: str) -> str | None:
        return word if word.startswith(("google.", "confluent.")) else None


def _declared(
    tree: Any, names: _Names, name: str, missing: tuple[str, ...]
) -> Iterator[ProtoMessage | ProtoEnum]:
    for prefix, own, node in _all(tree):
        full = f"{prefix}{own}"
        if type(node).__name__ == "Enum":
            values = {v.name: v.number for v in node.elements if type(v).__name__ == "EnumValue"}
            yield ProtoEnum(full, values)
            continue
        fields = tuple(_fields(node.elements, full, names, name, missing, None))
        numbers, reserved = _reserved(node.elements)
        yield ProtoMessage(full, fields, numbers, reserved)


def _fields(
    elements: Iterable[Any],
    scope: str,
    names: _Names,
    name: str,
    missing: tuple[str, ...],
    oneof: str | None,
) -> Iterator[ProtoField]:
    for e in elements:
        match type(e).__name__:
            case "Field":
                kind = _type(e.type, scope, names, name, missing)
                label = "" if e.cardinality is None else str(e.cardinality.value).lower()
                yield ProtoField(e.number, e.name, kind, label, oneof, None, _default(e.options))
            case "MapField":
                kind = _type(e.value_type, scope, names, name, missing)
                yield ProtoField(e.number, e.name, kind, "", oneof, str(e.key_type))
            case "Group":
                label = "" if e.cardinality is None else str(e.cardinality.value).lower()
                yield ProtoField(e.number, e.name.lower(), f"{scope}.{e.name}", label, oneof)
            case "OneOf":
                yield from _fields(e.elements, scope, names, name, missing, e.name)


def _default(options: Iterable[Any]) -> str:
    found = (o.value for o in options if o.name == "default")
    value = next(found, None)
    return NO_DEFAULT if value is None else str(getattr(value, "name", value))


def _type(word: str, scope: str, names: _Names, name: str, missing: tuple[str, ...]) -> str:
    if word in SCALARS:
        return word
    full = names.resolve(word, scope)
    if full is not None:
        return full
    if missing:
        files = ", ".join(missing)
        raise SchemaError(
            f"{name} uses {word}, but imports were not found: put {files} next to {name}"
        )
    raise SchemaError(f"{name} uses {word}, but neither declares nor imports this type")


def _reserved(elements: Iterable[Any]) -> tuple[tuple[tuple[int, int], ...], frozenset[str]]:
    numbers: list[tuple[int, int]] = []
    names: set[str] = set()
    for e in elements:
        if type(e).__name__ == "Reserved":
            numbers += [_range(r) for r in e.ranges]
            names |= set(e.names)
    return tuple(numbers), frozenset(names)


def _range(text: str) -> tuple[int, int]:
    low, _, high = str(text).partition(" to ")
    most = (1 << 29) - 1
    return int(low), most if high.strip() == "max" else int(high or low)


def root(file: ProtoFile) -> ProtoMessage:
    """Return the message that records are of: the first that is declared, as serialisers do."""
    return file.messages[0]


def fields_of(file: ProtoFile) -> Iterator[SchemaField]:
    """Yield every field of the first message; a recursive type is entered once."""
    yield from _walk(file, root(file), "", ())


def _walk(
    file: ProtoFile, message: ProtoMessage, path: str, opened: tuple[str, ...]
) -> Iterator[SchemaField]:
    if message.name in opened or len(opened) > DEEPEST:
        return
    for f in message.fields:
        here = f"{path}.{f.name}" if path else f.name
        kind = f.shown_as(file.local(f.type))
        yield SchemaField(here, kind, f.label != "required", f.default, f.number)
        inner = file.known.get(f.type)
        if isinstance(inner, ProtoMessage):
            mark = "{}" if f.key else "[]" if f.label == "repeated" else ""
            yield from _walk(file, inner, f"{here}{mark}", (*opened, message.name))
