"""Read which modules and files a Python module names; nothing is imported or run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from headgate.errors import ParseError

# Calls that import or run what only a run can name.
_IMPORTERS = frozenset({"import_module", "__import__"})
_DYNAMIC = frozenset(
    {
        *("exec", "eval", "run_path", "run_module", "exec_module", "load_module"),
        *("spec_from_file_location", "SourceFileLoader", "iter_modules", "walk_packages"),
    }
)
# Of these names only the built-in ones: a DataFrame has an `eval`, too.
_BUILT_IN = frozenset({"exec", "eval", "__import__"})
# What of `sys` decides where modules come from.
_SEARCH = frozenset({"path", "meta_path", "path_hooks"})
_FILE = re.compile(r"[\w./ -]{0,200}\w\.\w{1,10}")


@dataclass(frozen=True, slots=True)
class Imported:
    """`module` as it is written, `level` dots before it, `names` after `import`; `*` may be one."""

    module: str
    level: int = 0
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonImports:
    """What a module imports; `files` are constants that may name files, `exported` is `__all__`.

    `unresolved` are the lines of imports that only a run could resolve, each with its reason.
    """

    imported: tuple[Imported, ...] = ()
    files: frozenset[str] = frozenset()
    exported: tuple[str, ...] = ()
    unresolved: tuple[tuple[int, str], ...] = ()


def read_imports(code: bytes, *, source: str) -> PythonImports:
    """Return what the code of a module imports; ParseError if it isn't Python of this release."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 1
        raise ParseError("the file isn't valid Python code", source=source, line=line) from error
    nodes = list(ast.walk(tree))
    return PythonImports(
        imported=tuple(one for node in nodes for one in _imported(node)),
        files=frozenset(
            node.value.lstrip("./")
            for node in nodes
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and _FILE.fullmatch(node.value)
        ),
        exported=tuple(name for node in tree.body for name in _exported(node)),
        unresolved=tuple(one for node in nodes for one in _unresolved(node)),
    )


def _imported(node: ast.AST) -> Iterator[Imported]:
    if isinstance(node, ast.Import):
        yield from (Imported(alias.name) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        names = tuple(alias.name for alias in node.names)
        yield Imported(node.module or "", node.level, names)
    elif isinstance(node, ast.Call) and (name := _constant(node)):
        yield Imported(name)


def _constant(call: ast.Call) -> str | None:
    """Return the module of `import_module("a.b")`; None for anything else."""
    if _called(call) not in _IMPORTERS or len(call.args) != 1 or call.keywords:
        return None
    value = call.args[0].value if isinstance(call.args[0], ast.Constant) else None
    return value if isinstance(value, str) and not value.startswith(".") else None


def _unresolved(node: ast.AST) -> Iterator[tuple[int, str]]:
    if isinstance(node, ast.Attribute) and node.attr in _SEARCH and _is_named(node.value, "sys"):
        yield node.lineno, f"uses sys.{node.attr}"
    if isinstance(node, ast.ImportFrom):
        # Under another name its calls would not be seen.
        yield from (
            (node.lineno, f"imports {node.module}.{alias.name}")
            for alias in node.names
            if _is_hidden(node.module or "", alias)
        )
    if not isinstance(node, ast.Call):
        return
    name = _called(node)
    if (name in _IMPORTERS and _constant(node) is None) or name in _DYNAMIC:
        yield node.lineno, f"calls {name}"


def _is_hidden(module: str, alias: ast.alias) -> bool:
    if module == "sys":
        return alias.name in _SEARCH
    is_importer = module.partition(".")[0] in ("importlib", "runpy", "pkgutil", "builtins")
    return is_importer and bool(alias.asname) and alias.name in _DYNAMIC | _IMPORTERS


def _called(call: ast.Call) -> str:
    function = call.func
    if isinstance(function, ast.Name):
        return function.id
    is_method = isinstance(function, ast.Attribute) and function.attr not in _BUILT_IN
    return function.attr if is_method and isinstance(function, ast.Attribute) else ""


def _is_named(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _exported(node: ast.stmt) -> Iterator[str]:
    targets = node.targets if isinstance(node, ast.Assign) else []
    if any(_is_named(target, "__all__") for target in targets):
        assert isinstance(node, ast.Assign)
        for part in ast.walk(node.value):
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                yield part.value
