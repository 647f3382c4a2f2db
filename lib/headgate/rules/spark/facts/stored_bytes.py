"""What a function makes of bytes that a function of another kind stored.

Some aggregate functions store their values as bytes in a format of their own, and the state schema
only says `binary`. Most of them notice foreign bytes with the first row of a stored key; the others
take them for values.

Source: `serialize` and `deserialize` of Spark 4.2.0's functions, each given the bytes of each other
one, of one and of three rows; restarts in `tests/cases/spark_kinds`.
"""

from __future__ import annotations

_KINDS = {
    "list": "array_agg collect_list collect_set listagg string_agg",
    "tally": "median mode percentile percentile_cont percentile_disc",
    "digest": "approx_percentile percentile_approx",
    "histogram": "histogram_numeric",
    "hll": "hll_sketch_agg hll_union_agg",
    "theta": "theta_intersection_agg theta_sketch_agg theta_union_agg",
    "kll": "kll_merge_agg_bigint kll_merge_agg_double kll_merge_agg_float kll_sketch_agg_bigint "
    "kll_sketch_agg_double kll_sketch_agg_float",
    "tuple double": "tuple_intersection_agg_double tuple_sketch_agg_double tuple_union_agg_double",
    "tuple integer": "tuple_intersection_agg_integer tuple_sketch_agg_integer "
    "tuple_union_agg_integer",
    "top k": "approx_top_k approx_top_k_accumulate approx_top_k_combine",
    "count-min": "count_min_sketch",
    "bitmap": "bitmap_and_agg bitmap_construct_agg bitmap_or_agg",
}
_KIND = {name: kind for kind, names in _KINDS.items() for name in names.split()}
STORE_BYTES = frozenset(_KIND)
"""Functions whose state is one column of bytes."""

_SKETCH = "SketchesArgumentException"
_ILLEGAL = "IllegalArgumentException"
_VARIES: None = None
# What a kind does with the bytes of another one: its error, None where it depends on the bytes.
# Then the exceptions: another error, or `_TAKES` where it takes the bytes for values of its own.
_TAKES = "takes"
_READERS: dict[str, tuple[str | None, dict[str, str | None]]] = {
    # Of some lists and histograms the JVM ends instead, as it has no memory for their sizes.
    "tally": ("EOFException", {}),
    "digest": (
        "BufferUnderflowException",
        {
            **dict.fromkeys(("count-min", "histogram", "top k"), _TAKES),
            # From lists and HLL sketches it makes arrays of any size: the JVM ends [run, 4.2].
            **dict.fromkeys(("hll", "kll", "list", "theta"), _VARIES),
            **dict.fromkeys(("tuple double", "tuple integer"), _VARIES),
        },
    ),
    "histogram": (
        "BufferUnderflowException",
        {**dict.fromkeys(("count-min", "list", "tally"), _TAKES), "kll": _ILLEGAL},
    ),
    "hll": (
        _SKETCH,
        dict.fromkeys(("histogram", "theta", "tuple double", "tuple integer"), _VARIES),
    ),
    "theta": (
        _SKETCH,
        dict.fromkeys(("hll", "kll", "top k", "tuple double", "tuple integer"), _ILLEGAL),
    ),
    "top k": (_SKETCH, {}),
    "kll": ("KLL_INVALID_INPUT_SKETCH_BUFFER", {}),
    **dict.fromkeys(
        ("tuple double", "tuple integer"),
        (_VARIES, {"theta": "TUPLE_INVALID_INPUT_SKETCH_BUFFER_FAMILY"}),
    ),
    "count-min": ("IOException", {}),
    # Lists are read without a check. Of a tally, that ends the JVM; others were not measured.
    "list": (_VARIES, dict.fromkeys(set(_KINDS) - {"tally"}, _TAKES)),
}


def is_read(stored: str, reader: str) -> bool:
    """Say whether a function continues with the bytes that another one stored, or may do so.

    True also where nobody measured it.
    """
    wrote, reads = _KIND.get(stored), _KIND.get(reader, "")
    if wrote is None or reads not in _READERS or wrote in (reads, "bitmap"):
        return True
    return _READERS[reads][1].get(wrote) == _TAKES


def read_error(stored: str, reader: str) -> str | None:
    """Return the error of a function that can't read what another one stored; None if it varies."""
    usual, others = _READERS[_KIND[reader]]
    return others.get(_KIND[stored], usual)
