"""Half a character, which no text may hold, never gets into a version."""

import struct

import pytest

from headgate.parse.evidence.version_file import dump, load
from headgate.parse.spark.checkpoint.checkpoint import read_checkpoint
from headgate.parse.spark.checkpoint.state_schema import read_families
from headgate.text.json_text import read_json
from headgate.usecases.evidence.read_version import read_version


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r'"a\ud800b"', "a\ufffdb"),
        (r'"\udc00\uD800"', "\ufffd\ufffd"),
        (r'"\ud83e\uddf5"', "🧵"),
        (r'"\\ud800"', r"\ud800"),
        (b'{"a":1}', {"a": 1}),
    ],
)
def test_halves_become_marks(text, value):
    assert read_json(text) == value


def test_a_checkpoint_with_half_a_character():
    found = read_checkpoint({"metadata": rb'{"id":"a\ud800"}'}, {"metadata"}, source="ck")
    assert found.query_id == "a\ufffd"


def test_a_name_beyond_the_basic_plane_in_a_state_schema():
    """Java's `writeUTF` writes each half of such a character on its own, as three bytes."""

    def text(value):
        data = b"".join(
            struct.pack(">H", half)
            .decode("utf-16-be", "surrogatepass")
            .encode("utf-8", "surrogatepass")
            for half in struct.unpack(
                f">{len(value.encode('utf-16-be')) // 2}H", value.encode("utf-16-be")
            )
        )
        return struct.pack(">H", len(data)) + data

    field = '{"type":"struct","fields":[{"name":"🧵","type":"long","nullable":true,"metadata":{}}]}'
    (family,) = read_families(text("v1") + text(field) + text(field))
    assert [f.name for f in family.value.fields] == ["🧵"]


def test_a_file_whose_name_is_no_text(tmp_path):
    place = bytes(tmp_path / "plan") + b"\xff.txt"
    with open(place, "w") as stream:  # noqa: PTH123
        stream.write("== Physical Plan ==\nFileScan json [k#1]\n")
    for given in (str(tmp_path), str(tmp_path / "plan\udcff.txt")):
        version = read_version([given])
        assert load(dump(version), source="x") == version
        assert version.evidence[0].path.endswith("plan?.txt")
