"""Conditions as people write them: one mapping for each, nested with ``all``, ``any`` and ``not``.

    when:
      all:
        - number: {part: price, below: 100}
        - not: {text: sold out}

A mapping with several conditions means all of them. ``docs/sentinels.md`` lists every form.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from collections.abc import Mapping as NamedParts
from dataclasses import replace

from quire.errors import WatchError
from quire.sentinels.conditions import (
    PAGE_STATES,
    PICKS,
    SCOPES,
    All,
    AnyOf,
    Changed,
    Condition,
    Count,
    Fired,
    Move,
    NeverSeen,
    NewEntry,
    NewRecord,
    Not,
    Number,
    Operator,
    Similarity,
    State,
    Text,
    Unchanged,
)
from quire.sentinels.form.fields import MAX_DEPTH, Field
from quire.sentinels.parts.location import EMPTY_PAGE, evaluate
from quire.sentinels.parts.part import ASPECTS, Part

_COUNT = re.compile(r"""\s*count\(\s*(["'])(.*)\1\s*\)\s*(<=|>=|==|!=|<|>|=)\s*([0-9]{1,9})\s*""")
#: The words for moves of numbers and for comparisons of counts.
MOVES: dict[str, Move] = {
    "below": "below",
    "above": "above",
    "falls_below": "falls below",
    "rises_above": "rises above",
    "falls_by": "falls",
    "rises_by": "rises",
    "changes_by": "changes",
}
COUNTS: dict[str, Operator] = {
    "at_least": ">=",
    "at_most": "<=",
    "equals": "==",
    "not": "!=",
    "above": ">",
    "below": "<",
}
_PERCENT = re.compile(r"\s*([0-9]{1,15}(?:\.[0-9]{1,20})?)\s*(?:%|percent|per cent)\s*")

#: The parts of a watch by name; those without a name have only one, called ``""``.
Parts = NamedParts[str, Part]


def read_condition(field: Field, parts: Parts, depth: int = 0) -> Condition:
    """Read a condition.

    Raises:
        WatchError: a field is missing, has a wrong value, or does not exist.
    """
    if depth > MAX_DEPTH:
        raise field.wrong(f"conditions nested at most {MAX_DEPTH} deep")
    if isinstance(field.value, str):
        return _from_word(field, parts)
    mapping = field.mapping(f"a condition: {', '.join(READERS)}, all, any or not")
    found: list[Condition] = []
    entries = mapping.entries("a condition, or remove its name")
    inner = depth + (2 if len(entries) > 1 else 1)  # several conditions are an `all` around them
    for name, inside in entries:
        if name in ("all", "any"):
            each = tuple(
                read_condition(item, parts, inner) for item in inside.items("a list of conditions")
            )
            if not each:
                raise inside.wrong("one or more conditions")
            found.append(All(each) if name == "all" else AnyOf(each))
        elif name == "not":
            found.append(Not(read_condition(inside, parts, inner)))
        elif name in READERS:
            with inside.naming():
                found.append(READERS[name](inside, parts))
        else:
            mapping = field.mapping()
            for known in (*READERS, "all", "any", "not"):
                mapping.get(known)
            mapping.finish()
    if not found:
        raise field.wrong("a condition")
    return found[0] if len(found) == 1 else All(tuple(found))


def _from_word(field: Field, parts: Parts) -> Condition:
    """Read a condition that is only a text: ``changed``, or ``count("li") >= 3``."""
    text = field.text()
    if text == "changed":
        return _any_changed(parts)
    if _COUNT.fullmatch(text):
        return _count(field, parts)
    raise field.wrong("'changed', 'count(\"SELECTOR\") >= 3', or a mapping")


def _any_changed(parts: Parts) -> Condition:
    changed = tuple(Changed(part) for part in parts.values())
    return changed[0] if len(changed) == 1 else AnyOf(changed)


def _part(field: Field | None, parts: Parts, *, path: str, has: str = "text") -> Part:
    """Return the part that a condition names; the only one if it names none."""
    if field is None:
        if len(parts) > 1:
            names = ", ".join(parts)
            raise WatchError(
                f"{path}.part: expected one of {names}, found nothing", path=f"{path}.part"
            )
        part = next(iter(parts.values()))
    else:
        part = _named(field, parts)
    # Conditions read the text of a part, whatever else of it is watched.
    return part if has in part.watch else replace(part, watch=(*part.watch, "text"))


def _named(field: Field, parts: Parts) -> Part:
    if tuple(parts) == ("",):
        raise field.wrong("a watch with 'parts', or no name of a part here")
    return parts[field.choice(tuple(parts))]


def _changed(field: Field, parts: Parts) -> Condition:
    if field.value is True:
        return _any_changed(parts)
    mapping = field.mapping("true, or a mapping with 'part' and 'aspects'")
    aspects = mapping.get("aspects")
    named = mapping.get("part")
    mapping.finish()
    if named is None and aspects is None:
        raise field.wrong("'part' or 'aspects'")
    chosen = [_named(named, parts)] if named else list(parts.values())
    wanted = aspects.choices(ASPECTS) if aspects else ()
    changed = tuple(
        Changed(replace(part, watch=(*part.watch, *wanted)) if wanted else part, wanted)
        for part in chosen
    )
    return changed[0] if len(changed) == 1 else AnyOf(changed)


def _text(field: Field, parts: Parts) -> Condition:
    if isinstance(field.value, str):
        return Text(_part(None, parts, path=field.path), words=(field.text(),))
    mapping = field.mapping("a text, or a mapping with 'has' or 'matches'")
    has, matches = mapping.get("has"), mapping.get("matches")
    scope, every, named = mapping.get("in"), mapping.get("all"), mapping.get("part")
    mapping.finish()
    if (has is None) == (matches is None):
        raise field.wrong("either 'has' or 'matches'")
    return Text(
        _part(named, parts, path=field.path),
        scope.choice(SCOPES) if scope else "new",
        has.texts() if has else (),
        matches.text("a regular expression") if matches else "",
        all_words=every.flag() if every else False,
    )


def _number(field: Field, parts: Parts) -> Condition:
    mapping = field.mapping(f"a mapping with one of {', '.join(MOVES)}")
    moves = [(name, mapping.get(name)) for name in MOVES]
    given = [(name, value) for name, value in moves if value is not None]
    pick, named = mapping.get("pick"), mapping.get("part")
    mapping.finish()
    if len(given) != 1:
        raise field.wrong(f"exactly one of {', '.join(MOVES)}")
    name, value = given[0]
    percent = _PERCENT.fullmatch(value.value) if isinstance(value.value, str) else None
    if percent and name.endswith("_by"):
        than = Field(float(percent[1]), value.path).number(0)
    else:
        than = value.number(0) if name.endswith("_by") else value.number()
        percent = None
    return Number(
        _part(named, parts, path=field.path),
        MOVES[name],
        than,
        percent is not None,
        pick.choice(PICKS) if pick else "first",
    )


def _count(field: Field, parts: Parts) -> Condition:  # noqa: ARG001
    if isinstance(field.value, str):
        match = _COUNT.fullmatch(field.value)
        if match is None:
            raise field.wrong("'count(\"SELECTOR\") >= 3'")
        sign = "==" if match[3] == "=" else match[3]
        operator = next(each for each in COUNTS.values() if each == sign)
        return _checked_count(field, Count(match[2], operator, int(match[4])))
    mapping = field.mapping("a mapping with 'of' and 'at_least'")
    of = mapping.need("of", "a selector")
    limits = [(operator, mapping.get(name)) for name, operator in COUNTS.items()]
    given = [(operator, value) for operator, value in limits if value is not None]
    mapping.finish()
    if len(given) > 1:
        raise field.wrong(f"one of {', '.join(COUNTS)}")
    operator, limit = given[0] if given else (">=", None)
    than = limit.whole(0, 10**9) if limit else 1
    return _checked_count(of, Count(of.text("a selector"), operator, than))


def _checked_count(field: Field, count: Count) -> Count:
    with field.naming():
        if isinstance(evaluate(EMPTY_PAGE, count.selector), list):
            raise field.wrong("a selector of elements or attributes")
    return count


def _similarity(field: Field, parts: Parts) -> Condition:  # noqa: ARG001
    mapping = field.mapping("a mapping such as {structure: 0.8}")
    found: list[Condition] = []
    for measure in ("structure", "content"):
        below = mapping.get(measure)
        if below is not None:
            found.append(Similarity(measure, below.number(0, 1)))
    mapping.finish()
    if not found:
        raise field.wrong("'structure' or 'content' with a number from 0 to 1")
    return found[0] if len(found) == 1 else AnyOf(tuple(found))


def _never_seen(field: Field, parts: Parts) -> Condition:
    if field.value is True:
        return NeverSeen(_part(None, parts, path=field.path))
    return NeverSeen(_part(field, parts, path=field.path))


def _new_entry(field: Field, parts: Parts) -> Condition:  # noqa: ARG001
    if field.value is not True:
        raise field.wrong("true")
    return NewEntry()


def _new_record(field: Field, parts: Parts) -> Condition:
    named = None if field.value is True else field
    return NewRecord(_part(named, parts, path=field.path))


def _unchanged(field: Field, parts: Parts) -> Condition:  # noqa: ARG001
    return Unchanged(field.duration())


def _fired(field: Field, parts: Parts) -> Condition:  # noqa: ARG001
    if isinstance(field.value, str):
        return Fired(field.text())
    mapping = field.mapping("the name of a sentinel, or a mapping with 'sentinel' and 'within'")
    name, within = mapping.need("sentinel", "the name of a sentinel"), mapping.get("within")
    mapping.finish()
    return Fired(name.text(), within.duration() if within else None)


def _page(field: Field, parts: Parts) -> Condition:  # noqa: ARG001
    return State(field.choices(PAGE_STATES))


READERS: dict[str, Callable[[Field, Parts], Condition]] = {
    "changed": _changed,
    "text": _text,
    "number": _number,
    "count": _count,
    "similarity": _similarity,
    "never_seen": _never_seen,
    "new_entry": _new_entry,
    "new_record": _new_record,
    "unchanged": _unchanged,
    "fired": _fired,
    "page": _page,
}
