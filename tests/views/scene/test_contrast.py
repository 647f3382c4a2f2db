"""Text and marks can be read in both themes, and statuses are told apart by the colour-blind."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "scripts"))

import contrast

LEAST_APART = 10
"""CIE76 in L*a*b*: flat areas that differ less look alike beside each other."""


def test_what_must_be_read_has_enough_contrast():
    pairs = list(contrast.pairs())
    assert len(pairs) > 100
    assert [(p.theme, p.what, p.ratio) for p in pairs if p.ratio < p.least] == []


def test_no_two_statuses_look_alike():
    rows = list(contrast.closest())
    assert rows
    assert [row for row in rows if row[2] < LEAST_APART] == []


def test_the_measure_is_that_of_wcag():
    """The examples of WCAG's own definition, and #767676, the lightest grey for text on white."""
    white, black = contrast.rgb("#FFFFFF"), contrast.rgb("#000000")
    assert contrast.ratio(white, black) == pytest.approx(21)
    assert contrast.ratio(black, black) == 1
    assert contrast.ratio(white, contrast.rgb("#767676")) == pytest.approx(4.54, abs=0.005)


def test_red_and_green_are_alike_without_red_cones():
    """A deficiency that is none would let every palette pass."""
    red, green = (contrast.linear(contrast.rgb(c)) for c in ("#A03000", "#4F5200"))
    matrix = contrast.DEFICIENCIES["protanopia"]
    seen = [contrast.lab(contrast._times(matrix, c)) for c in (red, green)]
    plain = [contrast.lab(c) for c in (red, green)]
    assert contrast._apart(*seen) < contrast._apart(*plain) / 2
