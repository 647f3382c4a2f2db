"""Which schema files of a transformWithState count, as Spark 4.2.0 lists them."""

from headgate.model.state_schema import Field, Schema
from headgate.parse.spark.checkpoint.state_schema import Family, history, listed_files

FIRST, SECOND = "_stateSchema/default/0_a", "_stateSchema/default/1_b"
KEY = Schema((Field("k", "string", True),))
INT, LONG = (Schema((Field("c", kind, True),)) for kind in ("integer", "long"))


def listing(*names):
    paths = [f"file:/data/ck/state/0/{name}" for name in names]
    return [{"storeName": "default", "stateSchemaFilePaths": paths}]


def test_a_file_that_a_refused_attempt_has_left_does_not_count():
    assert listed_files([FIRST, SECOND], listing(FIRST)) == {"default": [FIRST]}


def test_the_order_is_that_of_the_list():
    assert listed_files([FIRST, SECOND], listing(SECOND, FIRST)) == {"default": [SECOND, FIRST]}


def test_all_files_count_where_none_is_listed():
    names = [SECOND, FIRST, "_metadata/v2/0", "0/1.zip"]
    assert listed_files(names, None) == {"default": [FIRST, SECOND]}
    assert listed_files(names, [{"storeName": "default"}, 3]) == {"default": [FIRST, SECOND]}


def test_a_single_file_has_no_past():
    assert history([(Family("n", KEY, INT),)]) == {"schema_files": 1}
    assert history(()) == {}


def test_what_the_newest_file_lacks_is_past():
    told = history(
        [
            (Family("n", KEY, INT), Family("m", KEY, INT)),
            (Family("n", KEY, LONG, 1),),
        ]
    )
    was = {
        "key": [{"name": "k", "type": "string", "nullable": True}],
        "value": [{"name": "c", "type": "integer", "nullable": True}],
    }
    assert told == {
        "schema_files": 2,
        "past": {"n": [was], "m": [was]},
        "evolved": {"n": 1},
    }


def test_a_schema_that_came_back_stands_where_it_was_valid_last():
    files = [(Family("m", KEY, kind),) for kind in (INT, LONG, INT)]
    found = history([*files, (Family("n", KEY, INT),)])["past"]["m"]
    assert [f["value"][0]["type"] for f in found] == ["long", "integer"]
