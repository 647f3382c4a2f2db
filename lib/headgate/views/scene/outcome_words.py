"""Sign and words of each outcome, as graphs, reports and pages show it."""

from __future__ import annotations

from headgate.rules.core.report import Outcome

GLYPHS = {
    Outcome.REFUSES: "!",
    Outcome.SILENTLY_WRONG: "≠",
    Outcome.UNKNOWN: "?",
    Outcome.NO_EFFECT: "=",
    Outcome.RESUMES: "✓",
}
WORDS = {
    Outcome.REFUSES: "Fails to start",
    Outcome.SILENTLY_WRONG: "Wrong results",
    Outcome.UNKNOWN: "Unknown",
    Outcome.NO_EFFECT: "No effect",
    Outcome.RESUMES: "Resumes",
}
MIXED_GLYPH = "◐"
"""Sign of results that mix the old and the new logic."""
