"""Read the expressions that Spark prints, and write them so that equal text is equal meaning."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from headgate.parse.spark.expression.aggregate_functions import is_call
from headgate.parse.spark.expression.rewrite import rewrite
from headgate.parse.spark.expression.term import Term, term

_TOKEN = re.compile(r"[()\[\]{},]|[^\s()\[\]{},]+")
_ATTRIBUTE = re.compile(
    r"^(?P<minus>-?)(?P<name>[^#]*)#(?P<id>\d{1,18})L?(?:-T\d+ms)?(?P<path>(?:\.[^.#]+)*)$"
)
# By far the most expressions are no more than a column.
_COLUMN = re.compile(r"^(?P<name>[A-Za-z_]\w*)#(?P<id>\d{1,18})L?(?:-T\d+ms)?$")
# By far the most others are a function of one, `isnotnull(k#1)`, or that in normal form.
_CALL = re.compile(
    r"^(?P<head>[A-Za-z_]\w*)\((?:(?P<name>[A-Za-z_]\w*)#(?P<id>\d{1,18})L?(?:-T\d+ms)?"
    r"|(?P<word>[^\s()\[\]{},#']+))\)$"
)
_AFTER = re.compile(r"^(?:#(?P<id>\d{1,18})L?(?:-T\d+ms)?)?(?P<path>(?:\.[^.#]+)*)$")
_REFERENCE = re.compile(r"#(\d{1,18})")
_CLOSE = {")": "(", "]": "[", "}": "{"}
OPERATORS = frozenset(
    [
        "=",
        "==",
        "<=>",
        "<",
        "<=",
        ">",
        ">=",
        "+",
        "-",
        "*",
        "/",
        "%",
        "div",
        "AND",
        "OR",
        "&",
        "|",
        "^",
        "||",
        "IN",
        "INSET",
        "LIKE",
        "ILIKE",
        "RLIKE",
    ]
)
# Spark prints these without brackets of their own, all other operators with them.
_BARE = frozenset(["IN", "INSET", "LIKE", "ILIKE", "RLIKE"])
_COMPARING = frozenset(["=", "==", "<=>", "<", "<=", ">", ">="])
_EMPTY = term("raw", "")
_PADDED = re.compile(r"^(INTERVAL '-?)0+(?=\d)")
# A name that analysis has not resolved yet has a quote before it.
_UNRESOLVED = re.compile(r"^'(?=[^\W\d][^']*$)")
_MOST_WORDS = 60
Resolve = Callable[[int, str], Term | None]
# No query is written so; what is, would cost minutes.
_MOST_BRACKETS = 20_000


@dataclass(slots=True)
class _Frame:
    """An open bracket: what stood before it, the items that are done and the one being read."""

    opener: str
    head: Term | str | None
    start: int
    items: list[Term] = field(default_factory=list)
    atoms: list[Term | str] = field(default_factory=list)
    cast_at: int | None = None
    depth: int = 0


def references(text: str) -> frozenset[int]:
    """Return the attribute numbers that `text` mentions."""
    return frozenset(map(int, _REFERENCE.findall(text)))


def parse(text: str, resolve: Resolve | None = None) -> Term:
    """Return the expression in `text`; attributes that `resolve` knows are replaced.

    Never fails: what isn't an expression becomes a `raw` term that keeps its words.
    """
    look = resolve or _itself
    if (found := _at_once(text, look)) is not None:
        return found
    stack = [_Frame("", None, 0)]
    end = -1
    for match in _TOKEN.finditer(text):
        token = match.group()
        start, stop = match.span()
        frame = stack[-1]
        if frame.cast_at is not None and _in_type(frame, token):
            pass
        elif token in "([{":
            stack.append(_open(frame, token, start, glued=start == end))
        elif token in _CLOSE:
            _close(stack, text, start)
        elif token == ",":
            frame.items.append(_reduce(frame.atoms))
            frame.atoms = []
        elif start == end and _continues(frame, token, look):
            pass
        else:
            _word(frame, token, stop, look)
        end = stop
    while len(stack) > 1:
        _close(stack, text, len(text))
    return _finish(stack[0])


def _at_once(text: str, look: Resolve) -> Term | None:
    """Return a column, a call or a text with too many brackets; None if it has to be read."""
    if match := _COLUMN.match(text):
        number, name = int(match["id"]), match["name"]
        return look(number, name) or term("attribute", name, id=number)
    if (match := _CALL.match(text)) and match["head"] not in OPERATORS and match["word"] != "as":
        return _call(match, look)
    if text.count("(") + text.count("[") > _MOST_BRACKETS:
        return term("raw", text)
    return None


def _call(match: re.Match[str], look: Resolve) -> Term:
    """Return a call of one column or one word."""
    head, name, number, word = match.groups()
    if word is not None:
        return rewrite(term("call", head, (term("literal", word),)))
    found = look(int(number), name) or term("attribute", name, id=int(number))
    return rewrite(term("call", head, (found,)))


def _in_type(frame: _Frame, token: str) -> bool:
    """Whether `token` belongs to the type of a cast, whose own brackets are counted."""
    if token in "([{":
        frame.depth += 1
    elif token in _CLOSE:
        frame.depth -= 1
        return frame.depth >= 0
    return True


def _itself(_number: int, _name: str) -> Term | None:
    return None


def _finish(frame: _Frame) -> Term:
    if frame.atoms or not frame.items:
        frame.items.append(_reduce(frame.atoms))
    if len(frame.items) == 1:
        return frame.items[0]
    return term("raw", ", ".join(i.text for i in frame.items), tuple(frame.items))


def _open(frame: _Frame, token: str, start: int, *, glued: bool) -> _Frame:
    """Begin a bracket; a word or term directly before it is what is called or indexed."""
    head: Term | str | None = None
    if glued and frame.atoms:
        last = frame.atoms[-1]
        if (token == "(" and not (isinstance(last, str) and last in OPERATORS)) or (
            token == "[" and isinstance(last, Term)
        ):
            head = frame.atoms.pop()
    return _Frame(token, head, start)


def _close(stack: list[_Frame], text: str, at: int) -> None:
    """End the innermost bracket; one that was never opened is passed over."""
    if len(stack) == 1:
        return
    frame = stack.pop()
    if frame.atoms:
        frame.items.append(_cast(frame, text[frame.cast_at : at]))
    elif frame.items:
        # An empty text prints as nothing: `coalesce(d#1, )`.
        frame.items.append(_EMPTY)
    stack[-1].atoms.append(_group(frame))


def _cast(frame: _Frame, kind: str) -> Term:
    inner = _reduce(frame.atoms)
    return inner if frame.cast_at is None else rewrite(term("cast", kind.strip(), (inner,)))


def _group(frame: _Frame) -> Term:
    if frame.head is None and frame.opener == "(" and len(frame.items) == 1:
        return frame.items[0]
    items = tuple(frame.items)
    if isinstance(frame.head, Term):
        if frame.opener == "[":
            index = items[0] if items else term("raw", "")
            return term("item", "", (frame.head, index))
        return rewrite(term("call", frame.head.text, items))
    if isinstance(frame.head, str):
        if frame.cast_at is not None and items:
            return items[-1]
        return rewrite(term("call", frame.head, items))
    return term("list", "", items)


def _continues(frame: _Frame, token: str, look: Resolve) -> bool:
    """Take `#12` or `.field` that follows a bracket directly; return whether it was that."""
    if token[0] not in "#." or not frame.atoms or not isinstance(frame.atoms[-1], Term):
        return False
    after = _AFTER.match(token)
    if after is None:
        return False
    last = frame.atoms.pop()
    assert isinstance(last, Term)
    if after["id"] is not None:
        number = int(after["id"])
        last = look(number, last.text) or (_named_like_a_call(last, number) or last)
    frame.atoms.append(_path(last, after["path"]))
    return True


def _named_like_a_call(found: Term, number: int) -> Term | None:
    """Return `upper(k)#12` as the column that it is: a call of columns has their numbers within.

    Aggregations name their results like that, and there the function is what counts.
    """
    stack = [found]
    while stack:
        current = stack.pop()
        if current.kind == "attribute" or is_call(current):
            return None
        stack.extend(current.args)
    return term("attribute", found.text, id=number) if found.kind == "call" else None


def _word(frame: _Frame, token: str, end: int, look: Resolve) -> None:
    match = _ATTRIBUTE.match(token) if "#" in token else None
    if match is None:
        token = _UNRESOLVED.sub("", token) if token[0] == "'" else token
        if token == "as" and frame.opener == "(" and frame.head in ("cast", "try_cast"):
            frame.cast_at = end
        else:
            frame.atoms.append(token)
        return
    minus, name, digits, path = match.groups()
    number, name = int(digits), name.lstrip("'")
    if not name and frame.atoms and isinstance(frame.atoms[-1], str):
        name = str(frame.atoms.pop())
    found = look(number, name) or term("attribute", name, id=number)
    found = _path(found, path) if path else found
    frame.atoms.append(term("call", "-", (found,)) if minus else found)


def _path(base: Term, path: str) -> Term:
    for part in path.split(".")[1:]:
        base = term("field", part, (base,))
    return base


def _as_term(atom: Term | str) -> Term:
    return atom if isinstance(atom, Term) else term("literal", atom)


def _reduce(atoms: list[Term | str]) -> Term:
    """Make one term of the words between two commas."""
    if len(atoms) == 1:
        return _as_term(atoms[0])
    if len(atoms) == 3 and isinstance(atoms[0], Term) and atoms[1] in OPERATORS:
        # What most brackets hold needs no search for its operator.
        return rewrite(term("binary", str(atoms[1]), (atoms[0], _as_term(atoms[2]))))
    if not atoms:
        return _EMPTY
    if len(atoms) == 2 and atoms[1] in _COMPARING:
        return rewrite(term("binary", str(atoms[1]), (_as_term(atoms[0]), _EMPTY)))
    if len(atoms) > _MOST_WORDS:
        return _raw(atoms)
    if len(atoms) > 2 and atoms[-2] == "AS":
        return _reduce(atoms[:-2])
    return _by_first_word(atoms) or _binary(atoms) or _raw(atoms)


def _by_first_word(atoms: list[Term | str]) -> Term | None:
    """Return the term that a keyword begins; None if none does."""
    match atoms[0]:
        case "CASE":
            return rewrite(term("case", "", _case(atoms)))
        case "NOT" if _operator(atoms) is None:
            return term("not", "", (_reduce(atoms[1:]),))
        case "distinct":
            return term("distinct", "", (_reduce(atoms[1:]),))
        case "WHERE":
            return _reduce(atoms[1:])
        case "if" if len(atoms) >= 5 and "else" in atoms:
            split = atoms.index("else")
            parts = (_as_term(atoms[1]), _reduce(atoms[2:split]), _reduce(atoms[split + 1 :]))
            return term("case", "", parts)
        case Term() as first if atoms[1] == "FILTER" and len(atoms) == 3:
            return term("filter", "", (first, _as_term(atoms[2])))
    return None


def _binary(atoms: list[Term | str]) -> Term | None:
    position = _operator(atoms)
    if position is None:
        return None
    sides = (_reduce(atoms[:position]), _reduce(atoms[position + 1 :]))
    return rewrite(term("binary", str(atoms[position]), sides))


def _operator(atoms: list[Term | str]) -> int | None:
    """Return the index of the operator that joins the words, None without one.

    A bracket holds one operator, but for the bare ones and `NOT`, which bind more closely:
    `(NOT a IN (1) AND b)` is `((NOT (a IN (1))) AND b)`, as `NOT (a AND b)` has brackets.
    """
    indices = [n for n in range(1, len(atoms) - 1) if atoms[n] in OPERATORS]
    if not indices or atoms[indices[0]] not in _BARE:
        return next(iter(indices), None)
    joints = (n for n in indices if atoms[n] in ("AND", "OR"))
    return next(joints, None if atoms[0] == "NOT" else indices[0])


def _raw(atoms: list[Term | str]) -> Term:
    if isinstance(atoms[-1], Term) and all(isinstance(a, str) for a in atoms[:-1]):
        last = atoms[-1]
        if last.kind == "attribute":
            return term("attribute", " ".join(map(str, atoms[:-1])) + f" {last.name}", id=last.id)
    parts = tuple(a for a in atoms if isinstance(a, Term))
    text = " ".join(a if isinstance(a, str) else a.text for a in atoms)
    return term("raw", _PADDED.sub(r"\1", text), parts)


def _case(atoms: list[Term | str]) -> tuple[Term, ...]:
    """Return condition, value, condition, value, ..., else of a `CASE WHEN ... END`."""
    parts: list[list[Term | str]] = []
    inside = 0
    for atom in atoms[1:]:
        # A value may be a CASE itself, without parentheses.
        inside += (atom == "CASE") - (atom == "END")
        if inside < 0:
            break
        if inside == 0 and isinstance(atom, str) and atom in ("WHEN", "THEN", "ELSE"):
            parts.append([])
        elif parts:
            parts[-1].append(atom)
    return tuple(map(_reduce, parts))
