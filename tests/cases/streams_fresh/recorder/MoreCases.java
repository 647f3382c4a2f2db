import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;

/** More upgrades to record, of kinds that Cases has none or one of; nothing here says how they end. */
final class MoreCases extends Parts {
    private MoreCases() { }

    /** Adds them to ALL. */
    static void load() { }

    static {
        Case.Build unnamed = (b, p) -> out(in(b, p).groupByKey().count(), p);
        Case.Build named = (b, p) -> out(count(in(b, p), "counts"), p);
        Case.Build stateless = (b, p) -> out(same(in(b, p)), p);

        // Operators that come, go and change places.
        add("filter_removed_in_front", "filter removed in front of an un-named count", (b, p) -> out(in(b, p).filter((k, v) -> true).groupByKey().count(), p), unnamed);
        add("filter_and_values_reordered", "filter and mapValues change places in front of an un-named count",
            (b, p) -> out(same(in(b, p).filter((k, v) -> true)).groupByKey().count(), p), (b, p) -> out(same(in(b, p)).filter((k, v) -> true).groupByKey().count(), p));
        add("values_to_flat_values", "mapValues -> flatMapValues in front of an un-named count",
            (b, p) -> out(same(in(b, p)).groupByKey().count(), p), (b, p) -> out(in(b, p).flatMapValues(v -> List.of(v)).groupByKey().count(), p));
        add("sink_in_front", "a sink written from the input in front of an un-named count", unnamed,
            (b, p) -> { KStream<String, String> s = in(b, p); s.to(p + "side"); out(s.groupByKey().count(), p); }).topic("side", 1);
        add("unused_input_in_front", "an input that nothing uses declared in front of an un-named count", unnamed,
            (b, p) -> { in2(b, p); out(in(b, p).groupByKey().count(), p); });
        add("operator_named_in_place", "mapValues in front of an un-named count is named", (b, p) -> out(same(in(b, p)).groupByKey().count(), p),
            (b, p) -> out(in(b, p).mapValues(v -> v, Named.as("trim")).groupByKey().count(), p));
        add("branches_exchanged_unnamed", "two branches with an un-named count and an un-named reduce change places",
            (b, p) -> in(b, p).split().branch((k, v) -> v.equals("x"), Branched.withConsumer(s -> out(s.groupByKey().count(), p)))
                .defaultBranch(Branched.withConsumer(s -> side(s.groupByKey().reduce(String::concat), p))),
            (b, p) -> in(b, p).split().branch((k, v) -> !v.equals("x"), Branched.withConsumer(s -> side(s.groupByKey().reduce(String::concat), p)))
                .defaultBranch(Branched.withConsumer(s -> out(s.groupByKey().count(), p)))).topic("side", 1);
        add("branches_exchanged_named", "two branches with named counts change places",
            (b, p) -> in(b, p).split().branch((k, v) -> v.equals("x"), Branched.withConsumer(s -> out(count(s, "xs"), p))).defaultBranch(Branched.withConsumer(s -> side(count(s, "ys"), p))),
            (b, p) -> in(b, p).split().branch((k, v) -> !v.equals("x"), Branched.withConsumer(s -> side(count(s, "ys"), p))).defaultBranch(Branched.withConsumer(s -> out(count(s, "xs"), p)))).topic("side", 1);
        add("input_given_a_name", "Consumed.as for the input of an un-named count", unnamed,
            (b, p) -> out(b.<String, String>stream(p + "in", Consumed.as("orders")).groupByKey().count(), p));
        add("sink_given_a_name", "Produced.as, and the processors behind an un-named count named", unnamed,
            (b, p) -> in(b, p).groupByKey().count().toStream(Named.as("rows")).mapValues(v -> "" + v, Named.as("text")).to(p + "out", Produced.<String, String>as("published")));
        add("second_aggregate_shifts", "peek between an un-named count and an un-named reduce of one input",
            (b, p) -> { KStream<String, String> s = in(b, p); out(s.groupByKey().count(), p); side(s.groupByKey().reduce(String::concat), p); },
            (b, p) -> { KStream<String, String> s = in(b, p); out(s.groupByKey().count(), p); side(s.peek((k, v) -> { }).groupByKey().reduce(String::concat), p); }).topic("side", 1);
        add("reduce_gets_counts_name", "an un-named reduce of one input put in front of an un-named count of another: the types differ", unnamed,
            (b, p) -> { side(in2(b, p).groupByKey().reduce(String::concat), p); out(in(b, p).groupByKey().count(), p); }).topic("side", 1);
        add("windowed_gets_plains_name", "an un-named windowed count in front of an un-named count", unnamed,
            (b, p) -> { KStream<String, String> s = in(b, p); to(s.groupByKey().windowedBy(minutes()).count().toStream().map((k, v) -> KeyValue.pair(k.key(), "" + v)), p + "side"); out(s.groupByKey().count(), p); }).topic("side", 1);
        add("merge_input_removed_unnamed", "one of two merged inputs removed in front of an un-named count", (b, p) -> out(in(b, p).merge(in2(b, p)).groupByKey().count(), p), unnamed);
        add("list_input_removed_unnamed", "stream(in, in2) -> stream(in) in front of an un-named count",
            (b, p) -> out(b.<String, String>stream(List.of(p + "in", p + "in2")).groupByKey().count(), p), unnamed);

        // Names: given, changed, exchanged.
        add("materialized_with_serdes", "count() -> count(Materialized.with(serdes)) of the same types", unnamed,
            (b, p) -> out(in(b, p).groupByKey().count(Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>with(Serdes.String(), Serdes.Long())), p));
        add("grouping_named_store_unnamed", "groupBy given a name, its count un-named", (b, p) -> out(in(b, p).groupBy((k, v) -> v).count(), p),
            (b, p) -> out(in(b, p).groupBy((k, v) -> v, Grouped.as("g")).count(), p));
        add("groupings_exchange_names", "two groupings of one input exchange their names, the stores keep theirs",
            (b, p) -> twoGroups(in(b, p), "g", "h", p), (b, p) -> twoGroups(in(b, p), "h", "g", p)).topic("side", 1);
        add("window_stores_exchange_names", "windowed counts of two inputs exchange the names of their stores",
            (b, p) -> twoWindows(b, p, "one", "two"), (b, p) -> twoWindows(b, p, "two", "one")).topic("side", 1);
        add("tables_exchange_names", "two joined tables exchange the names of their stores",
            (b, p) -> out(table(b, p, "in", "l").join(table(b, p, "in2", "r"), BOTH), p), (b, p) -> out(table(b, p, "in", "r").join(table(b, p, "in2", "l"), BOTH), p));
        add("stream_join_renamed", "StreamJoined.as(pair) -> StreamJoined.as(match)",
            (b, p) -> out(in(b, p).join(in2(b, p), BOTH, near(), pair()), p),
            (b, p) -> out(in(b, p).join(in2(b, p), BOTH, near(), StreamJoined.<String, String, String>as("match").withName("match")), p));
        add("stream_join_name_but_no_store", "filter in front of a stream join whose processors are named, and whose stores are not",
            (b, p) -> out(in(b, p).join(in2(b, p), BOTH, near(), joinName("j")), p), (b, p) -> out(in(b, p).filter((k, v) -> true).join(in2(b, p), BOTH, near(), joinName("j")), p));
        add("stream_join_given_a_name", "the processors of a stream join are named, its stores are not",
            (b, p) -> out(in(b, p).join(in2(b, p), BOTH, near()), p), (b, p) -> out(in(b, p).join(in2(b, p), BOTH, near(), joinName("j")), p));
        add("joined_renamed_rekeyed", "Joined.as changed on a re-keyed stream that joins a named table: its repartition topic is renamed, nothing waiting",
            (b, p) -> out(in(b, p).selectKey((k, v) -> k).join(table(b, p, "in2", "t"), BOTH, Joined.as("j")), p),
            (b, p) -> out(in(b, p).selectKey((k, v) -> k).join(table(b, p, "in2", "t"), BOTH, Joined.as("k")), p));
        add("joined_named_operator_in_front", "filter in front of a re-keyed stream that joins a named table, the join named",
            (b, p) -> out(in(b, p).selectKey((k, v) -> k).join(table(b, p, "in2", "t"), BOTH, Joined.as("j")), p),
            (b, p) -> out(in(b, p).filter((k, v) -> true).selectKey((k, v) -> k).join(table(b, p, "in2", "t"), BOTH, Joined.as("j")), p));
        add("session_store_renamed", "the store of a session count renamed", (b, p) -> sessions(in(b, p), "s", p), (b, p) -> sessions(in(b, p), "sessions", p));

        // Tables.
        add("table_to_to_table_unnamed", "table(in2) -> stream(in2).toTable(), joined, un-named",
            (b, p) -> out(in(b, p).join(table(b, p), BOTH), p), (b, p) -> out(in(b, p).join(in2(b, p).toTable(), BOTH), p));
        add("to_table_to_table_named", "stream(in2).toTable(t) -> table(in2, t)",
            (b, p) -> out(in(b, p).join(in2(b, p).toTable(Materialized.as("t")), BOTH), p), (b, p) -> out(in(b, p).join(table(b, p, "in2", "t"), BOTH), p));
        add("to_table_to_table_optimised", "stream(in2).toTable() -> table(in2), un-named, optimised: restored from its topic",
            (b, p) -> out(in(b, p).join(in2(b, p).toTable(), BOTH), p), (b, p) -> out(in(b, p).join(table(b, p), BOTH), p)).with("topology.optimization", ALL_OPTIMISATIONS);
        add("global_table_to_table", "a global table with a named store -> a table",
            (b, p) -> out(in(b, p).join(b.<String, String>globalTable(p + "in2", Materialized.as("t")), (k, v) -> k, BOTH), p), (b, p) -> out(in(b, p).join(table(b, p, "in2", "t"), BOTH), p));
        add("global_table_operator_in_front", "filter in front of a join with an un-named global table",
            (b, p) -> out(in(b, p).join(b.<String, String>globalTable(p + "in2"), (k, v) -> k, BOTH), p),
            (b, p) -> { in(b, p + "").filter((k, v) -> true).to(p + "side"); out(in(b, p).join(b.<String, String>globalTable(p + "in2"), (k, v) -> k, BOTH), p); }).topic("side", 1);
        add("global_table_renamed", "the store of a global table renamed",
            (b, p) -> out(in(b, p).join(b.<String, String>globalTable(p + "in2", Materialized.as("t")), (k, v) -> k, BOTH), p),
            (b, p) -> out(in(b, p).join(b.<String, String>globalTable(p + "in2", Materialized.as("u")), (k, v) -> k, BOTH), p));
        add("table_to_global_unnamed", "a table without names -> a global table", (b, p) -> out(in(b, p).join(table(b, p), BOTH), p),
            (b, p) -> out(in(b, p).join(b.<String, String>globalTable(p + "in2"), (k, v) -> k, BOTH), p));
        add("table_replaced_by_stream_join", "a stream-table join -> a join of streams, un-named",
            (b, p) -> out(in(b, p).join(table(b, p), BOTH), p), (b, p) -> out(in(b, p).join(in2(b, p), BOTH, near()), p));
        add("table_read_as_stream", "table(in, t) -> stream(in), only published", (b, p) -> out(table(b, p, "in", "t"), p), (b, p) -> out(in(b, p), p));
        add("table_store_dropped", "a table without a join loses its name: no store is needed any more", (b, p) -> out(table(b, p, "in", "t"), p), (b, p) -> out(b.<String, String>table(p + "in"), p));
        add("versioned_operator_in_front", "filter in front of a join with a named versioned table",
            (b, p) -> out(in(b, p).join(versions(b, p), BOTH), p), (b, p) -> out(in(b, p).filter((k, v) -> true).join(versions(b, p), BOTH), p));
        add("plain_to_versioned", "a named table's store becomes a versioned one",
            (b, p) -> out(in(b, p).join(table(b, p, "in2", "t"), BOTH), p), (b, p) -> out(in(b, p).join(versions(b, p), BOTH), p));
        add("three_tables_operator_in_front", "a stream in front of a chain of joins of three named tables whose results are not",
            (b, p) -> threeTables(b, p), (b, p) -> { to(b.stream(p + "in4"), p + "side"); threeTables(b, p); }).topic("in3", 1).topic("in4", 1).topic("side", 1);
        add("grouped_table_regrouped_named", "filter in front of a grouped table, grouping and store named",
            (b, p) -> out(groups(table(b, p, "in", "t")), p), (b, p) -> out(groups(table(b, p, "in", "t").filter((k, v) -> true)), p));
        add("table_count_store_renamed", "the store of a count of a grouped table renamed",
            (b, p) -> out(table(b, p, "in", "t").groupBy((k, v) -> KeyValue.pair(v, k), Grouped.as("g")).count(Materialized.as("n")), p),
            (b, p) -> out(table(b, p, "in", "t").groupBy((k, v) -> KeyValue.pair(v, k), Grouped.as("g")).count(Materialized.as("m")), p));

        // Windows, suppress.
        add("sliding_filter_in_front", "filter in front of an un-named count over sliding windows", (b, p) -> windows(sliding(in(b, p), null), p), (b, p) -> windows(sliding(in(b, p).filter((k, v) -> true), null), p));
        add("sliding_operator_in_front_named", "filter in front of a named count over sliding windows", (b, p) -> windows(sliding(in(b, p), "w"), p), (b, p) -> windows(sliding(in(b, p).filter((k, v) -> true), "w"), p));
        add("session_gap_named", "the inactivity gap of a named session count: 1 -> 2 minutes", (b, p) -> sessions(in(b, p), "s", p),
            (b, p) -> windows(in(b, p).groupByKey().windowedBy(SessionWindows.ofInactivityGapWithNoGrace(MINUTE.multipliedBy(2))).count(Materialized.as("s")), p));
        add("window_size_named", "the size of a named window: 1 -> 2 minutes", (b, p) -> windows(in(b, p).groupByKey().windowedBy(minutes()).count(rows("w")), p),
            (b, p) -> windows(in(b, p).groupByKey().windowedBy(TimeWindows.ofSizeAndGrace(MINUTE.multipliedBy(2), Duration.ofSeconds(10))).count(rows("w")), p));
        add("window_emits_when_closed", "EmitStrategy.onWindowClose for a named windowed count", (b, p) -> windows(in(b, p).groupByKey().windowedBy(minutes()).count(rows("w")), p),
            (b, p) -> windows(in(b, p).groupByKey().windowedBy(minutes()).emitStrategy(EmitStrategy.onWindowClose()).count(rows("w")), p)).then(CLOSING);
        add("suppress_renamed", "Suppressed.withName(a) -> withName(b)", (b, p) -> suppressed(in(b, p), closed().withName("a"), p), (b, p) -> suppressed(in(b, p), closed().withName("b"), p)).then(CLOSING);
        add("suppress_named", "an un-named suppress is named", (b, p) -> suppressed(in(b, p), closed(), p), (b, p) -> suppressed(in(b, p), closed().withName("b"), p)).then(CLOSING);
        add("suppress_named_operator_in_front", "filter in front of a named window with a named suppress", (b, p) -> suppressed(in(b, p), closed().withName("a"), p),
            (b, p) -> suppressed(in(b, p).filter((k, v) -> true), closed().withName("a"), p)).then(CLOSING);
        add("suppress_moved_behind_values", "suppress behind mapValues in place of in front of it",
            (b, p) -> windows(in(b, p).groupByKey().windowedBy(minutes()).count(rows("w")).suppress(closed().withName("a")).mapValues(v -> v), p),
            (b, p) -> windows(in(b, p).groupByKey().windowedBy(minutes()).count(rows("w")).mapValues(v -> v, Materialized.<Windowed<String>, Long, KeyValueStore<Bytes, byte[]>>with(WindowedSerdes.timeWindowedSerdeFrom(String.class, 60_000), Serdes.Long())).suppress(closed().withName("a")), p)).then(CLOSING);
        add("count_becomes_windowed_unnamed", "an un-named count becomes windowed", (b, p) -> to(in(b, p).groupByKey().count().toStream().map((k, v) -> KeyValue.pair(k, "" + v)), p + "out"),
            (b, p) -> windows(in(b, p).groupByKey().windowedBy(minutes()).count(), p));

        // Joins.
        add("stream_join_inner_to_outer_unnamed", "join -> outerJoin of streams, un-named", (b, p) -> out(in(b, p).join(in2(b, p), BOTH, near()), p), (b, p) -> out(in(b, p).outerJoin(in2(b, p), BOTH, near()), p));
        add("stream_join_left_to_inner_named", "leftJoin -> join of streams, named", (b, p) -> out(in(b, p).leftJoin(in2(b, p), BOTH, near(), pair()), p), (b, p) -> out(in(b, p).join(in2(b, p), BOTH, near(), pair()), p))
            .then(LATER);
        add("stream_join_outer_to_left_named", "outerJoin -> leftJoin of streams, named", (b, p) -> out(in(b, p).outerJoin(in2(b, p), BOTH, near(), pair()), p), (b, p) -> out(in(b, p).leftJoin(in2(b, p), BOTH, near(), pair()), p))
            .then(LATER);
        add("stream_join_outer_operator_in_front_named", "filter in front of a named outer join of streams", (b, p) -> out(in(b, p).outerJoin(in2(b, p), BOTH, near(), pair()), p),
            (b, p) -> out(in(b, p).filter((k, v) -> true).outerJoin(in2(b, p), BOTH, near(), pair()), p)).then(LATER);
        add("stream_join_behind_unnamed_count", "an un-named count put in front of an un-named join of streams", (b, p) -> out(in(b, p).join(in2(b, p), BOTH, near()), p),
            (b, p) -> { KStream<String, String> s = in(b, p); side(s.groupByKey().count(), p); out(s.join(in2(b, p), BOTH, near()), p); }).topic("side", 1);
        add("foreign_key_join_renamed", "TableJoined.as(fk) -> as(kf), all else named", (b, p) -> foreign(b, p, TableJoined.as("fk"), "o"), (b, p) -> foreign(b, p, TableJoined.as("kf"), "o"));
        add("foreign_key_result_renamed", "the result's store of a foreign-key join renamed, all else named", (b, p) -> foreign(b, p, TableJoined.as("fk"), "o"), (b, p) -> foreign(b, p, TableJoined.as("fk"), "q"));
        add("foreign_key_to_primary", "a foreign-key join -> a join by key of the same named tables", (b, p) -> foreign(b, p, TableJoined.as("fk"), "o"),
            (b, p) -> out(table(b, p, "in", "l").join(table(b, p, "in2", "r"), BOTH, Materialized.as("o")), p));
        add("foreign_key_join_left_unnamed", "filter in front of an un-named foreign-key left join", (b, p) -> out(b.<String, String>table(p + "in").leftJoin(b.<String, String>table(p + "in2"), v -> v, BOTH), p),
            (b, p) -> out(b.<String, String>table(p + "in").filter((k, v) -> true).leftJoin(b.<String, String>table(p + "in2"), v -> v, BOTH), p));
        add("table_join_inner_to_outer_unnamed", "join -> outerJoin of two un-named tables", (b, p) -> out(b.<String, String>table(p + "in").join(b.<String, String>table(p + "in2"), BOTH), p),
            (b, p) -> out(b.<String, String>table(p + "in").outerJoin(b.<String, String>table(p + "in2"), BOTH), p));
        add("stream_table_left_unnamed_operator_behind", "filter behind a left join with an un-named table", (b, p) -> out(in(b, p).leftJoin(table(b, p), BOTH), p),
            (b, p) -> out(in(b, p).leftJoin(table(b, p), BOTH).filter((k, v) -> true), p));

        // The Processor API.
        add("processor_store_renamed", "the store of a processor renamed", (b, p) -> looks(b, p, "seen"), (b, p) -> looks(b, p, "known"));
        add("processor_store_shared", "a second processor of another input gets the first one's store", (b, p) -> looks(b, p, "seen"),
            (b, p) -> { looks(b, p, "seen"); to(in2(b, p).process(() -> new Look("seen"), Named.as("look2"), "seen"), p + "side"); }).topic("side", 1);
        add("processor_store_no_longer_shared", "two processors shared a store, now each has its own",
            (b, p) -> { looks(b, p, "seen"); to(in2(b, p).process(() -> new Look("seen"), Named.as("look2"), "seen"), p + "side"); },
            (b, p) -> { looks(b, p, "seen"); store(b, "seen2"); to(in2(b, p).process(() -> new Look("seen2"), Named.as("look2"), "seen2"), p + "side"); }).topic("side", 1);
        add("processor_second_store", "a processor gets a second named store", (b, p) -> looks(b, p, "seen"),
            (b, p) -> { store(b, "seen"); store(b, "other"); out(in(b, p).process(() -> new Look("seen"), Named.as("look"), "seen", "other"), p); });
        add("processor_to_process_values", "process -> processValues with the same named store", (b, p) -> looks(b, p, "seen"),
            (b, p) -> { store(b, "seen"); out(in(b, p).processValues(() -> new LookAt("seen"), Named.as("look"), "seen"), p); });
        add("processor_store_without_user", "a named processor loses its store", (b, p) -> looks(b, p, "seen"), (b, p) -> out(in(b, p).process(() -> new Pass(), Named.as("look")), p));
        add("count_to_processor_of_one_store", "a named count -> a processor with a store of that name and of texts", named, (b, p) -> looks(b, p, "counts"));
        add("global_store_added", "addGlobalStore in front of a named count", named,
            (b, p) -> { b.addGlobalStore(Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore("g"), Serdes.String(), Serdes.String()), p + "in2", Consumed.with(Serdes.String(), Serdes.String()), () -> new Fill("g")); out(count(in(b, p), "counts"), p); });
        add("global_store_added_unnamed", "addGlobalStore in front of an un-named count", unnamed,
            (b, p) -> { b.addGlobalStore(Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore("g"), Serdes.String(), Serdes.String()), p + "in2", Consumed.with(Serdes.String(), Serdes.String()), () -> new Fill("g")); out(in(b, p).groupByKey().count(), p); });

        // Cogroup.
        add("cogroup_inputs_exchanged", "the two inputs of a named cogroup change places",
            (b, p) -> cogrouped(in(b, p), in2(b, p), p), (b, p) -> cogrouped(in2(b, p), in(b, p), p));
        add("cogroup_input_removed", "one of two inputs of a named cogroup removed", (b, p) -> cogrouped(in(b, p), in2(b, p), p),
            (b, p) -> out(in(b, p).groupByKey().<String>cogroup(join()).aggregate(() -> "", Materialized.as("all")), p));
        add("cogroup_input_added_unnamed", "a second input for an un-named cogroup", (b, p) -> out(in(b, p).groupByKey().<String>cogroup(join()).aggregate(() -> ""), p),
            (b, p) -> out(in(b, p).groupByKey().<String>cogroup(join()).cogroup(in2(b, p).groupByKey(), join()).aggregate(() -> ""), p));
        add("aggregate_to_cogroup", "a named aggregate -> a cogroup of the same one input and name", (b, p) -> out(in(b, p).groupByKey().aggregate(() -> "", join(), Materialized.as("all")), p),
            (b, p) -> out(in(b, p).groupByKey().<String>cogroup(join()).aggregate(() -> "", Materialized.as("all")), p));

        // Optimisation.
        Case.Build tabled = (b, p) -> out(in(b, p).join(table(b, p, "in2", "t"), BOTH), p);
        add("reuse_source_topics_on", "reuse.ktable.source.topics for a joined named table", tabled, tabled).was("topology.optimization", "none").now("topology.optimization", "reuse.ktable.source.topics");
        add("merge_repartitions_on_for_table", "merge.repartition.topics in place of all: the table gets a changelog", tabled, tabled).was("topology.optimization", ALL_OPTIMISATIONS).now("topology.optimization", "merge.repartition.topics");
        add("merge_repartitions_unnamed_off", "merge.repartition.topics off, two un-named counts of one key", MoreCases::mergedUnnamed, MoreCases::mergedUnnamed).topic("side", 1)
            .was("topology.optimization", "merge.repartition.topics").now("topology.optimization", "none");
        add("optimised_table_operator_and_store_name", "optimised: the un-named joined table is named", (b, p) -> out(in(b, p).join(table(b, p), BOTH), p), tabled).with("topology.optimization", ALL_OPTIMISATIONS);

        // Partitions and sub-topologies.
        add("merged_input_wider", "one of two merged inputs of a named count grows", (b, p) -> out(count(in(b, p).merge(in2(b, p)), "counts"), p), (b, p) -> out(count(in(b, p).merge(in2(b, p)), "counts"), p)).grown("in2", 2);
        add("joined_inputs_both_grown", "both inputs of a named join of streams grow", (b, p) -> out(in(b, p).join(in2(b, p), BOTH, near(), pair()), p), (b, p) -> out(in(b, p).join(in2(b, p), BOTH, near(), pair()), p)).grown("in", 2).grown("in2", 2);
        add("stateless_part_grows", "the input of the stateless half grows, the named count's does not", (b, p) -> { out(count(in(b, p), "counts"), p); to(in2(b, p), p + "side"); },
            (b, p) -> { out(count(in(b, p), "counts"), p); to(in2(b, p), p + "side"); }).grown("in2", 3).topic("side", 1);
        add("added_input_wider", "a wider input is merged in front of a named count", named, (b, p) -> out(count(in(b, p).merge(in2(b, p)), "counts"), p)).topic("in2", 2);
        add("added_table_wider", "a join with a table whose topic has more partitions", stateless, (b, p) -> out(same(in(b, p)).join(table(b, p, "in2", "t"), BOTH), p)).topic("in2", 2)
            .first("in2 a T1 0.1", "in2 b T2 0.2", "in2 c T3 0.3", "in2 d T4 0.4", "in2 e T5 0.5", "in a x 1").then("in a x 20", "in b x 21", "in c x 22", "in d x 23", "in e x 24");
        add("repartition_put_in_front_of_named", "repartition() put in front of a named count: another sub-topology", named, (b, p) -> out(count(in(b, p).repartition(Repartitioned.as("wide")), "counts"), p));
        add("parts_merged_by_join", "two independent named parts are joined into one sub-topology", (b, p) -> { out(count(in(b, p), "one"), p); side(count(in2(b, p), "two"), p); },
            (b, p) -> { KTable<String, Long> one = count(in(b, p), "one"), two = count(in2(b, p), "two"); out(one.leftJoin(two, (l, r) -> l + "/" + r), p); side(two, p); }).topic("side", 1);
        add("parts_split_by_join_removed", "the join of two named counts removed: two sub-topologies", (b, p) -> { KTable<String, Long> one = count(in(b, p), "one"), two = count(in2(b, p), "two"); out(one.leftJoin(two, (l, r) -> l + "/" + r), p); side(two, p); },
            (b, p) -> { out(count(in(b, p), "one"), p); side(count(in2(b, p), "two"), p); }).topic("side", 1);

        // Protocols, guarantees, settings.
        add("streams_new_stateful_part", "streams protocol: a named count of another input", named, (b, p) -> { out(count(in(b, p), "counts"), p); side(count(in2(b, p), "two"), p); }).topic("side", 1).with("group.protocol", "streams");
        add("streams_store_renamed", "streams protocol: a named store renamed", named, (b, p) -> out(count(in(b, p), "totals"), p)).with("group.protocol", "streams");
        add("streams_global_table_added", "streams protocol: a join with a global table", stateless, (b, p) -> out(same(in(b, p)).join(b.<String, String>globalTable(p + "in2", Materialized.as("g")), (k, v) -> k, BOTH), p)).with("group.protocol", "streams");
        add("streams_stateless_operator_removed", "streams protocol: a filter removed in front of a named count", (b, p) -> out(count(in(b, p).filter((k, v) -> true), "counts"), p), named).with("group.protocol", "streams");
        add("streams_repartition_renamed", "streams protocol: Grouped.as(g) -> as(h)", (b, p) -> out(in(b, p).groupBy((k, v) -> v, Grouped.as("g")).count(Materialized.as("counts")), p),
            (b, p) -> out(in(b, p).groupBy((k, v) -> v, Grouped.as("h")).count(Materialized.as("counts")), p)).with("group.protocol", "streams");
        add("streams_logging_off", "streams protocol: a named count without its changelog", named, (b, p) -> unlogged(in(b, p), p)).with("group.protocol", "streams");
        add("streams_to_classic_and_shift", "filter in front of an un-named count, and back to the classic protocol", unnamed, (b, p) -> out(in(b, p).filter((k, v) -> true).groupByKey().count(), p)).was("group.protocol", "streams");
        add("classic_to_streams_and_named", "filter in front of a named count, and to the streams protocol", named, (b, p) -> out(count(in(b, p).filter((k, v) -> true), "counts"), p)).now("group.protocol", "streams");
        add("exactly_once_and_named", "filter in front of a named count, and back to at_least_once", named, (b, p) -> out(count(in(b, p).filter((k, v) -> true), "counts"), p)).was("processing.guarantee", "exactly_once_v2").now("processing.guarantee", "at_least_once");
        add("replication_and_topic_settings", "topic.* for internal topics of an un-named count", unnamed, unnamed).now("topic.segment.ms", "3600000").now("topic.retention.bytes", "1000000");
        add("more_threads", "num.stream.threads 1 -> 3, alone", unnamed, unnamed).was("num.stream.threads", "1").now("num.stream.threads", "3");
        add("reset_policy_latest", "auto.offset.reset to latest, the group as it was", unnamed, unnamed).now("auto.offset.reset", "latest");
        add("extractor_of_timestamps", "default.timestamp.extractor to the wall clock, a windowed count", (b, p) -> windows(in(b, p).groupByKey().windowedBy(minutes()).count(Materialized.as("w")), p),
            (b, p) -> windows(in(b, p).groupByKey().windowedBy(minutes()).count(Materialized.as("w")), p)).now("default.timestamp.extractor", "org.apache.kafka.streams.processor.WallclockTimestampExtractor");

        // What no description shows.
        add("logging_off_named", "withLoggingDisabled for a named count", named, (b, p) -> unlogged(in(b, p), p));
        add("caching_off_named", "withCachingDisabled for a named count", named, (b, p) -> out(in(b, p).groupByKey().count(Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as("counts").withCachingDisabled()), p));
        add("changelog_settings_named", "withLoggingEnabled(settings) for a named count", named, (b, p) -> out(in(b, p).groupByKey().count(Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as("counts").withLoggingEnabled(Map.of("segment.ms", "3600000"))), p));
        add("memory_store_named", "a named count's store from RocksDB to memory", named, (b, p) -> out(in(b, p).groupByKey().count(Materialized.<String, Long>as(Stores.inMemoryKeyValueStore("counts")).withKeySerde(Serdes.String()).withValueSerde(Serdes.Long())), p));
        add("join_window_wider_named", "the time difference of a named join: 1 -> 2 minutes", (b, p) -> out(in(b, p).join(in2(b, p), BOTH, near(), pair()), p),
            (b, p) -> out(in(b, p).join(in2(b, p), BOTH, JoinWindows.ofTimeDifferenceWithNoGrace(MINUTE.multipliedBy(2)), pair()), p));
        add("reducer_changed", "reduce: append -> replace", (b, p) -> out(in(b, p).groupByKey().reduce(String::concat, Materialized.as("r")), p), (b, p) -> out(in(b, p).groupByKey().reduce((a, v) -> v, Materialized.as("r")), p));

        // Topics.
        add("pattern_to_list", "a pattern -> the list of the topics that it matched, un-named count", (b, p) -> out(b.<String, String>stream(Pattern.compile(p + "in.*")).groupByKey().count(), p),
            (b, p) -> out(b.<String, String>stream(List.of(p + "in", p + "in2")).groupByKey().count(), p));
        add("second_sink_removed", "one of two sinks removed behind a named count", (b, p) -> { KTable<String, Long> t = count(in(b, p), "counts"); out(t, p); side(t, p); }, named).topic("side", 1);
        add("dynamic_sink", "a sink by name -> a topic name extractor", unnamed, (b, p) -> in(b, p).groupByKey().count().toStream().mapValues(v -> "" + v).to((k, v, c) -> p + "out", Produced.with(Serdes.String(), Serdes.String())));
        add("input_split_in_two_streams", "stream(in) declared twice, for two named counts, in place of once", (b, p) -> { KStream<String, String> s = in(b, p); out(count(s, "one"), p); side(count(same(s), "two"), p); },
            (b, p) -> { out(count(in(b, p), "one"), p); side(count(same(in(b, p)), "two"), p); }).topic("side", 1);
        add("output_read_back", "a count is published to a topic that a new part reads back", (b, p) -> out(count(in(b, p), "counts"), p),
            (b, p) -> { out(count(in(b, p), "counts"), p); to(b.<String, String>stream(p + "out"), p + "side"); }).topic("side", 1);

        // Recorded around what the first of these showed.
        Case.Build tableFirst = (b, p) -> { KTable<String, String> t = table(b, p, "in2", "t"); out(in(b, p).join(t, BOTH), p); };
        Case.Build globalFirst = (b, p) -> { GlobalKTable<String, String> t = b.globalTable(p + "in2", Materialized.as("t")); out(in(b, p).join(t, (k, v) -> k, BOTH), p); };
        add("table_first_to_global", "a table -> a global table, each declared first", tableFirst, globalFirst);
        add("global_first_to_table", "a global table -> a table, each declared first", globalFirst, tableFirst);
        add("global_table_first_in_stateless", "a global table declared first in an application without state", stateless, globalFirst);
        add("global_table_first_wiped", "a global table declared in front of a named count, state directory lost", named,
            (b, p) -> { GlobalKTable<String, String> t = b.globalTable(p + "in2", Materialized.as("t")); KStream<String, String> s = in(b, p); out(count(s, "counts"), p); to(s.join(t, (k, v) -> k, BOTH), p + "side"); }).topic("side", 1).wiped();
        add("global_table_behind_named", "a global table declared behind a named count", named,
            (b, p) -> { KStream<String, String> s = in(b, p); out(count(s, "counts"), p); to(s.join(b.<String, String>globalTable(p + "in2"), (k, v) -> k, BOTH), p + "side"); }).topic("side", 1);
        add("global_table_in_place_of_part", "the second of two stateful parts removed, a global table added", (b, p) -> { out(count(in(b, p), "one"), p); side(count(in2(b, p), "two"), p); },
            (b, p) -> { KStream<String, String> s = in(b, p); out(count(s, "one"), p); to(s.join(b.<String, String>globalTable(p + "in2"), (k, v) -> k, BOTH), p + "side"); }).topic("side", 1);
        add("table_join_result_renamed", "the named result of a join of tables renamed, published only", (b, p) -> out(table(b, p, "in", "l").join(table(b, p, "in2", "r"), BOTH, Materialized.as("o")), p),
            (b, p) -> out(table(b, p, "in", "l").join(table(b, p, "in2", "r"), BOTH, Materialized.as("q")), p));
        add("table_join_result_renamed_and_grouped", "the named result of a join of tables renamed, and grouped behind", (b, p) -> out(groups(table(b, p, "in", "l").join(table(b, p, "in2", "r"), BOTH, Materialized.as("o"))), p),
            (b, p) -> out(groups(table(b, p, "in", "l").join(table(b, p, "in2", "r"), BOTH, Materialized.as("q"))), p));
        add("aggregate_replaced_by_processor", "an un-named reduce -> a processor that does the same with a store of its own", (b, p) -> out(in(b, p).groupByKey().reduce(String::concat), p), (b, p) -> looks(b, p, "seen"));
        add("processor_replaced_by_aggregate", "a processor -> a named reduce that does the same", (b, p) -> looks(b, p, "seen"), (b, p) -> out(in(b, p).groupByKey().reduce(String::concat, Materialized.as("texts")), p));
        add("stream_join_to_table_join", "a named join of streams -> a join with a named table", (b, p) -> out(in(b, p).join(in2(b, p), BOTH, near(), pair()), p), tabled);
        add("cogroup_windowed_operator_in_front", "filter in front of an un-named windowed cogroup",
            (b, p) -> windows(in(b, p).groupByKey().<String>cogroup(join()).cogroup(in2(b, p).groupByKey(), join()).windowedBy(minutes()).aggregate(() -> ""), p),
            (b, p) -> windows(in(b, p).filter((k, v) -> true).groupByKey().<String>cogroup(join()).cogroup(in2(b, p).groupByKey(), join()).windowedBy(minutes()).aggregate(() -> ""), p));
        add("cogroup_inputs_exchanged_unnamed", "the two inputs of an un-named cogroup change places",
            (b, p) -> out(in(b, p).groupByKey().<String>cogroup(join()).cogroup(in2(b, p).groupByKey(), join()).aggregate(() -> ""), p),
            (b, p) -> out(in2(b, p).groupByKey().<String>cogroup(join()).cogroup(in(b, p).groupByKey(), join()).aggregate(() -> ""), p));
        add("two_processors_one_store_split_off", "the second of two processors of one store gets a store of its own, un-named processors",
            (b, p) -> { store(b, "seen"); out(in(b, p).process(() -> new Look("seen"), "seen"), p); to(in2(b, p).process(() -> new Look("seen"), "seen"), p + "side"); },
            (b, p) -> { store(b, "seen"); store(b, "seen2"); out(in(b, p).process(() -> new Look("seen"), "seen"), p); to(in2(b, p).process(() -> new Look("seen2"), "seen2"), p + "side"); }).topic("side", 1);
        add("clients_and_buffers", "poll, fetch and linger settings and the client's id, alone", unnamed, unnamed).now("consumer.max.poll.records", "100").now("producer.linger.ms", "5").now("client.id", "c1").was("client.id", "c0");
        add("unnamed_repartition_shifts_named_count", "filter in front of an un-named repartition() and a named count, nothing waiting",
            (b, p) -> out(count(in(b, p).repartition(), "counts"), p), (b, p) -> out(count(in(b, p).filter((k, v) -> true).repartition(), "counts"), p));
        add("count_named_and_operator_in_front", "filter in front, and the un-named count given a name", unnamed, (b, p) -> out(count(in(b, p).filter((k, v) -> true), "counts"), p));
        add("left_join_table_filter_in_front", "filter of the stream in front of a left join with an un-named toTable of a re-keyed stream",
            (b, p) -> out(in(b, p).leftJoin(in2(b, p).selectKey((k, v) -> k).toTable(Named.as("t")), BOTH), p), (b, p) -> out(in(b, p).filter((k, v) -> true).leftJoin(in2(b, p).selectKey((k, v) -> k).toTable(Named.as("t")), BOTH), p));

        add("global_table_first_in_memory", "a global table declared in front of a table, all stores in memory", tableFirst, globalFirst).with("default.dsl.store", "in_memory");
        add("global_table_first_streams", "streams protocol: a table -> a global table, each declared first", tableFirst, globalFirst).with("group.protocol", "streams");
        add("global_table_first_exactly_once", "a table -> a global table, each declared first, exactly_once_v2", tableFirst, globalFirst).with("processing.guarantee", "exactly_once_v2");
        add("processors_exchange_stores", "two processors of two inputs exchange their stores",
            (b, p) -> { looks(b, p, "seen"); store(b, "seen2"); to(in2(b, p).process(() -> new Look("seen2"), Named.as("look2"), "seen2"), p + "side"); },
            (b, p) -> { looks(b, p, "seen2"); store(b, "seen"); to(in2(b, p).process(() -> new Look("seen"), Named.as("look2"), "seen"), p + "side"); }).topic("side", 1);
        add("cogroup_of_three_middle_removed", "the middle one of three inputs of an un-named cogroup removed",
            (b, p) -> out(in(b, p).groupByKey().<String>cogroup(join()).cogroup(in2(b, p).groupByKey(), join()).cogroup(b.<String, String>stream(p + "in3").groupByKey(), join()).aggregate(() -> ""), p),
            (b, p) -> out(in(b, p).groupByKey().<String>cogroup(join()).cogroup(b.<String, String>stream(p + "in3").groupByKey(), join()).aggregate(() -> ""), p)).topic("in3", 1);

        // Recorded last.
        add("key_select_in_front_unnamed", "selectKey put in front of an un-named count", unnamed, (b, p) -> out(in(b, p).selectKey((k, v) -> k).groupByKey().count(), p));
        add("wide_repartition_input_grown", "the input grows in front of repartition() with a number of its own",
            (b, p) -> out(count(in(b, p).repartition(Repartitioned.<String, String>as("wide").withNumberOfPartitions(2)), "counts"), p),
            (b, p) -> out(count(in(b, p).repartition(Repartitioned.<String, String>as("wide").withNumberOfPartitions(2)), "counts"), p)).grown("in", 3);
        add("inputs_exchanged_named_reduces", "two named reduces exchange their inputs",
            (b, p) -> { out(in(b, p).groupByKey().reduce(String::concat, Materialized.as("one")), p); side(in2(b, p).groupByKey().reduce(String::concat, Materialized.as("two")), p); },
            (b, p) -> { out(in2(b, p).groupByKey().reduce(String::concat, Materialized.as("one")), p); side(in(b, p).groupByKey().reduce(String::concat, Materialized.as("two")), p); }).topic("side", 1);
        add("stream_join_outer_to_inner_unnamed", "outerJoin -> join of streams, un-named", (b, p) -> out(in(b, p).outerJoin(in2(b, p), BOTH, near()), p), (b, p) -> out(in(b, p).join(in2(b, p), BOTH, near()), p)).then(LATER);
        add("to_table_store_renamed", "the store of toTable renamed, joined", (b, p) -> out(in(b, p).join(in2(b, p).toTable(Materialized.as("t")), BOTH), p), (b, p) -> out(in(b, p).join(in2(b, p).toTable(Materialized.as("u")), BOTH), p));
        add("joined_table_filtered", "the named table of a join is filtered first", tabled, (b, p) -> out(in(b, p).join(table(b, p, "in2", "t").filter((k, v) -> true), BOTH), p));
        add("global_join_inner_to_left", "join -> leftJoin with a named global table", (b, p) -> out(in(b, p).join(b.<String, String>globalTable(p + "in2", Materialized.as("t")), (k, v) -> k, BOTH), p),
            (b, p) -> out(in(b, p).leftJoin(b.<String, String>globalTable(p + "in2", Materialized.as("t")), (k, v) -> k, BOTH), p));
        add("stateless_operators_exchanged", "filter and peek change places in an application without state", (b, p) -> out(in(b, p).filter((k, v) -> true).peek((k, v) -> { }), p), (b, p) -> out(in(b, p).peek((k, v) -> { }).filter((k, v) -> true), p));
        add("streams_unnamed_repartition_shifts", "streams protocol: filter in front of an un-named repartition() and a named count",
            (b, p) -> out(count(in(b, p).repartition(), "counts"), p), (b, p) -> out(count(in(b, p).filter((k, v) -> true).repartition(), "counts"), p)).with("group.protocol", "streams");
        add("exactly_once_off_and_shift", "filter in front of an un-named count, and exactly_once_v2 off", unnamed, (b, p) -> out(in(b, p).filter((k, v) -> true).groupByKey().count(), p)).was("processing.guarantee", "exactly_once_v2");
        add("second_part_put_first_unnamed", "an un-named windowed count of another input declared in front of a named count", named,
            (b, p) -> { to(in2(b, p).groupByKey().windowedBy(minutes()).count().toStream().map((k, v) -> KeyValue.pair(k.key(), "" + v)), p + "side"); out(count(in(b, p), "counts"), p); }).topic("side", 1);
        add("suppress_in_time_added", "suppress untilTimeLimit behind a named count", named,
            (b, p) -> out(in(b, p).groupByKey().count(Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as("counts").withKeySerde(Serdes.String()).withValueSerde(Serdes.Long())).suppress(Suppressed.untilTimeLimit(Duration.ofSeconds(1), Suppressed.BufferConfig.unbounded()).withName("slow")), p))
            .then("in a x 20", "in b x 21", "in c y 22", "in z z 60");
    }
}
