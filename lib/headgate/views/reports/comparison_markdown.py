"""A comparison as Markdown, for a comment on a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.rules.core.report import Change, Finding, Outcome, Report
from headgate.text.numbers import plural
from headgate.views.reports.comparison_words import (
    GLYPHS,
    HEADLINES,
    ROLLBACKS,
    accepted_text,
    facts,
    matters,
    rule_link,
    upgrade_lines,
    value_text,
)
from headgate.views.reports.verdict_line import headline, verdict

_MOST_ROWS = 20
_MOST_CHANGES = 100
_LONGEST_CELL = 240
_LONGEST_VALUE = 600
# A comment on GitHub holds 65,536 characters, one on GitLab a million.
_LONGEST = 60_000


def report_markdown(report: Report, rules_url: str | None = None) -> str:
    """Return a verdict in one line, a table (worst first), and everything else folded below.

    `rules_url` is the folder of the rules' pages. The text fits into a comment: what is too much
    is left out and counted.
    """
    out: list[str] = []
    size = 0
    for block in _blocks(report, rules_url):
        size += len(block) + 1
        if size > _LONGEST:
            out.append("\n_The rest does not fit into a comment; `--format json` has all of it._")
            break
        out.append(block)
    return "\n".join(out) + "\n"


def _blocks(report: Report, rules_url: str | None) -> Iterator[str]:
    said = verdict(report)
    yield f"## {said.glyph} {said.word}"
    yield f"\n**{_plain(said.sentence)}**"
    if report.findings:
        yield f"\n{_table(report, rules_url)}"
    if report.upgrade:
        yield f"\n### {HEADLINES[report.upgrade.way]}\n\n{_plain(report.upgrade.why)}\n"
        yield from map(_plain, upgrade_lines(report.upgrade))
    yield from (f"\n> {_plain(warning)}" for warning in report.warnings)
    if report.judged_for:
        yield f"\nJudged for {_plain(report.judged_for)}."
    for finding in report.findings:
        yield _folded(_title(finding), "\n".join(_details(finding, report, rules_url)))
    if report.changes:
        yield _folded(plural(len(report.changes), "change"), "\n".join(_changes(report.changes)))


def _table(report: Report, rules_url: str | None) -> str:
    head = ["| | rule | where | what | what to do |", "|---|---|---|---|---|"]
    rows = [_row(f, report, rules_url) for f in report.findings[:_MOST_ROWS]]
    more = len(report.findings) - len(rows)
    last = [f"| | | | {plural(more, 'more finding')} below | |"] if more > 0 else []
    return "\n".join([*head, *rows, *last])


def _row(finding: Finding, report: Report, rules_url: str | None) -> str:
    what = headline(finding)
    if finding.error_class:
        what += f" (`{finding.error_class}`)"
    do = finding.question if finding.outcome is Outcome.UNKNOWN else finding.remedy
    if matters(finding) and finding.outcome is Outcome.REFUSES:
        do = f"{do} Then {ROLLBACKS[finding.rollback]}." if do else do
    cells = (
        f"{GLYPHS[finding.outcome]} {_word(finding)}",
        _rule(finding, rules_url),
        _cell(_short_place(finding, report)),
        _cell(what),
        _cell(accepted_text(finding) or do or ""),
    )
    return "| " + " | ".join(cells) + " |"


def _short_place(finding: Finding, report: Report) -> str:
    labels, location = report.labels, finding.location
    after = labels.after.get(location.after or "", location.after)
    return (
        after or labels.before.get(location.before or "", location.before) or "the whole pipeline"
    )


def _details(finding: Finding, report: Report, rules_url: str | None) -> Iterator[str]:
    yield _plain(finding.why)
    if finding.before is not None or finding.after is not None:
        yield f"\n```diff\n- {_code(finding.before)}\n+ {_code(finding.after)}\n```\n"
    for name, text in facts(finding, report.labels):
        yield f"- **{name}**: {f'`{text}`' if name in ('Error', 'Scenario') else _plain(text)}"
    if finding.state_effect:
        yield f"- **State**: {finding.state_effect.value}"
    if accepted := accepted_text(finding):
        yield f"- **{_plain(accepted)}**"
    if link := rule_link(finding.rule, rules_url):
        yield f"- [What {finding.rule} checks]({link})"


def _changes(changes: tuple[Change, ...]) -> Iterator[str]:
    for change in changes[:_MOST_CHANGES]:
        yield f"- {change.kind.value}: {_plain(change.what)[:_LONGEST_CELL]}"
    if len(changes) > _MOST_CHANGES:
        yield f"- and {plural(len(changes) - _MOST_CHANGES, 'more change')}"


def _title(finding: Finding) -> str:
    effect = f", state {finding.state_effect.value}" if finding.state_effect else ""
    return f"{GLYPHS[finding.outcome]} {finding.rule}: {_word(finding)}{effect}"


def _folded(title: str, text: str) -> str:
    return f"\n<details><summary>{_plain(title)}</summary>\n\n{text}\n\n</details>"


def _rule(finding: Finding, rules_url: str | None) -> str:
    link = rule_link(finding.rule, rules_url)
    return f"[{finding.rule}]({link})" if link else finding.rule


def _word(finding: Finding) -> str:
    return finding.outcome.word.replace("_", " ")


def _cell(text: str) -> str:
    line = _plain(text)
    return line if len(line) <= _LONGEST_CELL else f"{line[: _LONGEST_CELL - 1]}…"


def _plain(text: str) -> str:
    """Keep names from being read as markup; a line stays a line."""
    line = " ".join(text.split())
    return line.replace("<", "&lt;").replace("|", "\\|").replace("*", "\\*")


def _code(value: object) -> str:
    text = value_text(value).replace("```", "` ` `").replace("\n", " ")
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"
