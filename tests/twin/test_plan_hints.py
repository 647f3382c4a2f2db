"""Literals, casts, equalities and intervals are found in plans as Spark writes them."""

import json
from pathlib import Path

import pytest

from headgate.twin.plan_hints import mine, takes_otherwise
from headgate.twin.row_hints import Hints
from headgate.twin.volatile_functions import volatile

ATTRIBUTE = "org.apache.spark.sql.catalyst.expressions.AttributeReference"
RELATION = "org.apache.spark.sql.execution.streaming.runtime.StreamingRelation"
EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions."
JVM = "00000000-0000-0000-0000-000000000001"


def column(number):
    return {"class": ATTRIBUTE, "num-children": 0, "exprId": {"id": number, "jvmId": JVM}}


def literal(value, kind="string"):
    return {
        "class": EXPRESSIONS + "Literal", "num-children": 0, "value": value, "dataType": kind
    }  # fmt: skip


def call(kind, /, *children, **fields):
    node = {"class": EXPRESSIONS + kind, "num-children": len(children), **fields}
    return [
        node,
        *(n for child in children for n in (child if isinstance(child, list) else [child])),
    ]


def study(node, text="", constants=(), **fields):
    """A study of a stream with the columns k (1) and v (2), and one node above it."""
    ids = {f"{n} {JVM}": name for n, name in ((1, "k"), (2, "v"))}
    schema = {"fields": [{"name": n, "type": "string"} for n in ("k", "v")]}
    above = {"class": f"org.apache.spark.sql.catalyst.plans.logical.{node}", "num-children": 1}
    return {
        "sources": [{"folder": "in", "kind": "json", "is_streaming": True}],
        "leaves": [{"folder": "in", "schema": schema, "ids": ids}],
        "plan": [above | fields, {"class": RELATION, "num-children": 0}],
        "text": text,
        "constants": list(constants),
    }


def mined(*args, **fields):
    hints = Hints()
    mine(study(*args, **fields), hints)
    return hints


def test_what_a_filter_compares_a_column_with():
    found = mined("Filter", condition=call("EqualTo", column(1), literal("paid")))
    assert found.literals == {"stream:k": {("paid", "string")}}


def test_columns_that_are_equal_share_a_domain():
    found = mined("Filter", condition=call("EqualTo", column(1), column(2)))
    assert found.domain("stream:v") == found.domain("stream:k") == "stream:k"


def subquery(kind, *above):
    """A subquery over a table with the column code (7); `above` are the plan's nodes over it."""
    return call(kind, plan=[*above, {"class": RELATION, "num-children": 0}])


def over(node, **fields):
    return {"class": f"{RELATION.rpartition('.')[0]}.{node}", "num-children": 1, **fields}


@pytest.mark.parametrize(
    "condition",
    [
        call(
            "InSubquery",
            column(1),
            subquery("ListQuery", over("Project", projectList=[[column(7)]])),
        ),
        call(
            "Not",
            subquery(
                "Exists",
                over(
                    "Filter",
                    condition=call("EqualTo", column(7), call("OuterReference", e=[column(1)])),
                ),
            ),
        ),
    ],
    ids=("in", "not exists"),
)
def test_a_column_of_a_subquery_s_table_shares_the_values_that_it_is_compared_with(condition):
    found, asked = Hints(), study("Filter", condition=condition)
    table = {"folder": "codes", "schema": {"fields": []}, "ids": {f"7 {JVM}": "code"}}
    mine(asked | {"leaves": [*asked["leaves"], table]}, found)
    assert found.domain("codes:code") == "stream:k"


@pytest.mark.parametrize("lookup", ["GetMapValue", "ElementAt"])
def test_the_keys_of_a_map_that_a_column_is_looked_up_in(lookup):
    classes = call("CreateMap", literal("smoke"), literal("F"), literal("flood"), literal("T"))
    found = mined("Project", projectList=[call(lookup, classes, column(1))])
    assert found.literals == {"stream:k": {("smoke", "string"), ("flood", "string")}}


def test_where_a_query_looks_for_nulls():
    found = mined("Filter", condition=call("Or", call("IsNull", column(1)), literal("x")))
    assert found.nulls == {"stream:k"}


@pytest.mark.parametrize(
    ("expression", "read"),
    [
        (call("Cast", column(1), dataType="integer"), "integer"),
        (call("ParseToDate", column(1)), "date"),
        (call("ParseToTimestamp", column(1), literal("dd/MM/yyyy")), "format:dd/MM/yyyy"),
        (call("JsonToStructs", column(1), schema={"type": "struct"}), {"type": "struct"}),
    ],
)
def test_how_text_is_read(expression, read):
    found = mined("Project", projectList=[expression])
    assert found.conversions == {"stream:k": read}


def test_a_field_of_parsed_json_is_a_column_of_its_own():
    parsed = call("JsonToStructs", column(1), schema={"type": "struct"})
    city = call("GetStructField", parsed, name="city")
    found = mined("Filter", condition=call("EqualTo", city, literal("Rome")))
    assert found.literals["stream:k.city"] == {("Rome", "string")}


def split(separator, index):
    return call("GetArrayItem", call("StringSplit", column(1), literal(separator)), literal(index))


@pytest.mark.parametrize(
    ("expression", "name", "parts"),
    [
        (
            call("RegExpExtract", column(1), literal("n=(.)"), literal(1)),
            "stream:k~n=(.)~1",
            {"patterns": ["n=(.)"]},
        ),
        (
            call("GetJsonObject", column(1), literal("$.map")),
            "stream:k~json~map",
            {"keys": ["map"]},
        ),
        (split(" ", "4"), "stream:k~split  ~4", {"splits": {" ": 4}}),
        (
            call("SubstringIndex", column(1), literal("|"), literal("1")),
            r"stream:k~split \|~0",
            {"splits": {r"\|": 1}},
        ),
    ],
)
def test_a_part_of_a_text_is_a_column_of_its_own(expression, name, parts):
    found = mined("Filter", condition=call("EqualTo", expression, literal("paid")))
    assert found.literals == {name: {("paid", "string")}}
    empty = {"patterns": [], "searched": [], "splits": {}, "keys": [], "must_have": False}
    assert found.plain()["parts"] == {"stream:k": empty | parts}


@pytest.mark.parametrize("fails", [True, False])
def test_a_query_that_fails_on_a_missing_part(fails):
    array = call("StringSplit", column(1), literal(","))
    part = call("GetArrayItem", array, literal("1", "integer"), failOnError=fails)
    assert mined("Filter", condition=call("IsNotNull", part)).parts["stream:k"].must_have is fails


def test_a_line_of_csv_has_parts_of_types():
    types = ("string", "integer")
    schema = {"fields": [{"name": n, "type": t} for n, t in zip("ab", types, strict=True)]}
    line = call("CsvToStructs", column(1), schema=schema)
    part = call("GetStructField", line, name="b", ordinal=1)
    found = mined("Filter", condition=call("EqualTo", part, literal("3", "integer")))
    assert found.literals["stream:k~split ,~1"] == {("3", "integer")}
    assert found.conversions == {"stream:k~split ,~1": "integer"}
    assert found.parts["stream:k"].splits == {",": 1}


def test_a_cast_of_what_nullif_leaves():
    part = split(",", "2")
    # Spark's own expression, with the text that it compares as a definition of its own.
    made = call("With", call("If", call("IsNull", column(2)), literal(None), column(2)))
    found = mined(
        "Project", projectList=[call("Cast", call("NullIf", made, left=part), dataType="int")]
    )
    assert found.conversions == {"stream:k~split ,~2": "int"}


def test_what_is_searched_and_what_is_divided_by():
    found = mined("Filter", condition=call("RLike", column(1), literal("a+")))
    assert found.parts["stream:k"].searched == {"a+"}
    assert mined("Filter", condition=call("Divide", column(1), column(2))).divisors == {"stream:v"}


def test_two_versions_that_take_a_text_apart_in_different_ways():
    def by(*expressions):
        return [study("Filter", condition=call("IsNotNull", e)) for e in expressions]

    pattern = call("RegExpExtract", column(1), literal("(.*) "), literal(1))
    assert takes_otherwise(by(pattern, split(" ", "0")))
    assert not takes_otherwise(by(pattern, pattern))
    assert not takes_otherwise(by(pattern, call("IsNull", column(2))))


def test_intervals_of_the_text_and_words_of_functions():
    found = mined("Filter", text="delay 10 minutes, interval 30 seconds", constants=("gold", "k"))
    assert found.intervals == {600, 30}
    assert found.words == {"gold"}


def now(name):
    return call("Alias", *[call("CurrentTimestamp")], name=name,
                exprId={"id": 9, "jvmId": JVM})  # fmt: skip


def test_a_column_of_time_is_left_out_and_a_key_of_time_is_not_judged():
    carried = study("Project", projectList=[now("seen")])
    assert volatile([carried]) == (None, frozenset({"seen"}))
    grouped = study("Aggregate", groupingExpressions=[call("CurrentTimestamp")])
    assert volatile([grouped]) == ("current_timestamp()", frozenset())


RECORDED = Path(__file__).parents[1] / "cases" / "spark"


def test_recorded_plans_are_mined_without_an_error():
    plans = sorted(RECORDED.glob("*/before/logical.json"))[:60]
    assert len(plans) > 40
    for path in plans:
        known = {"sources": [], "leaves": [], "text": "", "constants": []}
        mine(known | {"plan": json.loads(path.read_text())}, Hints())


@pytest.mark.parametrize(
    ("key", "seconds"),
    [
        (call("DateFormatClass", column(1), literal("yyyy-MM-dd HH")), 3600),
        (call("DateFormatClass", column(1), literal("yyyy-MM")), 30 * 86_400),
        (call("TruncTimestamp", literal("DAY"), column(1)), 86_400),
        (call("Hour", column(1)), 3600),
        (call("Cast", column(1) | {"dataType": "timestamp"}, dataType="date"), 86_400),
        (
            call(
                "Cast", call("FromUTCTimestamp", column(1), literal("Asia/Tokyo")), dataType="date"
            ),
            86_400,
        ),
        (call("ParseToDate", column(1)), 86_400),
    ],
)
def test_a_key_that_cuts_times_spreads_them_over_several_keys(key, seconds):
    assert mined("Aggregate", groupingExpressions=[key]).intervals == {seconds}
    assert mined("Project", projectList=[key]).intervals == set()


def test_a_zone_is_no_format():
    zoned = call("FromUTCTimestamp", column(1), literal("Asia/Tokyo"))
    found = mined(
        "Project", projectList=[call("ParseToDate", call("Cast", zoned, dataType="date"))]
    )
    assert found.conversions == {"stream:k": "date"}


def test_streams_of_kafka_have_a_value_each():
    first = study("Filter", condition=call("EqualTo", column(1), literal("paid")))
    first["sources"] = [
        {"folder": name, "kind": "kafka", "is_streaming": True} for name in ("in", "in2")
    ]
    hints = Hints()
    mine(first, hints)
    assert hints.literals == {"in:k": {("paid", "string")}}
    assert hints.prefix("in2", is_streaming=True) == "in2"
    assert hints.prefix("other", is_streaming=True) == "stream"


def test_a_field_that_a_star_selects_is_found_by_its_number():
    struct = {"type": "struct", "fields": [{"name": "a"}, {"name": "cents"}]}
    field = call("GetStructField", column(2) | {"dataType": struct}, ordinal=1)
    found = mined("Filter", condition=call("GreaterThan", field, literal("100", "long")))
    assert found.literals == {"stream:v.cents": {("100", "long")}}


def parsed(*formats):
    texts = [call("ParseToTimestamp", column(1), literal(f)) for f in formats]
    return study("Project", projectList=[call("Coalesce", *texts)])


@pytest.mark.parametrize(
    ("before", "after", "formats"),
    [
        (("y",), ("y", "d.M.y"), ["format:y", "format:d.M.y"]),
        (("y", "d.M.y"), ("y",), ["format:y", "format:d.M.y"]),
        (("y",), ("d.M.y",), ["format:d.M.y"]),
    ],
    ids=("one more", "one less", "another"),
)
def test_times_that_both_versions_read_are_in_all_their_formats(before, after, formats):
    found = Hints()
    for version in (before, after):
        mine(parsed(*version), found)
    assert found.formats == {"stream:k": formats}


def number(kind):
    return column(2) | {"dataType": kind}


@pytest.mark.parametrize(
    ("expression", "read"),
    [
        (call("MillisToTimestamp", number("long")), "since 1970:1000"),
        (call("SecondsToTimestamp", number("long")), "since 1970:1"),
        (call("Cast", number("long"), dataType="timestamp"), "since 1970:1"),
        (
            call(
                "SecondsToTimestamp",
                call("Add", column(1) | {"dataType": "integer"}, number("long")),
            ),
            "since 1970:1",
        ),
        (
            call(
                "Cast",
                call(
                    "Divide",
                    call("Cast", number("long"), dataType="double"),
                    call("Cast", literal("1000", "integer"), dataType="double"),
                ),
                dataType="timestamp",
            ),
            "since 1970:1000",
        ),
        (call("Cast", number("string"), dataType="timestamp"), "timestamp"),
        (call("MakeDate", number("integer"), literal("1", "integer")), "part:year"),
        (
            call(
                "MakeTimestamp",
                *(literal("1", "integer"),) * 3,
                call("Cast", number("long"), dataType="integer"),
            ),
            "part:hour",
        ),
    ],
)
def test_numbers_that_are_read_as_times(expression, read):
    found = mined("Filter", condition=call("IsNotNull", expression))
    assert found.conversions == {"stream:v": read}


def test_a_text_of_two_columns_has_a_part_of_the_time_in_each():
    text = call("FormatString", literal("%d.%d"), column(2), column(1))
    parsed_text = call("ParseToTimestamp", text, literal("M.y"))
    found = mined("Filter", condition=call("IsNotNull", parsed_text))
    assert found.conversions == {"stream:v": "part:month", "stream:k": "part:year"}
    assert not found.formats


def test_a_part_by_its_number_is_that_of_a_split_by_its_text():
    split = call("StringSplitSQL", column(1), literal("-"))
    found = mined("Filter", condition=call("ElementAt", split, literal("1", "integer")))
    other = mined(
        "Filter",
        condition=call(
            "GetArrayItem",
            call("StringSplit", column(1), literal("-")),
            literal("0", "integer"),
        ),
    )
    assert found.parts == other.parts


def test_texts_that_are_compared_in_one_case():
    found = mined("Filter", condition=call("EqualTo", call("Upper", column(1)), column(2)))
    assert list(found.cases.values()) == ["upper"]
