import pytest

from headgate.parse.spark.expression.labels import readable
from headgate.parse.spark.expression.parse import parse

ORDER = "from_json(StructField(city,StringType,true), cast(s0.value as string), Some(UTC), false)"
MORE = ORDER.replace("from_json(", "from_json(StructField(tier,StringType,true), ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("s0.city", "city"),
        (f"{ORDER}.city", "city"),
        ("sum(cast(s0.amount as bigint))", "sum(amount)"),
        ("count(1)", "count"),
        ("window(s0.ts, 60000000, 60000000, 0)", "window 1 min"),
        ("window(s0.ts, 1500000, 1500000, 0)", "window 1500000 µs"),
        ("union(s0.v, s1.v)", "v"),
        ("NOT (s0.status = cancelled)", "not (status = cancelled)"),
        ("op1.count(1)", "count(…)"),
    ],
)
def test_an_expression_is_said_in_few_words(text, said):
    assert readable(parse(text)) == said


def test_a_field_of_parsed_json_means_the_same_whatever_else_is_parsed():
    assert parse(f"{ORDER}.city").text == parse(f"{MORE}.city").text
    assert parse(f"{ORDER}.city").text != parse(f"{ORDER}.tier").text
    assert parse(ORDER).text != parse(MORE).text
