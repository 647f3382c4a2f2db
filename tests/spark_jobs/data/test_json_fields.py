"""A time in JSON must be a timestamp: a number has no unit, and the run would fail at it."""

import pytest

from headgate.errors import CaptureError
from headgate.spark_jobs.data.json_fields import json_kind
from headgate.spark_jobs.data.replay_query import result_time

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def rows(spark):
    return spark.range(3).selectExpr("string(id) AS k", "id AS n", "timestamp_seconds(id) AS ts")


@pytest.mark.parametrize(
    ("columns", "field", "kind"),
    [
        (["to_json(struct(n AS at)) AS value"], "at", "bigint"),
        (["k AS key", "CAST(to_json(struct(*)) AS BINARY) AS value"], "ts", "timestamp"),
        (["to_json(struct(struct(n AS at) AS meta)) AS value"], "meta.at", "bigint"),
        (["to_json(struct(n AS at)) AS value"], "nothing", None),
        (["k AS value"], "at", None),
        (["k"], "at", None),
    ],
)
def test_the_type_of_a_field_is_that_of_the_column_it_is_made_of(rows, columns, field, kind):
    assert json_kind(rows.selectExpr(*columns), field) == kind
    above = rows.selectExpr(*columns).where("true").select("*")
    assert json_kind(above, field) == kind


def test_a_number_in_json_is_no_time(rows):
    made = rows.selectExpr("to_json(struct(n AS at, ts)) AS value")
    with pytest.raises(CaptureError, match=r"value\.at is bigint, so its unit is unknown"):
        result_time(made, "value.at", [])
    assert result_time(made, "value.ts", []) is not None
