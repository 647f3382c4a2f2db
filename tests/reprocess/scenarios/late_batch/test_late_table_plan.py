"""What the plan of a late batch into a database table asks, does and refuses, without Spark."""

import json
from dataclasses import asdict, replace
from types import SimpleNamespace

import pytest
from late_cluster import NO_TIME, TOTAL, TOUCH, WINDOW, Cluster, argument, plan_of

from headgate.errors import RefusedError, StalePlanError, StepError
from headgate.model.tables import DatabaseTable, RowCounts, TableColumn
from headgate.reprocess.plan import dump_plan, load_plan
from headgate.reprocess.ports.spark_jobs import JobOutcome, JobResult
from headgate.reprocess.scenarios.late_batch.target import unique_keys
from headgate.reprocess.steps.outputs.stage_rows import change_of

TIME = "struct<start:timestamp,end:timestamp>"
DAYS = {"window": TIME, "customer": "string", "total": "bigint"}


def column(name, kind, **more):
    return TableColumn(name=name, kind=kind, type=more.pop("type", kind), **more)


TEXT = {"kind": "text", "category": "S"}
TABLE = DatabaseTable(
    connection="shop", schema="public", name="totals", id="7", content="7/1",
    columns=(
        column("customer", **TEXT), column("window_start", "timestamptz"),
        column("total", "int8"), column("note", **TEXT),
    ),
    unique=(frozenset({"window_start", "customer"}),),
)  # fmt: skip
MEASURED = replace(
    TOUCH, types=DAYS, files=0, touched_files=0, bytes=0, touched_bytes=0,
)  # fmt: skip


class Shop(Cluster):
    """The cluster with a database that has one table."""

    def __init__(self, there=TABLE, touch=MEASURED, **facts):
        super().__init__(touch, **facts)
        self.there, self.oldest = there, 700

    def topics(self, names):
        # Between both, the query may write.
        self.oldest += 1
        return super().topics(names)

    def oldest_transaction(self, connection):
        assert connection == "shop"
        return self.oldest

    def databases(self):
        return ("shop",)

    def table(self, connection, name):
        assert connection == "shop"
        return self.there if name in ("totals", '"public"."totals"') else None


def planned(shop, *operators, **options):
    return plan_of(shop, *(operators or (WINDOW,)), **{"to": "jdbc:shop.totals"} | options)


def test_rows_are_staged_with_the_touched_keys_and_then_replaced():
    shop = Shop()
    plan = planned(shop)
    assert plan.can_apply, plan.blockers
    assert [step.action for step in plan.steps] == ["stage_late_rows", "upsert_rows"]
    stage, upsert = plan.steps
    assert stage.target == upsert.target
    assert stage.target.keys == ("customer", "window_start")
    assert stage.target.touched_by == ("window_start", "customer")
    assert [c["path"] for c in stage.target.columns] == [
        ["window", "start"],
        ["customer"],
        ["total"],
    ]
    assert plan.resources == ("table:shop.public.totals",)
    assert plan.preconditions["contents"] == {}
    (job, inputs) = shop.asked[0]
    address = 'jdbc:shop."public"."totals"'
    assert (job.database, argument(job, "--target")) == ("shop", address)
    assert inputs == {"orders": "id-orders", "late": "id-late", address: "7 7/1"}
    assert load_plan(dump_plan(plan), source="plan").hash == plan.hash
    # Rows that others write meanwhile make no other plan.
    assert planned(Shop(replace(TABLE, content="7/2"))).hash == plan.hash
    # Noted before the offsets were, and with them when the plan is built again.
    assert plan.options["oldest-transaction"] == stage.target.oldest_transaction == 700
    assert stage.target.change("r-1").oldest_transaction == 700
    later = Shop()
    later.oldest = 900
    assert planned(later, **plan.options).hash == plan.hash
    assert planned(later).steps[0].target.oldest_transaction > 900
    assert "2 of 300 results (0.667 %) are replaced" in plan.risks[0]
    said = (
        "the run deletes a row from public.totals if the row has a key of the late records",
        "if another program, such as totals, writes rows with keys of the late records after",
        "other writers of public.totals wait while the run replaces rows",
        "no values for these columns: note. Replaced rows keep their old values",
    )
    for text in said:
        assert any(text in risk for risk in plan.risks), text
    assert not any("files" in risk for risk in plan.risks)
    assert stage.describe() == (
        "process up to 150 records of orders and 12 late records with m:f, and write new results "
        "for 3 keys (a key counts once per window) to a staging table for public.totals"
    )
    assert upsert.describe() == (
        "upsert the results into table public.totals by key (customer, window_start), delete all "
        "other rows of the keys that late records touch, and keep the replaced and deleted rows as "
        "a backup"
    )


def test_all_sessions_of_a_key_are_replaced():
    session = TIME.replace("window", "session_window")
    types = {"session_window": session, "customer": "string", "total": "bigint"}
    there = replace(
        TABLE,
        columns=(
            column("customer", **TEXT), column("session_window_start", "timestamptz"),
            column("session_window_end", "timestamptz"), column("total", "int8"),
        ),
        unique=(frozenset({"session_window_start", "customer"}),),
    )  # fmt: skip
    plan = planned(Shop(there, replace(NO_TIME, types=types)), TOTAL)
    assert plan.can_apply, plan.blockers
    target = plan.steps[0].target
    assert target.touched_by == ("customer",)
    assert target.keys == ("customer", "session_window_start")


@pytest.mark.parametrize(
    ("unique", "keys"),
    [
        ([{"id"}, {"a", "b"}, {"a", "b", "c"}], ("a", "b")),
        ([{"id"}, {"a"}], ("a",)),
        ([{"id"}, {"a", "b", "c"}], ("a", "b", "c")),
        ([{"other"}, {"a", "other"}], ()),
        ([], ()),
    ],
)
def test_the_index_with_the_touched_keys_identifies_a_row(unique, keys):
    names = ("id", "a", "b", "c", "other")
    table = replace(
        TABLE, columns=tuple(column(n, "int4") for n in names), unique=tuple(map(frozenset, unique))
    )
    found = unique_keys(table, {"id", "a", "b", "c"}, ("a", "b"))
    # Of indexes that lack a column of the touched keys, the smallest one by name.
    assert found == keys


@pytest.mark.parametrize(
    ("there", "options", "said"),
    [
        (TABLE, {"to": "jdbc:shop"}, "--to: jdbc:shop isn't a table. Write jdbc:NAME.TABLE"),
        (
            TABLE,
            {"to": "jdbc:billing.totals"},
            "--to: headgate.toml declares no database [jdbc.billing]; known: shop. Add "
            "[jdbc.billing] with `url`, `user` and `password`, or correct --to",
        ),
        (TABLE, {"to": "jdbc:shopp.t"}, "no database [jdbc.shopp]: did you mean shop?"),
        (TABLE, {"to": "jdbc:shop.other"}, "--to: database shop has no table other"),
        (TABLE, {"file_format": "orc"}, "--file-format: not available if --to is a table"),
        (
            replace(TABLE, missing=("DELETE on public.totals",)),
            {},
            "the user of [jdbc.shop] lacks DELETE on public.totals. Grant",
        ),
        (replace(TABLE, obstacles=("public.totals is a view: pass a table",)), {}, "is a view"),
        (replace(TABLE, unique=()), {}, "--to: public.totals has no unique index"),
        (
            replace(TABLE, cascades=("bills",)),
            {},
            "change rows of bills, too. An undo can't restore these rows",
        ),
    ],
)
def test_what_the_database_says_is_a_blocker_before_spark_starts(there, options, said):
    shop = Shop(there)
    plan = planned(shop, **options)
    assert said in plan.blockers[0]
    assert not shop.asked
    assert not plan.steps


def with_kind(name, kind):
    columns = tuple(
        replace(c, kind=kind, type=kind) if c.name == name else c for c in TABLE.columns
    )
    return replace(TABLE, columns=columns)


@pytest.mark.parametrize(
    ("there", "touch", "said"),
    [
        (
            with_kind("total", "text"),
            MEASURED,
            "--to: column total of public.totals is text, but the results have bigint. Change",
        ),
        (
            replace(TABLE, columns=TABLE.columns[1:]),
            MEASURED,
            "--to: public.totals has no column customer, which the results need",
        ),
        (
            replace(TABLE, columns=(*TABLE.columns, column("by", **TEXT, is_filled=False))),
            MEASURED,
            "--to: the results have no values for these columns of public.totals, which can't be "
            "null: by",
        ),
        (
            replace(TABLE, unique=(frozenset({"note"}),)),
            MEASURED,
            "--to: public.totals has no unique index whose columns are all in the results. Create",
        ),
        (
            TABLE,
            replace(MEASURED, nulls=("customer",)),
            "--late: results of late records have null in customer, so the unique index of public",
        ),
        (
            replace(with_kind("customer", "json"), unique=(frozenset({"window_start", "total"}),)),
            MEASURED,
            "--keys: column customer of public.totals is json, so Headgate can't find rows by",
        ),
        (
            with_kind("customer", "jsonb"),
            replace(MEASURED, types=DAYS | {"customer": "struct<city:string,zip:string>"}),
            "--keys: column customer of public.totals is jsonb, so Headgate can't find rows by",
        ),
        (TABLE, replace(MEASURED, new=0), "--late: only duplicates found"),
    ],
)
def test_results_that_do_not_fit_are_a_blocker(there, touch, said):
    plan = planned(Shop(there, touch))
    assert [b.startswith(said) or said in b for b in plan.blockers] == [True]
    assert not plan.steps


@pytest.mark.parametrize(("rows", "touched", "count"), [(300, 0, 1), (300, 1, 0), (0, 0, 0)])
def test_a_table_without_a_row_of_the_keys_is_a_risk(rows, touched, count):
    plan = planned(Shop(touch=replace(MEASURED, rows=rows, touched_rows=touched)))
    said = "no row of public.totals has a key of the late records, so the run only adds rows. "
    assert [risk.startswith(said) for risk in plan.risks].count(True) == count


def test_a_null_in_a_key_that_does_not_identify_a_row_is_allowed():
    there = replace(TABLE, unique=(frozenset({"total"}),))
    assert planned(Shop(there, replace(MEASURED, nulls=("customer",)))).can_apply


def test_a_table_that_was_dropped_meanwhile_is_a_blocker():
    shop = Shop()
    shop.late_touch = lambda _job, _inputs: setattr(shop, "there", None) or MEASURED
    assert planned(shop).blockers == (
        "table jdbc:shop.totals was just dropped. Run `headgate plan` again",
    )


@pytest.mark.parametrize(
    ("there", "error", "said"),
    [
        (None, StalePlanError, "was dropped or created again"),
        (replace(TABLE, id="8"), StalePlanError, "was dropped or created again"),
        (with_kind("total", "int4"), StalePlanError, "column total of public.totals changed"),
        (replace(TABLE, missing=("x",)), RefusedError, "lacks x"),
        (replace(TABLE, unique=()), RefusedError, "no unique index on customer, window_start"),
        (replace(TABLE, cascades=("bills",)), RefusedError, "change rows of bills, too"),
    ],
)
def test_a_run_does_not_begin_if_the_table_is_another_one(there, error, said):
    for step in planned(Shop()).steps:
        step.check(Shop())
        with pytest.raises(error, match=said):
            step.check(Shop(there))


class Applied(Shop):
    """Ports that note what a step does; the program writes three results."""

    run = "r-1"

    def __init__(self, staged=3):
        super().__init__()
        self.calls, self.notes, self.staged = [], [], staged
        self._port = SimpleNamespace(
            run=self._run, snapshot_folder=lambda: "/snap", write_record=lambda *_: None
        )

    spark_jobs = folders = property(lambda self: self._port)

    def _run(self, job):
        self.calls.append(job)
        facts = {"read": 9, "new": 4, "repeated": 1, "in_input": 0, "written": 3, "seconds": 7.2,
                 "startup_seconds": 3.0}  # fmt: skip
        return JobResult(JobOutcome.DONE, facts)

    def note(self, text):
        self.notes.append(text)

    def stage(self, change):
        self.calls.append(change)

    def staged_rows(self, change):
        return self.staged

    def replace_rows(self, change):
        return RowCounts(added=1, replaced=2, deleted=5)

    def drop(self, *given):
        self.calls.append(given)


def test_the_program_writes_into_tables_of_the_run_which_an_undo_drops():
    stage, upsert = planned(Shop()).steps
    applied = Applied()
    was = stage.bind(applied)
    stage.apply(applied, was)
    change, job = applied.calls
    assert (change.staged, change.touched) == ("headgate_staged_r_1", "headgate_touched_r_1")
    assert change.touched_by == ("window_start", "customer")
    assert (job.program, job.database) == ("late.replace_results", "shop")
    assert argument(job, "--to") == 'jdbc:shop."public"."headgate_staged_r_1"'
    assert argument(job, "--touched") == 'jdbc:shop."public"."headgate_touched_r_1"'
    assert argument(job, "--target") == 'jdbc:shop."public"."totals"'
    assert json.loads(argument(job, "--columns"))[0] == {
        "name": "window_start", "path": ["window", "start"], "form": "value"
    }  # fmt: skip
    assert applied.notes == [
        "9 records and 4 late records read, 1 duplicate dropped, 3 new results written in 7 s, "
        "including 3 s to start Spark"
    ]
    (drop,) = stage.undo(was)
    assert drop.tables == ("headgate_staged_r_1", "headgate_touched_r_1")
    with pytest.raises(StepError, match="has 4 rows, but the run wrote 3: Spark repeated a task"):
        stage.apply(Applied(staged=4), was)

    was = upsert.bind(applied)
    assert change_of(json.loads(json.dumps(was))) == change
    assert was == asdict(change)
    upsert.apply(applied, was)
    assert applied.notes[-1] == (
        "public.totals: 1 row added, 2 rows replaced, 5 rows deleted. The old rows are in "
        "public.headgate_before_r_1"
    )
    restore, drop = upsert.undo(was)
    assert restore.describe() == (
        "delete the rows that the run added to public.totals, and restore the replaced and deleted "
        "rows"
    )
    assert drop.tables == ("headgate_before_r_1", "headgate_after_r_1")
