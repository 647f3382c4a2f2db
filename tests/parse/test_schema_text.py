"""Types as one word, also of a shape that Spark never wrote."""

import pytest

from headgate.model.state_schema import type_text


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ({"type": "struct", "fields": [{"name": "a", "type": "long"}]}, "struct<a:long>"),
        ({"type": "struct", "fields": [3, {"name": "a"}]}, "struct<a:?>"),
        ({"type": "struct", "fields": 3}, "struct<>"),
        ({"type": "map", "keyType": "string", "valueType": 3}, "map<string,3>"),
    ],
)
def test_types(kind, said):
    assert type_text(kind) == said


def test_a_type_without_end():
    kind = "long"
    for _ in range(5000):
        kind = {"type": "array", "elementType": kind}
    assert "array<array<?" in type_text(kind)
