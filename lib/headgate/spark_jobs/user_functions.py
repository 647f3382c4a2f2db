"""Remember the Python functions that a query hands to Spark, by the name that its plan shows."""

from __future__ import annotations

import ast
import dis
import functools
import hashlib
import inspect
import sys
import sysconfig
import textwrap
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import GroupedData
from pyspark.sql.streaming.readwriter import DataStreamWriter
from pyspark.sql.udf import UserDefinedFunction
from pyspark.sql.udtf import UserDefinedTableFunction

_LIBRARIES = tuple({*sysconfig.get_paths().values(), sys.prefix, sys.base_prefix})
_GLOBAL_READS = frozenset({"LOAD_GLOBAL", "LOAD_NAME"})
_PLAIN = (type(None), bool, int, float, complex, str, bytes)


def digest(function: Any) -> str:
    """Return SHA-256 (hex) over a function or class and all of its own code that it refers to.

    Comments, layout, docstrings and libraries do not count; constants and helper functions that
    it uses do, and so does what an object was made with. Without its source at hand the compiled
    code counts, which differs between releases of Python.
    """
    return hashlib.sha256("\n".join(_described(function, set())).encode()).hexdigest()


def _described(value: Any, seen: set[int]) -> Iterator[str]:
    """Yield lines that are equal exactly if the code is; each function is described once."""
    if isinstance(value, functools.partial):
        yield from _described_all((value.func, *value.args, *value.keywords.values()), seen)
    elif isinstance(value, (list, tuple, set, frozenset, dict)):
        yield f"{type(value).__name__} {_members(value)}"
    elif isinstance(value, _PLAIN):
        yield repr(value)
    elif id(value) in seen:
        yield "seen before"
    elif isinstance(value, types.MethodType):
        yield from _described(value.__func__, seen)
    elif isinstance(value, types.FunctionType) and _is_own(value.__code__.co_filename):
        seen.add(id(value))
        yield _source(value)
        yield from _described_references(value, seen)
    elif isinstance(value, type) and _is_own(_file_of(value)):
        seen.add(id(value))
        yield from _described_class(value, seen)
    elif type(value).__module__ != "builtins" and _is_own(_file_of(type(value))):
        seen.add(id(value))
        yield from _described(type(value), seen)
        for name, member in sorted(getattr(value, "__dict__", {}).items()):
            yield name
            yield from _described(member, seen)
    else:
        yield f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', type(value))}"


def _described_class(value: type, seen: set[int]) -> Iterator[str]:
    yield value.__qualname__
    for name, member in sorted(vars(value).items()):
        # What Python itself notes of a class (`__firstlineno__`) are dunder names too.
        plain = isinstance(member, _PLAIN) and not name.startswith("__")
        if plain or isinstance(member, types.FunctionType):
            yield name
            yield from _described(member, seen)


def _described_all(values: tuple[Any, ...], seen: set[int]) -> Iterator[str]:
    for value in values:
        yield from _described(value, seen)


def _members(value: Any) -> str:
    """Write a collection of plain values; of others only their number counts."""
    items = list(value.items()) if isinstance(value, dict) else list(value)
    if isinstance(value, (set, frozenset)):
        items = sorted(items, key=repr)
    flat = [part for item in items for part in (item if isinstance(item, tuple) else (item,))]
    return repr(items) if all(isinstance(part, _PLAIN) for part in flat) else str(len(items))


def _described_references(function: types.FunctionType, seen: set[int]) -> Iterator[str]:
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    for name, cell in cells:
        try:
            yield name
            yield from _described(cell.cell_contents, seen)
        except ValueError:  # not filled yet
            continue
    for name in sorted(_names(function.__code__)):
        if name in function.__globals__ and not isinstance(
            function.__globals__[name], types.ModuleType
        ):
            yield name
            yield from _described(function.__globals__[name], seen)
    yield from _described_all((function.__defaults__, function.__kwdefaults__), seen)


def _names(code: types.CodeType) -> set[str]:
    """Return the global names that code reads; `co_names` would hold attributes too."""
    found = {i.argval for i in dis.get_instructions(code) if i.opname in _GLOBAL_READS}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= _names(constant)
    return found


def _source(function: types.FunctionType) -> str:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return _compiled(function.__code__)
    if isinstance(tree.body[0], (ast.FunctionDef, ast.AsyncFunctionDef)):
        return ast.unparse(_without_docstring(tree.body[0]))
    # A lambda's source is its whole statement, which may hold others.
    return _compiled(function.__code__)


def _without_docstring(node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
    if ast.get_docstring(node) is not None:
        node.body = node.body[1:] or [ast.Pass()]
    return node


def _compiled(code: types.CodeType) -> str:
    constants = [_compiled(c) if isinstance(c, types.CodeType) else repr(c) for c in code.co_consts]
    return f"{code.co_code.hex()} {constants} {code.co_names} {code.co_varnames}"


def _file_of(kind: type) -> str:
    module = sys.modules.get(kind.__module__)
    return getattr(module, "__file__", None) or ""


def _is_own(file: str) -> bool:
    return bool(file) and not file.startswith("<frozen") and not file.startswith(_LIBRARIES)


@dataclass
class UsedFunctions:
    """Kinds and functions by name, in the order of their making; `sinks` by their writers."""

    by_name: dict[str, list[tuple[str, Any]]] = field(default_factory=dict)
    sinks: list[tuple[Any, str, Any]] = field(default_factory=list)

    def in_plan(self, names: list[str]) -> list[dict[str, str]]:
        """Return kind, name and hash of the functions behind these names of a plan."""
        return [
            {"kind": kind, "name": _plan_name(name, kind, function), "hash": digest(function)}
            for name in dict.fromkeys(names)
            for kind, function in self.by_name.get(name, ())
        ]

    def of_sink(self, writer: Any) -> list[dict[str, str]]:
        """Return the function that a writer's foreach or foreachBatch was given."""
        found = [(kind, f) for owner, kind, f in self.sinks if owner is writer][-1:]
        return [{"kind": kind, "name": _name(f), "hash": digest(f)} for kind, f in found]


def watch_functions() -> UsedFunctions:
    """Watch every way in which PySpark takes a function in this process."""
    used = UsedFunctions()

    def note(name: str, function: Any, kind: str = "udf") -> None:
        if not _is_pysparks(function):
            used.by_name.setdefault(name, []).append((kind, function))

    _after_init(UserDefinedFunction, lambda udf: note(udf._name, udf.func))
    _after_init(UserDefinedTableFunction, lambda udtf: note(udtf._name, udtf.func, "udtf"))
    for method in ("foreach", "foreachBatch"):
        _before_sink(method, used)
    for method in ("transformWithState", "transformWithStateInPandas"):
        _before_processor(method, note)
    return used


def _after_init(owner: Any, note: Callable[[Any], None]) -> None:
    init = owner.__init__

    def watched(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        note(self)

    owner.__init__ = watched


def _before_sink(method: str, used: UsedFunctions) -> None:
    wrapped = getattr(DataStreamWriter, method)

    def watched(self: Any, function: Any) -> Any:
        used.sinks.append((self, method, function))
        return wrapped(self, function)

    setattr(DataStreamWriter, method, watched)


def _before_processor(method: str, note: Callable[[str, Any, str], None]) -> None:
    """Note the processor under the name of PySpark's own wrapper, which is what the plan shows."""
    wrapped = getattr(GroupedData, method)

    def watched(self: Any, statefulProcessor: Any, *args: Any, **kwargs: Any) -> Any:
        with_state = bool(kwargs.get("initialState"))
        name = "transformWithStateWithInitStateUDF" if with_state else "transformWithStateUDF"
        note(name, statefulProcessor, "stateful_processor")
        return wrapped(self, statefulProcessor, *args, **kwargs)

    setattr(GroupedData, method, watched)


def _plan_name(name: str, kind: str, function: Any) -> str:
    """Return what a plan calls a function; a processor is there as PySpark's own wrapper."""
    return name if kind in ("udf", "udtf") else _name(function)


def _is_pysparks(function: Any) -> bool:
    """True for the wrappers that PySpark puts around a processor."""
    return str(getattr(function, "__module__", "")).startswith("pyspark.")


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", type(function).__name__))
