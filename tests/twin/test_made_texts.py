"""Texts are made for what takes them apart, and for nothing that can't be read as a pattern."""

import json
import re
from random import Random

import pytest

from headgate.twin.made_texts import (
    Parts,
    group_of,
    item_of,
    key_of,
    text_for,
    with_beginning,
)


def made(parts, draw=lambda _: "word", known=(), count=200):
    random = Random(7)
    return [text_for("line", parts, random, draw, known) for _ in range(count)]


@pytest.mark.parametrize(
    "pattern",
    [
        *(r"took=([0-9]+)ms", r"^(GET|POST) (/[^ ?]*)", r"(\d{4})-(\d\d)", r"\[(.*?)\]"),
        *(r"[^a-z0-9]+", r"(?i)bot|crawler", r"^([A-Z]{2})[0-9]{4,}$", r"(\w+) \1", r"\s"),
        *(r"[é-ü]", r"x{0}y", r"a.c"),
    ],
)
def test_a_pattern_finds_something_in_its_texts(pattern):
    texts = made(Parts(patterns={pattern}))
    assert texts and all(text is not None and re.search(pattern, text) for text in texts)


def test_groups_have_few_texts_so_that_rows_meet_in_a_key():
    pattern = r"service=([a-z]+)"
    found = {re.search(pattern, text)[1] for text in made(Parts(patterns={pattern}))}
    assert 4 <= len(found) <= 12


def test_a_group_has_what_the_query_compares_it_with():
    pattern = r"^[^ ]+ ([^ ]+)"
    name = group_of("line", pattern, 1)
    texts = made(
        Parts(patterns={pattern}), lambda asked: "ERROR" if asked == name else None, {name}
    )
    assert {re.search(pattern, text)[1] for text in texts} == {"ERROR"}


def test_a_text_that_a_group_can_not_have_is_not_forced_on_it():
    name = group_of("line", r"n=(\d+)", 1)
    texts = made(Parts(patterns={r"n=(\d+)"}), lambda _: "none", {name})
    assert texts and all(re.fullmatch(r"n=\d+", text) for text in texts)


def test_several_patterns_are_found_in_one_text():
    patterns = {r"^[^ ]+ ([^ ]+)", r"^[^ ]+ [^ ]+ ([^ ]+)", r"took=([0-9]+)ms"}
    assert all(re.search(p, text) for text in made(Parts(patterns=patterns)) for p in patterns)


def test_no_part_holds_the_separator():
    """A made word begins with the name of its part, which has the separator in it."""
    for separator in (",", " ", r"\|"):
        (text,) = made(Parts(splits={separator: 2}), lambda name: name, count=1)
        assert len(re.split(separator, text)) == 3


def test_items_between_separators_and_keys_of_json():
    (text,) = made(Parts(splits={"-": 2}), lambda name: name[-1], count=1)
    assert text == "0-1-2" and item_of("line", "-", 2)[-1] == "2"
    (text,) = made(Parts(keys={"a", "b"}), lambda name: name, count=1)
    assert json.loads(text) == {key: key_of("line", key) for key in "ab"}


@pytest.mark.parametrize("pattern", [r"\p{L}+", "(", "(?<=x)y", "a" * 600, r"(?P<n>"])
def test_without_a_text_there_is_none(pattern):
    assert made(Parts(patterns={pattern}), count=5) == [None] * 5


def test_a_beginning_is_taken_if_the_patterns_find_the_same():
    assert with_beginning("2026", "x=1", {"x=(.)"}) == "2026x=1"
    assert with_beginning("x=7", "a x=1", {r"x=(\d)"}) == "a x=1"
