"""Names of Spark's aggregate functions, and how to find their calls in an expression."""

from __future__ import annotations

import re

from headgate.parse.spark.expression.term import Term

_NUMBERS = ("bigint", "double", "float")
NAMES = frozenset(
    [
        "count",
        "sum",
        "try_sum",
        "avg",
        "mean",
        "try_avg",
        "min",
        "max",
        "first",
        "last",
        "first_value",
        "last_value",
        "any_value",
        "collect_list",
        "collect_set",
        "array_agg",
        "min_by",
        "max_by",
        "count_if",
        "bool_and",
        "bool_or",
        "every",
        "some",
        "any",
        "stddev",
        "stddev_samp",
        "stddev_pop",
        "std",
        "var_samp",
        "var_pop",
        "variance",
        "skewness",
        "kurtosis",
        "corr",
        "covar_samp",
        "covar_pop",
        "approx_count_distinct",
        "approx_percentile",
        "percentile_approx",
        "percentile",
        "percentile_cont",
        "percentile_disc",
        "median",
        "mode",
        "bit_and",
        "bit_or",
        "bit_xor",
        "regr_count",
        "regr_slope",
        "regr_avgx",
        "regr_avgy",
        "regr_r2",
        "regr_intercept",
        "regr_sxx",
        "regr_sxy",
        "regr_syy",
        "histogram_numeric",
        "count_min_sketch",
        "listagg",
        "string_agg",
        "product",
        "bitmap_construct_agg",
        "bitmap_or_agg",
        "hll_sketch_agg",
        "hll_union_agg",
        "grouping",
        "grouping_id",
        "max_min_by",
        "bloom_filter_agg",
        "approx_top_k",
        "approx_top_k_accumulate",
        "approx_top_k_combine",
        "bitmap_and_agg",
        *(f"kll_{part}_{kind}" for part in ("sketch_agg", "merge_agg") for kind in _NUMBERS),
        "schema_of_variant_agg",
        *(f"theta_{part}_agg" for part in ("sketch", "union", "intersection")),
        *(
            f"tuple_{part}_agg_{kind}"
            for part in ("sketch", "union", "intersection")
            for kind in ("double", "integer")
        ),
        "vector_avg",
        "vector_sum",
    ]
)
_STAGE = re.compile(r"^(?:partial|merge)_")


def is_call(found: Term) -> bool:
    """Whether a term is the call of an aggregate function, filtered or not."""
    if found.kind == "filter":
        return is_call(found.args[0])
    name = _STAGE.sub("", found.name.lower())
    return found.kind == "call" and (name in NAMES or name.endswith("aggregator"))


def calls(found: Term) -> list[Term]:
    """Return the aggregate calls in a term, from left to right; only the outermost ones."""
    out: list[Term] = []
    stack = [found]
    while stack:
        current = stack.pop()
        if is_call(current):
            out.append(current)
        else:
            stack.extend(reversed(current.args))
    return out
