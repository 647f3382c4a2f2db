"""Selectors: every operator on a graph drawn by hand, errors, and the laws of their algebra."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.errors import ParseError, SelectorError
from headgate.landscape.landscape import Landscape, LandscapeTopic
from headgate.landscape.selector import METHODS, find, quoted, select
from landscape.shop import INSIDE, TOPICS, of, shop

LAND = shop()
EVERYTHING = {n.id for n in LAND.nodes}


def topics(*names):
    return {f"topic:{n}" for n in names}


FOUND = {
    "": EVERYTHING,
    "*": EVERYTHING,
    "orders": topics("orders"),
    "enrich": of("enrich"),
    "totals": of("totals") | topics("totals"),
    "topic:totals": topics("totals"),
    "pipeline:totals": of("totals"),
    "fraud/match": {"fraud/match"},
    "node:fraud/match": {"fraud/match"},
    "node:'match of fraud'": {"fraud/match"},
    "orders enriched": topics("orders", "enriched"),
    "  orders   enriched ": topics("orders", "enriched"),
    "orders,enriched": set(),
    "kind:topic,orders*": topics("orders"),
    "topic:*s": topics("alerts", "orders", "payments", "totals"),
    "topic:?oop-in": topics("loop-in"),
    "topic:zzz*": set(),
    "+enriched": topics("orders", "enriched") | of("enrich"),
    "1+enriched": topics("enriched") | of("enrich"),
    "orders+1": topics("orders") | of("enrich") | of("archive"),
    "orders+2": topics("orders", "enriched") | of("enrich") | of("archive"),
    "orders+0": topics("orders"),
    "alerts+": topics("alerts") | {"group:pager"},
    "+alerts+": topics("orders", "enriched", "payments", "alerts") | of("enrich") | of("fraud")
    | {"group:pager"},
    "2+topic:totals": topics("enriched", "totals") | of("totals"),
    "totals/counts+": of("totals") - {"totals/source"} | topics("totals"),
    "@payments": topics("payments", "alerts", "enriched", "orders") | of("fraud") | of("enrich")
    | {"group:pager"},
    "loop-in+": topics("loop-in") | of("retry"),
    "owner:payments": of("fraud") | of("retry"),
    "owner:pay*": of("fraud") | of("retry"),
    "engine:kafka-streams": of("retry"),
    "engine:consumer-group": set(),
    "kind:state_store": {"totals/counts", "fraud/left"},
    "kind:pipeline": set().union(*map(of, INSIDE)),
    "kind:topic": topics(*TOPICS),
    "operator:match": {"fraud/match"},
    "group:pager": {"group:pager"},
    "group:retry-app": of("retry"),
    "retry-app": of("retry"),
    "status:running": of("fraud"),
    "status:stopped": set(),
    "state:unused": topics("spare"),
    "state:unread": topics("totals"),
    "state:unwritten": topics("orders", "payments"),
    "state:unowned": topics("app-7-counts-changelog"),
    "state:undeclared": {"group:pager"},
    "kind:sink,owner:sales": {"enrich/sink", "totals/sink"},
    "kind:state_store,payments+ spare": {"fraud/left"} | topics("spare"),
    '"orders"+1': topics("orders") | of("enrich") | of("archive"),
    "+'enriched'": topics("orders", "enriched") | of("enrich"),
    "topic:'orders'": topics("orders"),
    "99999999999999+enriched": topics("orders", "enriched") | of("enrich"),
}  # fmt: skip


@pytest.mark.parametrize("expression", FOUND)
def test_it_selects(expression):
    assert select(LAND, expression) == FOUND[expression]


def test_what_is_excluded_is_taken_away():
    assert select(LAND, "orders+", "owner:payments kind:group") == (
        topics("orders", "enriched", "totals", "alerts")
        | of("enrich") | of("archive") | of("totals")
    )  # fmt: skip
    assert select(LAND, "", "*") == set()


@pytest.mark.parametrize(
    ("expression", "position", "said"),
    [
        ("ordres", 1, "node has the name `ordres`. Similar names: orders"),
        ("orders ordres", 8, "Similar names: orders"),
        ("orders,topic:enrichd+", 14, "no topic has the name `enrichd`. Similar names: enriched"),
        ("+pipeline:fruad", 11, "no pipeline has the name `fruad`. Similar names: fraud"),
        ("owner:payment", 7, "no owner has the name `payment`. Similar names: payments"),
        ("onwer:payments", 1, "unknown method `onwer`. Similar: owner"),
        ("2+zzz:payments", 3, "Methods: topic, pipeline"),
        ("kind:stores", 6, "unknown value `stores`: expected source, transform"),
        ("engine:flink", 8, "expected spark, kafka-streams, consumer-group"),
        ("state:lost", 7, "expected unused, unread"),
        ("orders,", 8, "expected a name or METHOD:VALUE"),
        (",orders", 1, "expected a name or METHOD:VALUE"),
        ("orders , totals", 8, "expected a name or METHOD:VALUE"),
        ("topic:", 7, "expected a value after `topic:`"),
        ("orders topic:+2", 14, "expected a value after `topic:`"),
        ("+", 2, "expected a name next to `+` or `@`"),
        ("@", 2, "expected a name next to `+` or `@`"),
        ("@orders+", 8, "don't combine `@` with `+`"),
        ("@+orders", 2, "don't combine `@` with `+`"),
        ("@2+orders", 2, "don't combine `@` with `+`"),
        ('orders "ord', 8, 'missing closing quote "'),
        ("''", 1, "expected a name"),
        ("\0", 1, "has the name"),
    ],
)
def test_an_error_says_where_and_what(expression, position, said):
    with pytest.raises(SelectorError) as caught:
        select(LAND, expression)
    assert caught.value.position == position
    assert said in str(caught.value)
    assert f"position {position}: " in str(caught.value)
    assert isinstance(caught.value, ParseError)


def test_the_error_of_an_exclusion_points_into_it():
    with pytest.raises(SelectorError, match="selector `nope`, position 1"):
        select(LAND, "orders", "nope")


def test_one_thing_is_found_by_its_plain_name_too():
    assert find(LAND, "pipeline:totals") == of("totals")
    assert find(LAND, "node:'match of fraud'") == {"fraud/match"}
    odd = named("two words", "a+")
    assert find(odd, "a+") == {"topic:a+"}
    with pytest.raises(SelectorError, match="no pipeline, topic, group or node has the name"):
        find(LAND, "orders totals")


def test_every_method_is_explained():
    assert all(METHODS.values())
    for method in METHODS:
        assert isinstance(select(LAND, f"{method}:*"), frozenset)


def named(*names: str) -> Landscape:
    made = tuple(LandscapeTopic(id=f"topic:{n}", name=n) for n in names)
    template = next(n for n in LAND.nodes if n.id == "topic:spare")
    nodes = tuple(replace(template, id=f"topic:{n}", label=n) for n in names)
    return Landscape(nodes=nodes, topics=made)


HOSTILE = ["two words", "a,b", "c++", "+d", "e:f", 'say "hi"', "it's", "back\\slash", "*", "a?b",
           "@home", "2+2", "x+1", "<script>alert(1)</script>", "😀", "line\nbreak", "a+b",
           "n" * 5000, "\\", '"', "\\\"", "kind:topic", "ünïcode"]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_a_quoted_name_means_itself(name):
    land = named(*HOSTILE)
    assert select(land, quoted(name)) == {f"topic:{name}"}
    assert select(land, f"topic:{quoted(name)}") == {f"topic:{name}"}
    assert select(land, f"1+{quoted(name)}+2") == {f"topic:{name}"}


def test_many_stars_in_a_long_name_take_no_time():
    land = named("a" * 5000)
    assert select(land, "a*" * 40 + "b") == set()
    assert select(land, "*a" * 40) == {"topic:" + "a" * 5000}


# The laws. ---------------------------------------------------------------------------------

NAMES = st.sampled_from(["orders", "enriched", "fraud", "totals", "kind:sink", "owner:sales",
                         "state:unused", "topic:*s", "*", "loop-in", "fraud/left"])  # fmt: skip
STEPS = st.sampled_from(["", "0", "1", "2", "3"])


@st.composite
def factors(draw):
    name = draw(NAMES)
    if draw(st.integers(0, 9)) == 0:
        return f"@{name}"
    up = f"{draw(STEPS)}+" if draw(st.booleans()) else ""
    down = f"+{draw(STEPS)}" if draw(st.booleans()) else ""
    return f"{up}{name}{down}"


TERMS = st.lists(factors(), min_size=1, max_size=3).map(",".join)
EXPRESSIONS = st.lists(TERMS, min_size=1, max_size=3).map(" ".join)


@pytest.mark.slow
@given(EXPRESSIONS, EXPRESSIONS)
def test_a_space_is_the_union_and_order_does_not_matter(one, other):
    both = select(LAND, f"{one} {other}")
    assert both == select(LAND, one) | select(LAND, other) == select(LAND, f"{other} {one}")


@pytest.mark.slow
@given(TERMS, TERMS)
def test_a_comma_is_the_intersection(one, other):
    both = select(LAND, f"{one},{other}")
    assert both == select(LAND, one) & select(LAND, other) == select(LAND, f"{other},{one}")


@pytest.mark.slow
@given(TERMS, TERMS, TERMS)
def test_intersection_distributes_over_union(a, b, c):
    left = select(LAND, a) & select(LAND, f"{b} {c}")
    assert left == select(LAND, f"{a},{b} {a},{c}")


@pytest.mark.slow
@given(EXPRESSIONS, EXPRESSIONS)
def test_an_exclusion_is_the_difference(one, other):
    assert select(LAND, one, other) == select(LAND, one) - select(LAND, other)


@given(NAMES, st.integers(0, 5))
def test_more_steps_never_find_less(name, steps):
    for near, far in ((f"{name}+{steps}", f"{name}+{steps + 1}"),
                      (f"{steps}+{name}", f"{steps + 1}+{name}")):  # fmt: skip
        everything = select(LAND, f"+{name}+")
        assert select(LAND, name) <= select(LAND, near) <= select(LAND, far) <= everything


@given(NAMES)
def test_both_sides_are_each_side(name):
    assert select(LAND, f"+{name}+") == select(LAND, f"+{name}") | select(LAND, f"{name}+")
    assert select(LAND, f"@{name}") >= select(LAND, f"+{name}+")


@given(NAMES)
def test_to_go_on_from_everything_downstream_finds_nothing_new(name):
    below = select(LAND, f"{name}+")
    again = [select(LAND, f"node:{quoted(n)}+") for n in below]
    assert frozenset().union(*again) == below


@given(st.text(max_size=40) | st.text("+@:,'\"*? \\0a", max_size=20))
def test_any_text_selects_or_is_answered_in_one_sentence(text):
    try:
        found = select(LAND, text)
    except SelectorError as error:
        assert 1 <= error.position <= len(text) + 1
        assert str(error).startswith("selector `")
    else:
        assert found <= EVERYTHING


@given(st.text(min_size=1, max_size=30))
def test_quoting_any_name_finds_it(name):
    land = named(name, "another")
    assert select(land, quoted(name)) == {f"topic:{name}"}
