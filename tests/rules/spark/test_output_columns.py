"""What differs between two outputs, and where nothing can be said."""

from dataclasses import replace
from typing import Any

from headgate.model.state_schema import Field, Schema
from headgate.rules.compare.compare_versions import compare
from headgate.rules.core.report import Outcome
from headgate.rules.spark.facts.output_columns import OutputChange, OutputChangeKind, output_changes
from rules.output_cases import BEFORE, FILES, ID, NAME, to_folder, to_topic

ADDRESS: dict[str, Any] = {
    "type": "struct",
    "fields": [
        {"name": "street", "type": "string", "nullable": True},
        {"name": "zip", "type": "integer", "nullable": True},
    ],
}


def nested(*fields):
    kind = {**ADDRESS, "fields": [f for f in ADDRESS["fields"] if f["name"] in fields]}
    lines = {"type": "array", "elementType": kind, "containsNull": True}
    return to_topic(Field("address", kind), Field("lines", lines))


def test_a_field_in_a_struct_and_in_a_list_is_named_by_its_path():
    changes = output_changes(nested("street", "zip"), nested("street"))
    gone = OutputChangeKind.GONE
    assert changes == (
        OutputChange(gone, "value", "address.zip", "integer", None),
        OutputChange(gone, "value", "lines[].zip", "integer", None),
    )


def test_a_struct_that_goes_as_a_whole_is_told_once():
    changes = output_changes(nested("street", "zip"), to_topic(ID))
    told = [(c.kind.value, c.path) for c in changes]
    assert told == [("gone", "address"), ("gone", "lines"), ("added", "id")]


def test_another_topic_or_an_unknown_output_is_no_change_of_fields():
    elsewhere = to_topic(ID)
    other = replace(elsewhere, sink=replace(elsewhere.sink, target="elsewhere"))
    unknown = replace(elsewhere, sink=replace(elsewhere.sink, schema=None))
    assert output_changes(BEFORE, other) == output_changes(BEFORE, unknown) == ()
    assert output_changes(replace(BEFORE, sink=None), BEFORE) == ()


def test_a_type_that_one_side_does_not_tell_is_no_other_type():
    assert output_changes(BEFORE, to_topic(ID, Field("total", None))) == ()


def test_another_writer_is_another_type_of_the_column():
    (change,) = output_changes(BEFORE, to_topic(ID, NAME, writer="to_avro"))
    assert (change.path, change.before, change.after) == ("value", "to_json", "to_avro")


def test_columns_of_the_paths_are_in_no_file():
    by_name = replace(FILES, sink=replace(FILES.sink, format="csv", partition_by=("name",)))
    moved = replace(by_name, sink=replace(by_name.sink, schema=Schema((NAME, ID))))
    assert compare(by_name, moved).findings == ()


def test_parquet_in_another_folder_is_not_mixed():
    text = Field("id", "string")
    elsewhere = to_folder(text, NAME, path="/other")
    assert "OUT006" not in {f.rule for f in compare(FILES, elsewhere).findings}
    wider = to_folder(Field("id", "decimal(20,0)"), NAME)
    assert compare(FILES, wider).outcome is Outcome.RESUMES
