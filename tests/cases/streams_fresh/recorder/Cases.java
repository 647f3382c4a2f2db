import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.WindowStore;

/** Upgrades to record; nothing here says how they end. */
class Cases {
    static final List<Case> ALL = new ArrayList<>();
    static final Duration MINUTE = Duration.ofMinutes(1);
    static final ValueJoiner<String, String, String> BOTH = (l, r) -> l + "|" + r;
    static final String ALL_OPTIMISATIONS = "all";

    static Case add(String name, String change, Case.Build before, Case.Build after) {
        Case made = new Case(name, change, before, after);
        ALL.add(made);
        return made;
    }

    static KStream<String, String> in(StreamsBuilder b, String p) { return b.stream(p + "in"); }
    static KStream<String, String> in2(StreamsBuilder b, String p) { return b.stream(p + "in2"); }
    static KTable<String, String> table(StreamsBuilder b, String p) { return b.table(p + "in2"); }
    static KTable<String, String> table(StreamsBuilder b, String p, String topic, String store) { return b.table(p + topic, Materialized.as(store)); }
    static KStream<String, String> same(KStream<String, String> s) { return s.mapValues(v -> v); }
    static void to(KStream<String, ?> s, String topic) { s.mapValues(v -> "" + v).to(topic, Produced.with(Serdes.String(), Serdes.String())); }
    static void out(KStream<String, ?> s, String p) { to(s, p + "out"); }
    static void out(KTable<String, ?> t, String p) { to(t.toStream(), p + "out"); }
    static void side(KTable<String, ?> t, String p) { to(t.toStream(), p + "side"); }
    static void windows(KTable<Windowed<String>, ?> t, String p) {
        t.toStream().map((k, v) -> KeyValue.pair(k.key() + "@" + k.window().start() % 600_000 / 1000, "" + v)).to(p + "out", Produced.with(Serdes.String(), Serdes.String()));
    }
    static TimeWindows minutes() { return TimeWindows.ofSizeAndGrace(MINUTE, Duration.ofSeconds(10)); }
    static JoinWindows near() { return JoinWindows.ofTimeDifferenceWithNoGrace(MINUTE); }
    static StreamJoined<String, String, String> pair() { return StreamJoined.<String, String, String>as("pair").withName("pair"); }
    static Suppressed<Windowed<?>> closed() { return Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded()); }
    /** A store whose serdes a suppress() behind it can use. */
    static Materialized<String, Long, WindowStore<Bytes, byte[]>> rows(String store) {
        return Materialized.<String, Long, WindowStore<Bytes, byte[]>>as(store).withKeySerde(Serdes.String()).withValueSerde(Serdes.Long());
    }
    static Aggregator<String, String, String> join() { return (k, v, a) -> a + v; }
    static KTable<String, Long> count(KStream<String, String> s, String store) { return s.groupByKey().count(Materialized.as(store)); }

    /** Counts by key in the store `seen`. */
    static class Seen implements Processor<String, String, String, String> {
        ProcessorContext<String, String> context;
        KeyValueStore<String, String> store;
        public void init(ProcessorContext<String, String> c) { context = c; store = c.getStateStore("seen"); }
        public void process(Record<String, String> r) {
            String old = store.get(r.key());
            store.put(r.key(), (old == null ? "" : old) + r.value());
            context.forward(r.withValue(store.get(r.key())));
        }
    }

    static void seen(StreamsBuilder b) {
        b.addStateStore(Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore("seen"), Serdes.String(), Serdes.String()));
    }

    static {
        add("reduce_filter_in_front", "filter in front of an un-named reduce",
            (b, p) -> out(in(b, p).groupByKey().reduce(String::concat), p),
            (b, p) -> out(in(b, p).filter((k, v) -> true).groupByKey().reduce(String::concat), p));
        add("window_values_mapped_in_front", "mapValues in front of an un-named windowed count",
            (b, p) -> windows(in(b, p).groupByKey().windowedBy(minutes()).count(), p),
            (b, p) -> windows(same(in(b, p)).groupByKey().windowedBy(minutes()).count(), p));
        add("session_peek_in_front", "peek in front of an un-named session count",
            (b, p) -> windows(in(b, p).groupByKey().windowedBy(SessionWindows.ofInactivityGapWithNoGrace(MINUTE)).count(), p),
            (b, p) -> windows(in(b, p).peek((k, v) -> { }).groupByKey().windowedBy(SessionWindows.ofInactivityGapWithNoGrace(MINUTE)).count(), p));
        add("table_behind_new_filter", "filter in front of a stream-table join whose table is un-named",
            (b, p) -> out(in(b, p).join(table(b, p), BOTH), p),
            (b, p) -> out(in(b, p).filter((k, v) -> true).join(table(b, p), BOTH), p));
        add("optimised_table_behind_new_filter", "the same with optimisation: the table is restored from its topic",
            (b, p) -> out(in(b, p).join(table(b, p), BOTH), p),
            (b, p) -> out(in(b, p).filter((k, v) -> true).join(table(b, p), BOTH), p)).with("topology.optimization", ALL_OPTIMISATIONS);
        add("left_join_operator_in_front", "mapValues in front of an un-named left join of streams",
            (b, p) -> out(in2(b, p).leftJoin(in(b, p), BOTH, near()), p),
            (b, p) -> out(same(in2(b, p)).leftJoin(in(b, p), BOTH, near()), p));
        add("left_join_to_outer_named", "leftJoin -> outerJoin of streams, named",
            (b, p) -> out(in(b, p).leftJoin(in2(b, p), BOTH, near(), pair()), p),
            (b, p) -> out(in(b, p).outerJoin(in2(b, p), BOTH, near(), pair()), p));
        add("reduce_to_aggregate_named", "reduce -> aggregate of the same type in a named store",
            (b, p) -> out(in(b, p).groupByKey().reduce(String::concat, Materialized.as("all")), p),
            (b, p) -> out(in(b, p).groupByKey().aggregate(() -> "", join(), Materialized.as("all")), p));
        add("reduce_to_aggregate_unnamed", "reduce -> aggregate of the same type, un-named",
            (b, p) -> out(in(b, p).groupByKey().reduce(String::concat), p),
            (b, p) -> out(in(b, p).groupByKey().aggregate(() -> "", join()), p));
        add("group_unnamed_store_named", "filter in front of an un-named groupBy with a named store",
            (b, p) -> out(in(b, p).groupBy((k, v) -> v).count(Materialized.as("counts")), p),
            (b, p) -> out(in(b, p).filter((k, v) -> true).groupBy((k, v) -> v).count(Materialized.as("counts")), p));
        add("cogroup_operator_in_front", "mapValues in front of an un-named cogroup",
            (b, p) -> out(in(b, p).groupByKey().<String>cogroup(join()).cogroup(in2(b, p).groupByKey(), join()).aggregate(() -> ""), p),
            (b, p) -> out(same(in(b, p)).groupByKey().<String>cogroup(join()).cogroup(in2(b, p).groupByKey(), join()).aggregate(() -> ""), p));
        add("cogroup_input_added_named", "a second stream cogrouped into a named store",
            (b, p) -> out(in(b, p).groupByKey().<String>cogroup(join()).aggregate(() -> "", Materialized.as("all")), p),
            (b, p) -> out(in(b, p).groupByKey().<String>cogroup(join()).cogroup(in2(b, p).groupByKey(), join()).aggregate(() -> "", Materialized.as("all")), p));
        add("branch_in_front", "a stateful branch in front of an un-named one",
            (b, p) -> in(b, p).split().defaultBranch(Branched.withConsumer(s -> out(s.groupByKey().count(), p))),
            (b, p) -> in(b, p).split().branch((k, v) -> k.equals("zz"), Branched.withConsumer(s -> side(s.groupByKey().count(), p)))
                .defaultBranch(Branched.withConsumer(s -> out(s.groupByKey().count(), p)))).topic("side", 1);
        add("branch_behind", "a stateful branch behind an un-named count",
            (b, p) -> out(in(b, p).groupByKey().count(), p),
            (b, p) -> {
                KStream<String, String> s = in(b, p);
                out(s.groupByKey().count(), p);
                s.split().branch((k, v) -> k.equals("zz"), Branched.withConsumer(x -> side(x.groupByKey().count(), p))).noDefaultBranch();
            }).topic("side", 1);
        add("merge_in_front", "a second input merged in front of an un-named count",
            (b, p) -> out(in(b, p).groupByKey().count(), p), (b, p) -> out(in(b, p).merge(in2(b, p)).groupByKey().count(), p));
        add("foreign_key_join_tables_named", "operator in front of a foreign-key join whose tables only are named",
            (b, p) -> out(table(b, p, "in", "l").join(table(b, p, "in2", "r"), v -> v, BOTH), p),
            (b, p) -> out(table(b, p, "in", "l").filter((k, v) -> true).join(table(b, p, "in2", "r"), v -> v, BOTH), p));
        add("foreign_key_join_all_named", "operator in front of a foreign-key join, all named",
            (b, p) -> out(table(b, p, "in", "l").join(table(b, p, "in2", "r"), v -> v, BOTH, TableJoined.as("fk"), Materialized.as("o")), p),
            (b, p) -> out(table(b, p, "in", "l").filter((k, v) -> true).join(table(b, p, "in2", "r"), v -> v, BOTH, TableJoined.as("fk"), Materialized.as("o")), p));
        String[] closing = {"in a x 20", "in b x 30", "in z z 200"};
        add("suppress_operator_in_front", "mapValues in front of an un-named suppress, its window named",
            (b, p) -> windows(in(b, p).groupByKey().windowedBy(minutes()).count(rows("w")).suppress(closed()), p),
            (b, p) -> windows(same(in(b, p)).groupByKey().windowedBy(minutes()).count(rows("w")).suppress(closed()), p)).then(closing);
        add("suppress_added", "suppress added behind a named windowed count",
            (b, p) -> windows(in(b, p).groupByKey().windowedBy(minutes()).count(rows("w")), p),
            (b, p) -> windows(in(b, p).groupByKey().windowedBy(minutes()).count(rows("w")).suppress(closed()), p)).then(closing);
        add("repartition_count", "Repartitioned.as(wide).withNumberOfPartitions 2 -> 3",
            (b, p) -> out(count(in(b, p).selectKey((k, v) -> k).repartition(Repartitioned.<String, String>as("wide").withNumberOfPartitions(2)), "counts"), p),
            (b, p) -> out(count(in(b, p).selectKey((k, v) -> k).repartition(Repartitioned.<String, String>as("wide").withNumberOfPartitions(3)), "counts"), p));
        Case.Build three = (b, p) -> {
            KStream<String, String> s = in(b, p).selectKey((k, v) -> v);
            out(s.groupByKey().count(), p);
            side(s.groupByKey().reduce(String::concat), p);
            to(s.groupByKey().aggregate(() -> "", join()).toStream(), p + "more");
        };
        add("optimise_three_unnamed", "optimisation on: three un-named aggregates of one grouping", three, three)
            .topic("side", 1).topic("more", 1).was("topology.optimization", "none").now("topology.optimization", ALL_OPTIMISATIONS);
        add("optimise_three_unnamed_off", "optimisation off: three un-named aggregates of one grouping", three, three)
            .topic("side", 1).topic("more", 1).was("topology.optimization", ALL_OPTIMISATIONS).now("topology.optimization", "none");
        add("optimise_three_operator_in_front", "optimised, filter in front of three un-named aggregates", three, (b, p) -> {
            KStream<String, String> s = in(b, p).filter((k, v) -> true).selectKey((k, v) -> v);
            out(s.groupByKey().count(), p);
            side(s.groupByKey().reduce(String::concat), p);
            to(s.groupByKey().aggregate(() -> "", join()).toStream(), p + "more");
        }).topic("side", 1).topic("more", 1).with("topology.optimization", ALL_OPTIMISATIONS);
        add("table_store_renamed", "the store of a joined table renamed by Materialized",
            (b, p) -> out(in(b, p).join(table(b, p, "in2", "known"), BOTH), p), (b, p) -> out(in(b, p).join(table(b, p, "in2", "customers"), BOTH), p));
        add("window_store_to_memory", "a named window store from RocksDB to memory",
            (b, p) -> windows(in(b, p).groupByKey().windowedBy(minutes()).count(Materialized.as("w")), p),
            (b, p) -> windows(in(b, p).groupByKey().windowedBy(minutes()).count(Materialized.<String, Long>as(
                Stores.inMemoryWindowStore("w", Duration.ofSeconds(70), MINUTE, false)).withKeySerde(Serdes.String()).withValueSerde(Serdes.Long())), p));
        Case.Build unnamed = (b, p) -> out(in(b, p).groupByKey().count(), p);
        Case.Build named = (b, p) -> out(count(in(b, p), "counts"), p);
        add("cache_off", "statestore.cache.max.bytes to 0", unnamed, unnamed).was("statestore.cache.max.bytes", "1000000").now("statestore.cache.max.bytes", "0");
        add("threads_and_standbys", "more threads, a standby, another commit interval", unnamed, unnamed)
            .was("num.stream.threads", "1").now("num.stream.threads", "2").now("num.standby.replicas", "1").was("commit.interval.ms", "100").now("commit.interval.ms", "150");
        add("subtopologies_swapped_named", "two independent named parts in the other order",
            (b, p) -> { out(count(in(b, p), "one"), p); side(count(in2(b, p), "two"), p); },
            (b, p) -> { side(count(in2(b, p), "two"), p); out(count(in(b, p), "one"), p); }).topic("side", 1);
        add("count_and_reduce_swapped", "an un-named count and an un-named reduce change places",
            (b, p) -> { KStream<String, String> s = in(b, p); out(s.groupByKey().count(), p); side(s.groupByKey().reduce(String::concat), p); },
            (b, p) -> { KStream<String, String> s = in(b, p); side(s.groupByKey().reduce(String::concat), p); out(s.groupByKey().count(), p); }).topic("side", 1);
        add("input_moved_on", "the input replaced by one that begins where the old one ended", named, (b, p) -> out(count(in2(b, p), "counts"), p))
            .first("in a x 1", "in b y 2", "in a y 3").then("in2 a x 20", "in2 c x 21");
        add("input_copied", "the input replaced by a full copy", named, (b, p) -> out(count(in2(b, p), "counts"), p))
            .first("in a x 1", "in b y 2", "in a y 3").then("in2 a x 1", "in2 b y 2", "in2 a y 3", "in2 a x 20", "in2 c x 21");
        Case.Build pattern = (b, p) -> out(b.<String, String>stream(Pattern.compile(p + "in.*")).groupByKey().count(), p);
        add("pattern_finds_new_topic", "a topic that a pattern matches appears", pattern, pattern).without("in2").grown("in2", 1).first("in a x 1", "in b y 2", "in a y 3");
        add("name_to_pattern", "stream(in) -> stream(Pattern(in)) under an un-named count", unnamed,
            (b, p) -> out(b.<String, String>stream(Pattern.compile(p + "in")).groupByKey().count(), p));
        add("streams_operator_named", "streams protocol: filter in front, all named", (b, p) -> out(in(b, p).groupBy((k, v) -> v, Grouped.as("g")).count(Materialized.as("counts")), p),
            (b, p) -> out(in(b, p).filter((k, v) -> true).groupBy((k, v) -> v, Grouped.as("g")).count(Materialized.as("counts")), p)).with("group.protocol", "streams");
        add("streams_input_merged", "streams protocol: a second input merged in front of a named count", named,
            (b, p) -> out(count(in(b, p).merge(in2(b, p)), "counts"), p)).with("group.protocol", "streams");
        add("streams_subtopologies_swapped", "streams protocol: two independent named parts in the other order",
            (b, p) -> { out(count(in(b, p), "one"), p); side(count(in2(b, p), "two"), p); },
            (b, p) -> { side(count(in2(b, p), "two"), p); out(count(in(b, p), "one"), p); }).topic("side", 1).with("group.protocol", "streams");
        add("streams_partitions_grown", "streams protocol: the input of a named count grows", named, named).grown("in", 2).with("group.protocol", "streams");
        Case.Build stateless = (b, p) -> out(same(in(b, p)), p);
        add("streams_partitions_grown_stateless", "streams protocol: the input of a stateless application grows", stateless, stateless).grown("in", 2).with("group.protocol", "streams");
        add("streams_table_optimised", "streams protocol: optimisation on, a table loses its changelog",
            (b, p) -> out(in(b, p).join(table(b, p, "in2", "t"), BOTH), p), (b, p) -> out(in(b, p).join(table(b, p, "in2", "t"), BOTH), p))
            .with("group.protocol", "streams").was("topology.optimization", "none").now("topology.optimization", ALL_OPTIMISATIONS);
        add("application_renamed", "another application id, read from the earliest record", named, named).renamed();
        add("explicit_names_required", "ensure.explicit.internal.resource.naming with an un-named store", unnamed, unnamed)
            .now("ensure.explicit.internal.resource.naming", "true");
        add("explicit_names_required_and_given", "ensure.explicit.internal.resource.naming, all named", named, named)
            .now("ensure.explicit.internal.resource.naming", "true");
        add("count_operator_named", "count() -> count(Named.as(cnt))", unnamed, (b, p) -> out(in(b, p).groupByKey().count(Named.as("cnt")), p));
        add("table_aggregate_filter_in_front", "filter in front of an un-named groupBy of a named table",
            (b, p) -> out(table(b, p, "in", "t").groupBy((k, v) -> KeyValue.pair(v, k)).aggregate(() -> "", (k, v, a) -> a + "+" + v, (k, v, a) -> a + "-" + v), p),
            (b, p) -> out(table(b, p, "in", "t").filter((k, v) -> true).groupBy((k, v) -> KeyValue.pair(v, k)).aggregate(() -> "", (k, v, a) -> a + "+" + v, (k, v, a) -> a + "-" + v), p));
        add("table_join_stream_in_front", "a stream declared in front of two joined un-named tables",
            (b, p) -> out(b.<String, String>table(p + "in").join(b.<String, String>table(p + "in2"), BOTH), p),
            (b, p) -> { to(b.stream(p + "in3"), p + "side"); out(b.<String, String>table(p + "in").join(b.<String, String>table(p + "in2"), BOTH), p); })
            .topic("in3", 1).topic("side", 1);
        add("table_join_inner_to_left_named", "join -> leftJoin of two named tables",
            (b, p) -> out(table(b, p, "in", "l").join(table(b, p, "in2", "r"), BOTH), p), (b, p) -> out(table(b, p, "in", "l").leftJoin(table(b, p, "in2", "r"), BOTH), p));
        add("to_table_operator_in_front", "mapValues in front of an un-named toTable that is joined",
            (b, p) -> { KTable<String, String> t = in2(b, p).toTable(); out(in(b, p).join(t, BOTH), p); },
            (b, p) -> { KTable<String, String> t = same(in2(b, p)).toTable(); out(in(b, p).join(t, BOTH), p); });
        add("table_to_to_table_named", "table(in2, t) -> stream(in2).toTable(t)",
            (b, p) -> out(in(b, p).join(table(b, p, "in2", "t"), BOTH), p),
            (b, p) -> { KTable<String, String> t = in2(b, p).toTable(Materialized.as("t")); out(in(b, p).join(t, BOTH), p); });
        add("processor_renamed", "a processor with a named store renamed",
            (b, p) -> { seen(b); out(in(b, p).process(Seen::new, Named.as("look"), "seen"), p); },
            (b, p) -> { seen(b); out(in(b, p).process(Seen::new, Named.as("inspect"), "seen"), p); });
        add("processor_unnamed_operator_in_front", "mapValues in front of an un-named processor with a named store",
            (b, p) -> { seen(b); out(in(b, p).process(Seen::new, "seen"), p); },
            (b, p) -> { seen(b); out(same(in(b, p)).process(Seen::new, "seen"), p); });
        add("dsl_store_in_memory", "default.dsl.store to in_memory", unnamed, unnamed).now("default.dsl.store", "in_memory");
        add("store_format_headers", "dsl.store.format to HEADERS", unnamed, unnamed).now("dsl.store.format", "HEADERS");
        Case.Build self = (b, p) -> { KStream<String, String> s = in(b, p); out(s.join(s, BOTH, near()), p); };
        add("self_join_optimised", "optimisation on: an un-named self-join of a stream", self, self)
            .was("topology.optimization", "none").now("topology.optimization", ALL_OPTIMISATIONS);
        add("partitions_grown_stateless", "the input of a stateless application grows", stateless, stateless).grown("in", 2);
        add("partitions_grown_of_joined_table", "only the joined table's topic grows",
            (b, p) -> out(in(b, p).join(table(b, p, "in2", "t"), BOTH), p), (b, p) -> out(in(b, p).join(table(b, p, "in2", "t"), BOTH), p)).grown("in2", 2);
        add("partitions_grown_of_global_table", "the topic of a global table grows",
            (b, p) -> out(in(b, p).join(b.<String, String>globalTable(p + "in2", Materialized.as("t")), (k, v) -> k, BOTH), p),
            (b, p) -> out(in(b, p).join(b.<String, String>globalTable(p + "in2", Materialized.as("t")), (k, v) -> k, BOTH), p)).grown("in2", 2);
        add("named_operator_wiped", "mapValues in front of a named count, state directory lost", named, (b, p) -> out(count(same(in(b, p)), "counts"), p)).wiped();
        add("static_member", "group.instance.id set", unnamed, unnamed).now("group.instance.id", "one");
        add("global_table_removed", "a global table and its join removed",
            (b, p) -> { KTable<String, Long> t = count(in(b, p), "counts"); out(t, p); to(in(b, p + "").join(b.<String, String>globalTable(p + "in2", Materialized.as("g")), (k, v) -> k, BOTH), p + "side"); },
            named).topic("side", 1);
        add("grouping_renamed_drained", "Grouped.as(g) -> Grouped.as(h), the store named, nothing waiting",
            (b, p) -> out(in(b, p).groupBy((k, v) -> v, Grouped.as("g")).count(Materialized.as("counts")), p),
            (b, p) -> out(in(b, p).groupBy((k, v) -> v, Grouped.as("h")).count(Materialized.as("counts")), p));
        add("tumbling_to_hopping_named", "tumbling -> hopping windows of one size in a named store",
            (b, p) -> windows(in(b, p).groupByKey().windowedBy(minutes()).count(Materialized.as("w")), p),
            (b, p) -> windows(in(b, p).groupByKey().windowedBy(minutes().advanceBy(Duration.ofSeconds(30))).count(Materialized.as("w")), p));
        add("store_named_as_generated", "peek in front of an un-named count, whose store is given its generated name", unnamed,
            (b, p) -> out(count(in(b, p).peek((k, v) -> { }), "KSTREAM-AGGREGATE-STATE-STORE-0000000001"), p));
        add("streams_count_to_reduce", "streams protocol: an un-named count -> an un-named reduce", unnamed,
            (b, p) -> out(in(b, p).groupByKey().reduce(String::concat), p)).with("group.protocol", "streams");
        add("pattern_to_streams", "a pattern subscription from the classic to the streams protocol", pattern, pattern).now("group.protocol", "streams");
        add("protocol_and_operator", "filter in front of an un-named count, and from the classic to the streams protocol", unnamed,
            (b, p) -> out(in(b, p).filter((k, v) -> true).groupByKey().count(), p)).now("group.protocol", "streams");
        add("first_of_two_removed", "the first of two un-named counts of two inputs removed",
            (b, p) -> { side(in2(b, p).groupByKey().count(), p); out(in(b, p).groupByKey().count(), p); }, unnamed).topic("side", 1);
        add("join_grace_added", "a grace period for a stream-table join on a versioned table",
            (b, p) -> out(in(b, p).join(versions(b, p), BOTH, Joined.as("j")), p),
            (b, p) -> out(in(b, p).join(versions(b, p), BOTH, Joined.<String, String, String>as("j").withGracePeriod(Duration.ofSeconds(10))), p))
            .then("in a x 20", "in b x 21", "in2 a T3 26", "in a y 28", "in z z 60");
        add("join_stores_named", "filter in front of a re-keyed join of streams whose stores only are named",
            (b, p) -> out(in(b, p).selectKey((k, v) -> k).join(in2(b, p), BOTH, near(), StreamJoined.<String, String, String>with(null, null, null).withStoreName("j")), p),
            (b, p) -> out(in(b, p).filter((k, v) -> true).selectKey((k, v) -> k).join(in2(b, p), BOTH, near(), StreamJoined.<String, String, String>with(null, null, null).withStoreName("j")), p));
        add("table_gets_a_store", "a join with a table that was read without a store before",
            (b, p) -> { out(in(b, p), p); side(table(b, p), p); },
            (b, p) -> { KTable<String, String> t = table(b, p); out(in(b, p).join(t, BOTH), p); side(t, p); }).topic("side", 1);
        add("foreign_key_join_inner_to_left", "foreign-key join -> leftJoin, all named",
            (b, p) -> out(table(b, p, "in", "l").join(table(b, p, "in2", "r"), v -> v, BOTH, TableJoined.as("fk"), Materialized.as("o")), p),
            (b, p) -> out(table(b, p, "in", "l").leftJoin(table(b, p, "in2", "r"), v -> v, BOTH, TableJoined.as("fk"), Materialized.as("o")), p));
        add("pattern_narrower", "a pattern that no longer matches one of two topics", pattern,
            (b, p) -> out(b.<String, String>stream(Pattern.compile(p + "in")).groupByKey().count(), p));
        add("table_filter_kept", "a filtered table is kept in a named store of its own",
            (b, p) -> out(table(b, p, "in", "t").filter((k, v) -> v.equals("x")), p),
            (b, p) -> out(table(b, p, "in", "t").filter((k, v) -> v.equals("x"), Materialized.as("kept")), p));
        add("exactly_once_and_operator", "filter in front of an un-named count, and exactly_once_v2", unnamed,
            (b, p) -> out(in(b, p).filter((k, v) -> true).groupByKey().count(), p)).now("processing.guarantee", "exactly_once_v2");
        add("table_values_kept", "the mapped values of a table are kept in a named store of their own",
            (b, p) -> out(table(b, p, "in", "t").mapValues(v -> v + v), p), (b, p) -> out(table(b, p, "in", "t").mapValues(v -> v + v, Materialized.as("kept")), p));
        add("joined_table_values_kept", "the mapped values of a joined table are kept in a named store of their own",
            (b, p) -> out(in(b, p).join(table(b, p, "in2", "t").mapValues(v -> v + v), BOTH), p),
            (b, p) -> out(in(b, p).join(table(b, p, "in2", "t").mapValues(v -> v + v, Materialized.as("kept")), BOTH), p));
        add("grouped_table_values_kept", "the mapped values of a table that is grouped are kept in a named store of their own",
            (b, p) -> out(groups(table(b, p, "in", "t").mapValues(v -> v)), p), (b, p) -> out(groups(table(b, p, "in", "t").mapValues(v -> v, Materialized.as("kept"))), p));
        add("table_filter_kept_for_new_output", "a filtered table with a named store, for an output that is new",
            (b, p) -> out(table(b, p, "in", "t"), p),
            (b, p) -> { KTable<String, String> t = table(b, p, "in", "t"); out(t, p); side(t.filter((k, v) -> v.equals("x"), Materialized.as("kept")), p); }).topic("side", 1);
        add("table_join_result_kept", "the result of a join of tables is kept in a named store",
            (b, p) -> out(table(b, p, "in", "l").join(table(b, p, "in2", "r"), BOTH), p), (b, p) -> out(table(b, p, "in", "l").join(table(b, p, "in2", "r"), BOTH, Materialized.as("o")), p));
        add("table_filter_no_longer_kept", "a filtered table loses its named store",
            (b, p) -> out(table(b, p, "in", "t").filter((k, v) -> v.equals("x"), Materialized.as("kept")), p), (b, p) -> out(table(b, p, "in", "t").filter((k, v) -> v.equals("x")), p));
        add("filtered_count_kept", "a filtered named count is kept in a named store of its own",
            (b, p) -> out(count(in(b, p), "counts").filter((k, v) -> v < 3), p), (b, p) -> out(count(in(b, p), "counts").filter((k, v) -> v < 3, Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as("kept")
                .withKeySerde(Serdes.String()).withValueSerde(Serdes.Long())), p)).first("in a x 1", "in a x 2", "in b x 3", "in c x 4");
        add("self_join_optimisation_off", "optimisation off: an un-named self-join of a stream", self, self)
            .was("topology.optimization", ALL_OPTIMISATIONS).now("topology.optimization", "none");
        add("pattern_finds_wider_topic", "a topic with more partitions that a pattern matches appears", pattern, pattern).without("in2").grown("in2", 2)
            .first("in a x 1", "in b y 2", "in a y 3");
        add("streams_joined_table_grown", "streams protocol: only the joined table's topic grows",
            (b, p) -> out(in(b, p).join(table(b, p, "in2", "t"), BOTH), p), (b, p) -> out(in(b, p).join(table(b, p, "in2", "t"), BOTH), p)).grown("in2", 2).with("group.protocol", "streams");
        add("streams_threads", "streams protocol: more threads", unnamed, unnamed).with("group.protocol", "streams").was("num.stream.threads", "1").now("num.stream.threads", "2");
        add("handlers_and_idling", "an exception handler, idling and buffering set", unnamed, unnamed).now("max.task.idle.ms", "10").now("buffered.records.per.partition", "500")
            .now("deserialization.exception.handler", "org.apache.kafka.streams.errors.LogAndContinueExceptionHandler");
        add("given_names_exchanged", "a count and a reduce of one input exchange the names of their stores",
            (b, p) -> { KStream<String, String> s = in(b, p); out(s.groupByKey().count(Materialized.as("one")), p); side(s.groupByKey().reduce(String::concat, Materialized.as("two")), p); },
            (b, p) -> { KStream<String, String> s = in(b, p); out(s.groupByKey().count(Materialized.as("two")), p); side(s.groupByKey().reduce(String::concat, Materialized.as("one")), p); }).topic("side", 1);
        add("stream_table_join_left_to_inner_unnamed", "leftJoin -> join of a stream with an un-named table",
            (b, p) -> out(in(b, p).leftJoin(table(b, p), BOTH), p), (b, p) -> out(in(b, p).join(table(b, p), BOTH), p));
        add("unlogged_operator_in_front", "mapValues in front of a named count without a changelog", (b, p) -> unlogged(in(b, p), p), (b, p) -> unlogged(same(in(b, p)), p));
        add("unlogged_partitions_grown", "the input of a named count without a changelog grows", (b, p) -> unlogged(in(b, p), p), (b, p) -> unlogged(in(b, p), p)).grown("in", 3);
        add("client_settings", "settings of the consumers and producers", unnamed, unnamed).was("consumer.max.poll.records", "500").now("consumer.max.poll.records", "100")
            .now("producer.linger.ms", "5").now("compression.type", "lz4").now("client.id", "counting");
        add("foreign_key_join_operator_named", "operator in front of a foreign-key join, tables and join named, its result not",
            (b, p) -> out(table(b, p, "in", "l").join(table(b, p, "in2", "r"), v -> v, BOTH, TableJoined.as("fk")), p),
            (b, p) -> out(table(b, p, "in", "l").filter((k, v) -> true).join(table(b, p, "in2", "r"), v -> v, BOTH, TableJoined.as("fk")), p));
        add("merge_exchanged_unnamed", "in.merge(in2) -> in2.merge(in) in front of an un-named count",
            (b, p) -> out(in(b, p).merge(in2(b, p)).groupByKey().count(), p), (b, p) -> out(in2(b, p).merge(in(b, p)).groupByKey().count(), p));
        add("merge_to_list_unnamed", "in.merge(in2) -> stream(in, in2) in front of an un-named count",
            (b, p) -> out(in(b, p).merge(in2(b, p)).groupByKey().count(), p),
            (b, p) -> out(b.<String, String>stream(List.of(p + "in", p + "in2")).groupByKey().count(), p));
        add("join_sides_exchanged_unnamed", "in.join(in2) -> in2.join(in), un-named",
            (b, p) -> out(in(b, p).join(in2(b, p), BOTH, near()), p), (b, p) -> out(in2(b, p).join(in(b, p), (l, r) -> r + "|" + l, near()), p));
        add("join_sides_exchanged_named", "in.join(in2) -> in2.join(in), named",
            (b, p) -> out(in(b, p).join(in2(b, p), BOTH, near(), pair()), p), (b, p) -> out(in2(b, p).join(in(b, p), (l, r) -> r + "|" + l, near(), pair()), p));
        add("table_join_sides_exchanged_named", "l.join(r) -> r.join(l) of named tables",
            (b, p) -> out(table(b, p, "in", "l").join(table(b, p, "in2", "r"), BOTH), p),
            (b, p) -> out(table(b, p, "in2", "r").join(table(b, p, "in", "l"), (l, r) -> r + "|" + l), p));
        add("table_join_sides_exchanged_unnamed", "l.join(r) -> r.join(l) of un-named tables",
            (b, p) -> out(b.<String, String>table(p + "in").join(b.<String, String>table(p + "in2"), BOTH), p),
            (b, p) -> out(b.<String, String>table(p + "in2").join(b.<String, String>table(p + "in"), (l, r) -> r + "|" + l), p));
        add("chain_operator_between_named", "filter between two aggregates, stores named, groupings not",
            (b, p) -> out(count(in(b, p), "one").toStream().mapValues(v -> "" + v).groupBy((k, v) -> v).count(Materialized.as("two")), p),
            (b, p) -> out(count(in(b, p), "one").toStream().filter((k, v) -> true).mapValues(v -> "" + v).groupBy((k, v) -> v).count(Materialized.as("two")), p));
        add("cogroup_operator_in_front_named", "mapValues in front of a cogroup with a named store",
            (b, p) -> out(in(b, p).groupByKey().<String>cogroup(join()).cogroup(in2(b, p).groupByKey(), join()).aggregate(() -> "", Materialized.as("all")), p),
            (b, p) -> out(same(in(b, p)).groupByKey().<String>cogroup(join()).cogroup(in2(b, p).groupByKey(), join()).aggregate(() -> "", Materialized.as("all")), p));
        add("window_and_suppress_shift", "peek in front of an un-named window with a suppress",
            (b, p) -> windows(in(b, p).groupByKey().windowedBy(minutes()).count(serdes()).suppress(closed()), p),
            (b, p) -> windows(in(b, p).peek((k, v) -> { }).groupByKey().windowedBy(minutes()).count(serdes()).suppress(closed()), p)).then(closing);
    }

    static Materialized<String, Long, WindowStore<Bytes, byte[]>> serdes() {
        return Materialized.<String, Long, WindowStore<Bytes, byte[]>>with(Serdes.String(), Serdes.Long());
    }

    static KTable<String, String> groups(KTable<String, String> t) {
        return t.groupBy((k, v) -> KeyValue.pair(v, k), Grouped.as("g")).aggregate(() -> "", (k, v, a) -> a + "+" + v, (k, v, a) -> a + "-" + v, Materialized.as("groups"));
    }

    static void unlogged(KStream<String, String> s, String p) {
        out(s.groupByKey().count(Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as("counts").withLoggingDisabled()), p);
    }

    static KTable<String, String> versions(StreamsBuilder b, String p) {
        return b.table(p + "in2", Consumed.with(Serdes.String(), Serdes.String()), Materialized.as(Stores.persistentVersionedKeyValueStore("t", Duration.ofMinutes(10))));
    }
}
