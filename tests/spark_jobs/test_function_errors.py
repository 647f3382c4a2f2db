"""What is said of a function that writes, or that starts several queries."""

from types import SimpleNamespace

import pytest

from headgate.errors import CaptureError
from headgate.spark_jobs.block_start import _refusing
from headgate.spark_jobs.choose_query import _named


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("save", "the function writes a batch (save), .* move the write out of the function"),
        ("DROP", "the function changes data (DROP), .* move the statement out of the function"),
    ],
)
def test_the_function_may_not_write(method, said):
    with pytest.raises(CaptureError, match=said.replace("(", r"\(").replace(")", r"\)")):
        _refusing(method)()


@pytest.mark.parametrize(
    ("names", "wanted", "said"),
    [
        (("a", "b"), None, "starts several queries (a, b): choose one with --query, or with "
         "`query` in headgate.toml"),
        (("a", None), None, "starts several queries (a, (unnamed)): choose one with --query, or "
         "with `query` in headgate.toml. Before that, give the unnamed query a name with "
         "queryName"),
        ((None,), "a", "starts no query 'a', only (unnamed): choose one with --query, or with "
         "`query` in headgate.toml. Before that, give the unnamed query a name with queryName"),
    ],
)  # fmt: skip
def test_a_query_without_a_name_needs_one_before_it_can_be_chosen(names, wanted, said):
    started = [SimpleNamespace(name=name) for name in names]
    with pytest.raises(CaptureError) as error:
        _named(started, wanted, "jobs:build")
    assert str(error.value) == f"jobs:build {said}"
