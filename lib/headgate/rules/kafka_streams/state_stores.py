"""State stores: the engine finds state by the store's exact name, and by nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.model.kafka_streams import StreamsStore
from headgate.rules.core.report import Location, Outcome, StateEffect
from headgate.rules.core.rule import RuleResult
from headgate.rules.kafka_streams.derived_tables import is_read_back, only_published
from headgate.rules.kafka_streams.facts.flow import UNREAD, Flow
from headgate.rules.kafka_streams.facts.rule import StreamsComparison, streams_rule
from headgate.rules.kafka_streams.facts.store_names import WAYS, is_same_kind_of_name, way_to_name
from headgate.rules.kafka_streams.facts.store_pairs import Meaning, StorePair, meaning
from headgate.rules.kafka_streams.suppression import is_buffer

_REPLAY = "Or start under a new application id and replay the inputs."
_NAME_IT = (
    "Keep the store's name from the running version, even if the name is generated. {how} "
    f"{_REPLAY}"
)
_KEEP_THE_ORDER = (
    "The code can't set the name {old}. Keep the number of operators that the code declares before "
    f"the store's operator, so that the generated name stays the same. {_REPLAY}"
)
_EMPTY_THE_BUFFER = (
    "The code can't set the name {old}. First send records with later timestamps, until stream "
    "time has passed the end and grace period of every open window and the buffer is empty. Then "
    "stop all instances and upgrade."
)
_CAN_NOT_KEEP = (
    "Start under a new application id and replay the inputs, because the code can't set the name "
    "{old}."
)
_NAME_BOTH = (
    "Swap the names in the new version: give another name to the store that now has the name "
    "{old}, and set the name {old} for the store that has this name in the running version, even "
    "if the name is generated. {how} "
    f"{_REPLAY}"
)
_NAME_THE_OTHER = (
    "In the new version, no other store may get the name {old}. Set another name for the store "
    f"that now has this name, or keep the order of the operators. {_REPLAY}"
)
_TO_KEEP = (
    *(_NAME_IT.replace("{how}", how) for how in WAYS),
    _KEEP_THE_ORDER,
    _EMPTY_THE_BUFFER,
    _CAN_NOT_KEEP,
)
_TO_GIVE_BACK = (*(_NAME_BOTH.replace("{how}", how) for how in WAYS), _NAME_THE_OTHER)


_DELETE_THE_OLD = "Delete the old changelog only if you no longer need a rollback."
_IF_THE_STORE = 'If anything queries the store, keep its name: Materialized.as("{was}").'
_DOES_ANYTHING_QUERY = (
    "Does anything query the store {was} (interactive queries)? Under its new name, the store "
    "lacks each row until that row is updated."
)


@streams_rule(
    "KST001",
    outcomes=(Outcome.SILENTLY_WRONG, Outcome.UNKNOWN, Outcome.RESUMES),
    remedies=(*_TO_KEEP, _DELETE_THE_OLD, _IF_THE_STORE),
    questions=(_DOES_ANYTHING_QUERY,),
)
def store_name_changed(c: StreamsComparison) -> Iterator[RuleResult]:
    """Kafka Streams finds state by the store's exact name, in the store directory and in the
    changelog <application.id>-<store>-changelog.

    Under a new name the store starts empty, but the group continues at its committed offsets. The
    earlier rows are lost, unless Kafka Streams restores the store from a source topic. The old
    changelog remains on the cluster, and Kafka Streams logs nothing.
    """
    for pair in c.stores:
        was, now = pair.before, pair.after
        if was is None or now is None or was.name == now.name or was.is_global:
            continue
        if now.is_global or now.restored_from:
            yield _rebuilt(pair, was, now)
            continue
        if only_published(c.flow_before, was) and only_published(c.flow_after, now):
            yield _recomputed(pair, was, now)
            continue
        yield RuleResult(
            outcome=Outcome.SILENTLY_WRONG,
            state_effect=StateEffect.ORPHANED,
            location=pair.location,
            before=was.name,
            after=now.name,
            because=_renamed(pair, was, now),
            remedy=_to_keep(c.flow_after, was, now),
            scenario="from-scratch",
        )


def _recomputed(pair: StorePair, was: StreamsStore, now: StreamsStore) -> RuleResult:
    queried = not now.is_generated or not was.is_generated
    return RuleResult(
        outcome=Outcome.UNKNOWN if queried else Outcome.RESUMES,
        state_effect=StateEffect.ORPHANED,
        location=pair.location,
        before=was.name,
        after=now.name,
        because=(
            f"The store {now.name} starts empty. Its rows are computed from other stores. No "
            "operator reads the store, so no output changes."
        ),
        question=_DOES_ANYTHING_QUERY.format(was=was.name) if queried else None,
        remedy=_IF_THE_STORE.format(was=was.name),
    )


def _to_keep(flow: Flow, was: StreamsStore, now: StreamsStore) -> str:
    """Return what keeps a store's name, or does without it if the code can't set it."""
    if how := way_to_name(flow, now, was.name):
        return _NAME_IT.format(how=how)
    if is_same_kind_of_name(was, now):
        return _KEEP_THE_ORDER.format(old=was.name)
    text = _EMPTY_THE_BUFFER if is_buffer(flow, now) else _CAN_NOT_KEEP
    return text.format(old=was.name)


def _to_give_back(c: StreamsComparison, old: StreamsStore) -> str:
    """Return what gives a name back to the store that had it, or takes it from the other one."""
    now = _counterpart(c, old)
    how = way_to_name(c.flow_after, now, old.name) if now else None
    return _NAME_BOTH.format(how=how, old=old.name) if how else _NAME_THE_OTHER.format(old=old.name)


def _counterpart(c: StreamsComparison, old: StreamsStore) -> StreamsStore | None:
    """Return the store that now does what another one did, under another name."""
    now = next((p.after for p in c.stores if p.before is old), None)
    if now is None or now.name != old.name:
        return now
    was = meaning(c.flow_before, old)
    others = ((s, meaning(c.flow_after, s)) for s in c.new.stores if s.name != old.name)
    return next((s for s, m in others if was and m and _is_one_kind(was, m)), None)


def _is_one_kind(was: Meaning, now: Meaning) -> bool:
    return (was.family, was.inputs) == (now.family, now.inputs)


def _renamed(pair: StorePair, was: StreamsStore, now: StreamsStore) -> str:
    if pair.declared:
        return (
            f"You declared that the store {was.name} is renamed to {now.name}, but Kafka Streams "
            "can't move the state to the new name."
        )
    if was.is_generated and now.is_generated:
        return f"The store's generated name changes from {was.name} to {now.name}."
    if was.is_generated:
        return f"The store {was.name} had a generated name and is now called {now.name}."
    return f"The store {was.name} is now called {now.name}."


def _rebuilt(pair: StorePair, was: StreamsStore, now: StreamsStore) -> RuleResult:
    return RuleResult(
        outcome=Outcome.RESUMES,
        state_effect=StateEffect.EXACT,
        location=pair.location,
        before=was.name,
        after=now.name,
        because=(
            f"Kafka Streams restores the store {now.name} from the topic {now.restored_from}, so "
            "no row is lost."
        ),
        remedy=_DELETE_THE_OLD,
    )


@streams_rule("KST002", outcomes=(Outcome.SILENTLY_WRONG,), remedies=_TO_GIVE_BACK)
def store_name_reused(c: StreamsComparison) -> Iterator[RuleResult]:
    """Kafka Streams finds state by a store's name, and another operator's store now has this name.

    The other operator uses the existing state and changelog, and continues from values that mean
    something else. Generated names contain the operator's position: inserting, removing or swapping
    operators changes these names. If the types match, Kafka Streams reports no error and leaves no
    unused topic.
    """
    partner = {id(p.after): p for p in c.stores if p.after is not None}
    named = {_key(s): s for s in c.new.stores}
    for old in c.old.stores:
        now = named.get(_key(old))
        if now is None or old.is_global or now.is_global or now.restored_from:
            continue
        was = partner[id(now)].before
        if (was is None or _key(was) != _key(old)) or _other_operator(c, old, now):
            yield RuleResult(
                outcome=Outcome.SILENTLY_WRONG,
                state_effect=StateEffect.REINTERPRETED,
                location=Location(old.node, now.node),
                before=_described(c.flow_before, old),
                after=_described(c.flow_after, now),
                because=f"The store {old.name} now belongs to another operator.",
                remedy=_to_give_back(c, old),
                scenario="from-scratch",
            )


def _other_operator(c: StreamsComparison, old: StreamsStore, now: StreamsStore) -> bool:
    """Say whether a name that the code gave went to an operator of another kind or input."""
    was, is_ = meaning(c.flow_before, old), meaning(c.flow_after, now)
    if was is None or is_ is None:
        return False
    if was.family != is_.family:
        return not (was.inputs & is_.inputs)
    if was.inputs & is_.inputs or not was.inputs or not is_.inputs:
        return False
    others = (meaning(c.flow_after, s) for s in c.new.stores if s != now)
    return any(o and _is_one_kind(was, o) for o in others)


def _described(flow: Flow, store: StreamsStore) -> str:
    what = meaning(flow, store)
    if what is None:
        return store.name
    kind = what.family.replace("_", " ")
    return f"{store.name}: {kind} of {', '.join(sorted(what.inputs)) or 'unknown inputs'}"


def _key(store: StreamsStore) -> tuple[str | None, str]:
    return store.topology, store.name


_GIVE_THE_STORE = (
    "Give the store another name. Or, if the rows of the changelog {changelog} are no longer "
    "needed, delete this topic before the start."
)
_SET_TOPOLOGY_OPTIMIZATION = (
    "Set topology.optimization to reuse.ktable.source.topics, so that the table is restored "
    "from the topic {topic} itself. Or reset the group's offsets of {topic} to the earliest offset."
)
_KEEP_IT_CONNECTED = (
    "Keep the processor connected to the store {old}, or replay the inputs under a new "
    "application id."
)
_REPLAY_THE_TABLE = (
    "Start the new version under a new application id, so that it processes all rows of the table "
    "{table}."
)
_IF_THE_NEW = "If the new store needs earlier records, replay the inputs."


@streams_rule(
    "KST005",
    outcomes=(Outcome.SILENTLY_WRONG, Outcome.RESUMES),
    remedies=(
        _GIVE_THE_STORE,
        _SET_TOPOLOGY_OPTIMIZATION,
        _KEEP_IT_CONNECTED,
        _REPLAY_THE_TABLE,
        _IF_THE_NEW,
    ),
)
def store_added(c: StreamsComparison) -> Iterator[RuleResult]:
    """A new store starts empty, unless Kafka Streams restores it from an existing changelog or a
    source topic.

    An empty store gets only records that are processed after the start. The committed offsets of
    existing inputs are not reset for the new store. If no operator reads a new table of an existing
    input, no output changes, but interactive queries don't find earlier rows.
    """
    left = {_key(s) for s in c.old.stores}
    for pair in c.stores:
        now = pair.after
        if now is None or pair.before is not None or _key(now) in left or now.is_global:
            continue
        if now.changelog in c.internal:
            yield _resurrected(now)
        elif (topic := _table_read_before(c, now)) and is_read_back(c.flow_after, now):
            yield _half_a_table(now, topic)
        elif table := _table_worked_out_of(c, now):
            yield _misses_rows(now, table)
        elif old := _used_before(c, now):
            yield _other_store(old, now)
        else:
            yield _only_new(now, topic)


def _only_new(now: StreamsStore, topic: str | None) -> RuleResult:
    rows = f" It gets only new rows of {topic}, and no operator needs older rows." if topic else ""
    return RuleResult(
        outcome=Outcome.RESUMES,
        state_effect=StateEffect.NONE,
        location=Location(None, now.node),
        before=None,
        after=now.name,
        because=f"The store {now.name} is new.{rows}",
        remedy=_IF_THE_NEW,
    )


_WORKED_OUT = {"aggregate", "reduce", "count", "foreign_key_subscription", "foreign_key_join"}


def _table_worked_out_of(c: StreamsComparison, now: StreamsStore) -> StreamsStore | None:
    """Return the table of both versions whose rows a new aggregation or foreign-key join lacks."""
    flow = c.flow_after
    known = {_key(p.after): p.after for p in c.stores if p.before and p.after}
    ahead = [k for k in flow.users(now) if flow.nodes[k].operator in _WORKED_OUT]
    seen = set(ahead)
    while ahead:
        for key in flow.above[ahead.pop()]:
            node = flow.nodes[key]
            stores = [s for n in node.stores for s in flow.stores.get(n, ()) if _key(s) in known]
            if node.operator == "table_source" and stores:
                return stores[0]
            if key not in seen and not node.stores and node.operator != "to_stream":
                seen.add(key)
                ahead.append(key)
    return None


def _misses_rows(now: StreamsStore, table: StreamsStore) -> RuleResult:
    return RuleResult(
        outcome=Outcome.SILENTLY_WRONG,
        state_effect=StateEffect.LOST,
        location=Location(table.node, now.node),
        before=table.name,
        after=now.name,
        because=(
            f"The new store {now.name} is computed from the table {table.name}. A row of the "
            "table gets into the store only when the row changes. So the store lacks all "
            "unchanged rows."
        ),
        remedy=_REPLAY_THE_TABLE.format(table=table.name),
        scenario="from-scratch",
    )


def _resurrected(now: StreamsStore) -> RuleResult:
    return RuleResult(
        outcome=Outcome.SILENTLY_WRONG,
        state_effect=StateEffect.REINTERPRETED,
        location=Location(None, now.node),
        before=now.changelog,
        after=now.name,
        because=(
            f"An earlier version left the changelog {now.changelog} on the cluster. Kafka Streams "
            f"restores the new store {now.name} from the old rows of this changelog. These rows "
            "lack all later updates."
        ),
        remedy=_GIVE_THE_STORE.format(changelog=now.changelog),
    )


def _used_before(c: StreamsComparison, now: StreamsStore) -> StreamsStore | None:
    """Return the store that a processor used before `now`, and no longer uses.

    Others still use that one, so that it isn't a store under another name.
    """
    left = {_key(s): s for s in c.new.stores}
    for key in c.flow_after.users(now):
        was = c.flow_before.nodes.get(key)
        if was is None or was.operator not in _OWN or c.flow_after.nodes[key].operator not in _OWN:
            continue
        gone = sorted(set(was.stores) - set(c.flow_after.nodes[key].stores))
        found = [s for n in gone for s in c.flow_before.stores.get(n, ()) if _key(s) in left]
        if found:
            return found[0]
    return None


_OWN = UNREAD | {"process", "process_values", "transform", "transform_values", "flat_transform"}
"""User-defined processors, which can read every store that they are connected to."""


def _other_store(old: StreamsStore, now: StreamsStore) -> RuleResult:
    return RuleResult(
        outcome=Outcome.SILENTLY_WRONG,
        state_effect=StateEffect.LOST,
        location=Location(old.node, now.node),
        before=old.name,
        after=now.name,
        because=(
            f"A processor that used the store {old.name} now uses the store {now.name}, which "
            f"starts empty. The earlier rows stay in {old.name}."
        ),
        remedy=_KEEP_IT_CONNECTED.format(old=old.name),
        scenario="from-scratch",
    )


def _table_read_before(c: StreamsComparison, now: StreamsStore) -> str | None:
    """Return the topic of a new table that the group has read already, None where there is none."""
    if now.restored_from:
        return None
    flow = c.flow_after
    old = {t for s in c.old.sources if not s.is_global for t in s.topics}
    first = next(iter(flow.users(now)), None)
    if first is None or flow.nodes[first].operator != "table_source":
        return None
    return next(iter(sorted(flow.inputs[first] & old)), None)


def _half_a_table(now: StreamsStore, topic: str) -> RuleResult:
    return RuleResult(
        outcome=Outcome.SILENTLY_WRONG,
        state_effect=StateEffect.LOST,
        location=Location(None, now.node),
        before=None,
        after=now.name,
        because=(
            f"The old version already reads the topic {topic}. So the new table {now.name} starts "
            "at the committed offsets and never gets the earlier rows."
        ),
        remedy=_SET_TOPOLOGY_OPTIMIZATION.format(topic=topic),
        scenario="from-scratch",
    )
