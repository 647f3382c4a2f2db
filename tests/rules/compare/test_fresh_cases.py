"""Restarts that were recorded after the rules had been written, and what a comparison says.

Each folder of `tests/cases/spark_fresh` and of the groups of pull requests (`spark_pulls*`) is one
restart by real Spark with its controls (see the READMEs there). A case that the verdict misses is
named in `KNOWN` with what the engine did and why the verdict says something else; once it is right,
the test asks for its name to go.
"""

import json
from pathlib import Path

import pytest

from headgate.rules.compare.compare_versions import compare
from headgate.rules.core.report import Outcome, Report
from headgate.usecases.evidence.read_version import read_version
from support.sampled import sampled_cases

FOLDER = Path(__file__).parents[2] / "cases"
FRESH = tuple(f"spark_fresh/{group}" for group in ("first", "second", "third", "fourth"))
GROUPS = (*FRESH, "spark_pulls*", "spark_kinds")
CASES = sorted(p.parent for group in GROUPS for p in FOLDER.glob(f"{group}/*/outcome.json"))

KNOWN = {
    "lanterns_try_cast_without_ansi_off": "Spark resumed: try_cast() ignores the ANSI mode that is "
    "switched on. Whether other values of the query depend on it is asked: unknown.",
    "curling_columns_for_pandas": "Spark resumed: expressions compute what a function of "
    "mapInPandas() did. The key comes from that function, but is called another: silently_wrong.",
    "carpools_breaks_of_half_an_hour": "Spark resumed: sessions of before keep their end, others "
    "get the longer gap. Other recordings of a changed gap are ruled wrong: silently_wrong.",
    "restaurants_day_of_paris": "Spark wrote wrong results: the day of Paris is a key. Which time "
    "zone the version without the setting uses is asked: unknown.",
    "wallets_read_in_portions": "Spark resumed with a new limit, which has an effect. The starting "
    "offsets have none: no_effect.",
    "aquariums_tank_by_translate": "Spark resumed: translate() gives the same key. Whether the "
    "functions return the same is asked: unknown.",
    "lamplighters_zone_of_reader": "Spark wrote wrong results: texts have no zone, so timeZone "
    "moves them. What the texts hold is asked: unknown.",
    "llamas_hour_by_time_bucket": "Spark resumed: time_bucket() gives the same hour. Whether the "
    "functions return the same is asked: unknown.",
    "stables_times_made_of_parts": "Spark resumed: make_timestamp() gives the same time. Whether "
    "the functions return the same is asked: unknown.",
    "swans_nulls_in_json": "Spark wrote wrong results: a key is JSON with null fields. Whether "
    "there are such rows is asked: unknown.",
    "kennels_lines_by_from_csv": "Spark resumed: from_csv() reads the same key as split(). Whether "
    "the functions return the same is asked: unknown.",
    "oysters_bed_by_str_to_map": "Spark resumed: str_to_map() finds the same key as a regular "
    "expression. Whether the functions return the same is asked: unknown.",
    "oysters_last_value_wins": "Spark resumed: no key depends on mapKeyDedupPolicy. Whether one "
    "does is asked: unknown.",
    "playgrounds_day_by_dayname": "Spark resumed: dayname() is date_format(E). Whether the "
    "functions return the same is asked: unknown.",
    "robots_progress_tracked_later": "Spark resumed. Only an option of a sink differs, so Kafka "
    "and the checkpoint are asked for: unknown.",
    "customs_starting_timestamp": "Spark resumed with a new limit, which has an effect. The first "
    "timestamp has none: no_effect.",
    "cyclists_first_known_team": "Spark kept a null as the first team, which now only counts if "
    "it isn't null. first() is taken for the same function with another option: resumes.",
    "fish_second_time_format": "Spark resumed: rows without a time had been left out before the "
    "deduplication. Whether rows with a null key were read is asked: unknown.",
    "satellites_time_by_timestamp_add": "Spark resumed: seconds are added as a number or by "
    "timestampadd(). Whether the time is the same is asked: unknown.",
    "theatre_halls_sorted": "Spark read all files again, and a deduplication within the watermark "
    "dropped their rows: silently_wrong.",
    "birds_fields_by_path": "Spark resumed: from_json() and get_json_object() give the same text "
    "of a field that is a text. Of a number or an object they may not: unknown.",
    "flows_port_names_in_a_map": "Spark resumed: a map holds what CASE had said: unknown.",
    "assembly_posexplode": "Spark resumed: transform() numbered as posexplode() does: unknown.",
    "courts_pair_by_least": "Spark was wrong: of null, least() makes nothing, array_sort() makes "
    "an element. Whether other functions give the same key is asked: unknown.",
    "cranes_terminal_from_folder": "Spark resumed: the folder's files are those of the pattern. "
    "That is asked: unknown.",
    "dams_shard_by_pmod": "Spark was wrong for hashes below zero. It is asked: unknown.",
    "grain_variant_fields": "Spark resumed: fields of a variant are those of from_json(): unknown.",
    "marina_millis_by_function": "Spark resumed. Of some milliseconds a quotient's time is a "
    "microsecond less: unknown.",
    "marina_xml_source": "Spark resumed: the source reads what from_xml() read: unknown.",
    "permits_quarter_by_format": "Spark resumed: year and quarter are written in one pattern. Of "
    "years beyond 9999 they are not: unknown.",
    "vets_values_table": "Spark resumed: VALUES hold what CASE had said: unknown.",
    "mails_domain_by_regex": "Spark was wrong: of a text without @ only one gives the whole. It is "
    "asked: unknown.",
    "printers_failed_by_exists": "Spark was wrong: of null, exists() makes null, size() > 0 makes "
    "false. Whether other functions give the same key is asked: unknown.",
    "blood_type_without_rhesus": "Spark was wrong: of null, concat() makes null, concat_ws() "
    "doesn't. Whether other functions give the same key is asked: unknown.",
    "gym_read_as_text": "Spark resumed: the same files are read as text, and from_json() takes "
    "their lines apart: silently_wrong.",
    "gym_state_expires": "Spark refused for the values' schema, which a time to live changes. That "
    "the time mode changed, too, comes later: refuses with another class.",
    "dentist_batches_overwritten": "Not in files: foreachBatch writes to a folder of each batch.",
    "reviews_sink_foreach_batch": "Not in files: foreachBatch writes where another sink wrote.",
    "reviews_slug_built_in": "Spark was wrong: strip() removes a tab, trim() doesn't. Whether a "
    "user's function gives the same key is asked: unknown.",
    "rooms_archive_folder_read": "Spark resumed: the new path is a pattern that matches the old "
    "one. That is asked: unknown.",
    "chargers_state_in_avro": "Spark ignored the setting, which the offset log pins. Whether the "
    "code of the processor changed, too, is asked: unknown.",
    "agg_correlation_turned": "Spark refused: sums of both columns, taken for each other, happened "
    "to divide by zero. With other rows it runs, and is wrong: silently_wrong.",
    "wm_on_another_column": "Spark resumed: nothing had been evicted. That the watermark had risen "
    "is known, what was evicted is not: unknown.",
    "conf_decimal_loss": "Spark refused: a product of decimals has another scale. Its type can't "
    "be told without a capture under the new setting: unknown.",
    "conf_null_order": "Spark resumed: size(NULL) comes otherwise, and no text was null. Whether a "
    "setting changes a key's values is asked: unknown.",
    "conf_time_zone_of_unix_time": "Spark resumed: seconds of a timestamp are the same in every "
    "zone. The key's text does not say whether it is made of a text: unknown.",
    "step_key_stricter_then_back": "Spark resumed: no key was null. Whether rows with a null key "
    "were read is asked: unknown.",
    "null_fill_added": "Spark resumed: no key was null. Whether rows with a null key were read is "
    "asked: unknown.",
    "orders_guests_named": "Spark lost what was counted for null, which now has a name. Whether "
    "rows with a null key were read is asked: unknown.",
    "logs_split_for_regex": "Spark resumed: split() gave the texts that the patterns gave, for "
    "these lines: unknown.",
    "bags_heavy_ones_only": "Spark read nulls of the join's state as 0.0: the new filter makes the "
    "column not null. Whether nulls are stored is not known: resumes.",
    "plays_sessions_longer_gap": "Spark resumed, and splits sessions of before. Other recordings "
    "of a changed gap are ruled wrong for that: silently_wrong.",
    "library_schema_as_struct_type": "Spark resumed. Both plans are equal, and Kafka was not "
    "asked: unknown.",
    "kafka_orders_parsed_in_sql": "Spark resumed. Both plans are equal, and Kafka was not asked: "
    "unknown.",
    "conf_join_state_format": "Spark kept the pinned format 2 and resumed. A capture under the "
    "session's format 1 can't be planned at all, so there is nothing to judge: unknown.",
    "edge_json_field_key": "Spark resumed: get_json_object gives the same keys as the column. The "
    "verdict takes an expression that it can't reduce to the old one for other values.",
    "agg_decimal_negated": "Spark resumed: the stored sum keeps the sign of what was read. The "
    "type of a negated cast is not read from the plan's text: unknown.",
    "conf_ansi_off_element_key": "Spark refused: an element of an array may be null again. Its "
    "plan's text is the same in both modes, so a capture is asked for: unknown.",
    "conf_ansi_off_number_key": "Spark resumed: the key is a number that the optimiser computed, "
    "and no plan names it: unknown.",
    "conf_ansi_on_number_key": "Spark resumed: as above, and no row fails in ANSI mode: unknown.",
    "conf_ansi_on_key_of_column": "Spark resumed: no row fails in ANSI mode. Whether a value "
    "overflows is in no plan: unknown.",
    "conf_size_of_null_key_in_ansi": "Spark resumed: ANSI mode decides the size of null by itself. "
    "Whether a setting changes a key's values is asked: unknown.",
    "brew_precision_loss_off": "Spark refused: a product of decimals has another scale. Its type "
    "can't be told without a capture under the new setting: unknown.",
    "dentist_filter_before_dedup": "A stored key was of any state, and is taken for one of done "
    "appointments. Filters around a deduplication are not told apart by their place: resumes.",
    "printers_last_states_in_a_list": "Spark refused another type of a variable. The code of the "
    "processor is not among the evidence: unknown.",
    "rentals_balance_from_a_table": "Spark ignored the initial state. Whether the code of the "
    "processor changed, too, is asked: unknown.",
}

TOLD_BY_CAPTURES = {"agg_decimal_negated", "conf_ansi_off_element_key", "conf_decimal_loss"}
"""Of those, what is judged right by what a capture says besides."""


def judge(case: Path) -> Report:
    return compare(read_version([str(case / "before")]), read_version([str(case / "after")]))


def judge_captured(case: Path) -> Report:
    """Judge by what a capture of the new version says besides: planned state and functions."""
    if not (case / "captured").is_dir():
        return judge(case)
    pieces = [case / "after" / n for n in ("formatted.txt", "logical.json", "conf.json")]
    given = [str(p) for p in (*pieces, case / "captured" / "after.json") if p.exists()]
    return compare(read_version([str(case / "before")]), read_version(given))


def truth(case: Path) -> dict:
    return json.loads((case / "outcome.json").read_text(encoding="utf-8"))


def main_condition(name: str) -> str:
    first = name.split(".")[0]
    return first if first.isupper() else name.split(".")[-1]


def is_right(report: Report, known: dict) -> bool:
    if not known["decidable_from_files"] and report.outcome is Outcome.UNKNOWN:
        return True
    if report.outcome.word != known["outcome"]:
        return False
    told = {f.error_class for f in report.findings if f.outcome is Outcome.REFUSES}
    return report.outcome is not Outcome.REFUSES or main_condition(known["error_class"]) in told


CAPTURED = pytest.param(judge_captured, id="captured", marks=pytest.mark.slow)


@pytest.mark.parametrize("form", [pytest.param(judge, id="plain"), CAPTURED])
@pytest.mark.parametrize("case", sampled_cases(CASES))
def test_the_verdict_is_what_the_engine_did(case, form):
    report, known = form(case), truth(case)
    said = [(f.rule, f.outcome.word, f.error_class) for f in report.findings]
    if case.name in KNOWN and not (form is judge_captured and case.name in TOLD_BY_CAPTURES):
        assert not is_right(report, known), f"no longer a miss, take it out of KNOWN: {said}"
    else:
        assert is_right(report, known), f"Spark: {known['outcome']} {known['error_class']}; {said}"


def test_known_misses_are_cases():
    assert set(KNOWN) <= {case.name for case in CASES}
    assert all(KNOWN.values())


def test_every_outcome_is_judged():
    assert {truth(case)["outcome"] for case in CASES} <= {
        o.word for o in Outcome if o is not Outcome.UNKNOWN
    }
