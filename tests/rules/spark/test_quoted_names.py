"""Names in backticks: commas, brackets and calls in there are parts of the name."""

from headgate.rules.spark.facts.aggregation_buffers import buffers
from headgate.rules.spark.facts.expressions import (
    call_of,
    columns,
    functions,
    split_arguments,
    with_first_names,
    without_names,
)


def test_arguments_end_outside_of_names():
    assert split_arguments("s0.`f,g`, s0.`(h`, 1") == ["s0.`f,g`", "s0.`(h`", "1"]
    assert split_arguments("s0.`a``, b`, c") == ["s0.`a``, b`", "c"]
    assert call_of("max(s0.`close)`)") == ("max", "s0.`close)`")


def test_columns_and_functions_are_not_pieces_of_names():
    assert columns("(s0.`a.b` + s1.v)") == {"s0.`a.b`", "s1.v"}
    assert columns("max(s0.data.`City, State`)") == {"s0.data.`City, State`"}
    assert functions("upper(s0.`sum(v) nvl(`)") == {"upper"}
    assert with_first_names("nvl(s0.` nvl(`, s0.k)") == "coalesce(s0.` nvl(`, s0.k)"


def test_fields_of_structs_lose_no_piece_of_a_value():
    text = "named_struct(a, s0.`x, y`, b, s0.`(z`)"
    assert without_names(text) == "struct(s0.`x, y`, s0.`(z`)"


def test_a_buffer_keeps_the_name_as_it_is():
    (stored,) = buffers(["max(s0.`f,g`)"])
    assert str(stored) == "max(s0.`f,g`)"
