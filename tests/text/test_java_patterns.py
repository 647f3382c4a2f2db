"""Java's patterns of topics: what Python can tell of them, and what it can't."""

import pytest

from headgate.text.java_patterns import java_pattern


@pytest.mark.parametrize(
    ("pattern", "fits", "other"),
    [
        (r"\Qshop.in-\E.*", "shop.in-a", "shopXin-a"),
        (r"\Qshop.in", "shop.in", "shop.in-a"),
        (r"in-\p{Alnum}+", "in-a7", "in-_"),
        (r"in-[\p{Lower}.]+", "in-a.b", "in-A"),
        (r"in-\P{Digit}", "in-a", "in-7"),
        (r"[]^]a", "]a", "a"),
        ("orders|payments", "payments", "payment"),
    ],
)
def test_java_syntax_that_python_can_be_told(pattern, fits, other):
    compiled = java_pattern(pattern)
    assert compiled.fullmatch(fits) and not compiled.fullmatch(other)


@pytest.mark.parametrize(
    "pattern", [r"in-\p{IsLatin}", r"in\R", "in-[a-z&&[^b]]", "in-[a[bc]]", "(?<n>in)", "(", "[["]
)
def test_what_python_reads_otherwise_is_not_evaluated(pattern):
    assert java_pattern(pattern) is None
