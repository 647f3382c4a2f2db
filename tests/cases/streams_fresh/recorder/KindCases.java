import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.TimestampedKeyValueStore;
import org.apache.kafka.streams.state.ValueAndTimestamp;

/** Upgrades of the kinds that the rules got wrong on changes of public projects; nothing here says how they end. */
final class KindCases extends Parts {
    private KindCases() { }

    /** Adds them to ALL. */
    static void load() { }

    static final String EXPLICIT = "ensure.explicit.internal.resource.naming";
    static final ValueTransformerWithKeySupplier<String, String, String> AS_IS = () -> new ValueTransformerWithKey<>() {
        public void init(org.apache.kafka.streams.processor.ProcessorContext c) { }
        public String transform(String k, String v) { return v; }
        public void close() { }
    };

    /** What reduce(String::concat) does, by hand and in a store of the same format. */
    static final class Append extends ContextualProcessor<String, String, String, String> {
        final String name;
        Append(String name) { this.name = name; }
        public void process(Record<String, String> r) {
            TimestampedKeyValueStore<String, String> store = context().getStateStore(name);
            ValueAndTimestamp<String> old = store.get(r.key());
            String now = (old == null ? "" : old.value()) + r.value();
            store.put(r.key(), ValueAndTimestamp.make(now, r.timestamp()));
            context().forward(r.withValue(now));
        }
    }

    /** Counts by key, as count() does, and passes text on. */
    static final class Tally extends ContextualProcessor<String, String, String, String> {
        public void process(Record<String, String> r) {
            TimestampedKeyValueStore<String, Long> store = context().getStateStore("counts");
            ValueAndTimestamp<Long> old = store.get(r.key());
            long now = (old == null ? 0 : old.value()) + 1;
            store.put(r.key(), ValueAndTimestamp.make(now, r.timestamp()));
            context().forward(r.withValue("" + now));
        }
    }

    /** Looks into one store and fills another. */
    static final class Both extends ContextualProcessor<String, String, String, String> {
        public void process(Record<String, String> r) {
            KeyValueStore<String, String> stock = context().getStateStore("stock"), orders = context().getStateStore("orders");
            String old = orders.get(r.key());
            orders.put(r.key(), (old == null ? "" : old) + r.value());
            context().forward(r.withValue(orders.get(r.key()) + "|" + stock.get(r.key())));
        }
    }

    static void texts(StreamsBuilder b, String name) {
        b.addStateStore(Stores.timestampedKeyValueStoreBuilder(Stores.persistentTimestampedKeyValueStore(name), Serdes.String(), Serdes.String()));
    }

    static void tallies(StreamsBuilder b) {
        b.addStateStore(Stores.timestampedKeyValueStoreBuilder(Stores.persistentTimestampedKeyValueStore("counts"), Serdes.String(), Serdes.Long()));
    }

    static void stocked(StreamsBuilder b, String p, String fill, String look, String shown) {
        store(b, "stock");
        store(b, "orders");
        in2(b, p).process(() -> new Fill("stock"), Named.as(fill), "stock");
        in(b, p).process(Both::new, Named.as(look), "stock", "orders").mapValues(v -> v, Named.as(shown)).to(p + "out", Produced.with(Serdes.String(), Serdes.String()));
    }

    static KStream<String, String> rekeyed(StreamsBuilder b, String p) { return in(b, p).selectKey((k, v) -> v); }

    static KTable<Windowed<String>, Long> perMinute(KStream<String, String> s) { return s.groupByKey().windowedBy(minutes()).count(rows("w")); }
    static KTable<Windowed<String>, Long> perSession(KStream<String, String> s) {
        return s.groupByKey().windowedBy(SessionWindows.ofInactivityGapAndGrace(MINUTE, Duration.ofSeconds(5)))
            .count(Materialized.<String, Long, SessionStore<Bytes, byte[]>>as("s").withKeySerde(Serdes.String()).withValueSerde(Serdes.Long()));
    }
    static void windowsTo(KTable<Windowed<String>, ?> t, String topic) {
        t.toStream().map((k, v) -> KeyValue.pair(k.key() + "@" + k.window().start() % 600_000 / 1000, "" + v)).to(topic, Produced.with(Serdes.String(), Serdes.String()));
    }
    static KTable<String, Long> closedWindows(KTable<Windowed<String>, Long> t) {
        return t.toStream().groupBy((k, v) -> k.key(), Grouped.with("by-key", Serdes.String(), Serdes.Long())).count(Materialized.as("closed"));
    }

    static {
        Case.Build named = (b, p) -> out(count(in(b, p), "counts"), p);
        Case.Build unnamed = (b, p) -> out(in(b, p).groupByKey().count(), p);
        Case.Build stateless = (b, p) -> out(same(in(b, p)), p);

        // Two operators become one that takes another number of names.
        add("filter_and_values_become_flat_values", "filter and mapValues in front of an un-named count -> one flatMapValues",
            (b, p) -> out(same(in(b, p).filter((k, v) -> true)).groupByKey().count(), p), (b, p) -> out(in(b, p).flatMapValues(v -> List.of(v)).groupByKey().count(), p));
        add("values_and_key_become_map", "mapValues and selectKey in front of an un-named count -> map",
            (b, p) -> out(same(in(b, p)).selectKey((k, v) -> v).groupByKey().count(), p), (b, p) -> out(in(b, p).map((k, v) -> KeyValue.pair(v, v)).groupByKey().count(), p));
        add("group_and_reduce_become_to_table", "groupByKey().reduce(last) -> toTable(), both un-named, in front of an un-named count of another input",
            (b, p) -> { out(in2(b, p).join(in(b, p).groupByKey().reduce((a, v) -> v), BOTH), p); side(in2(b, p).groupByKey().count(), p); },
            (b, p) -> { out(in2(b, p).join(in(b, p).toTable(), BOTH), p); side(in2(b, p).groupByKey().count(), p); }).topic("side", 1);
        add("to_table_and_join_become_table_join", "stream(in2).filter().toTable() -> table(in2).filter(), un-named, joined, then counted un-named",
            (b, p) -> out(in(b, p).join(in2(b, p).filter((k, v) -> true).toTable(), BOTH).groupByKey().count(), p),
            (b, p) -> out(in(b, p).join(table(b, p).filter((k, v) -> true), BOTH).groupByKey().count(), p));
        add("left_join_and_filter_become_join", "leftJoin with a named table and a filter -> join, an un-named count behind",
            (b, p) -> out(in(b, p).leftJoin(table(b, p, "in2", "t"), BOTH).filter((k, v) -> !v.endsWith("null")).groupByKey().count(), p),
            (b, p) -> out(in(b, p).join(table(b, p, "in2", "t"), BOTH).groupByKey().count(), p));
        add("two_filters_become_a_split", "filter and filterNot -> split, an un-named count and an un-named reduce behind",
            (b, p) -> { KStream<String, String> s = in(b, p); out(s.filter((k, v) -> v.equals("x")).groupByKey().count(), p); side(s.filterNot((k, v) -> v.equals("x")).groupByKey().reduce(String::concat), p); },
            (b, p) -> in(b, p).split().branch((k, v) -> v.equals("x"), Branched.withConsumer(s -> out(s.groupByKey().count(), p)))
                .defaultBranch(Branched.withConsumer(s -> side(s.groupByKey().reduce(String::concat), p)))).topic("side", 1);
        add("window_and_regroup_become_sessions", "two processors become one in front of an un-named windowed count",
            (b, p) -> windows(in(b, p).process(Pass::new).process(Pass::new).groupByKey().windowedBy(minutes()).count(), p),
            (b, p) -> windows(in(b, p).process(Pass::new).groupByKey().windowedBy(minutes()).count(), p));
        add("table_filter_and_values_become_transform", "filter and mapValues of a named table -> transformValues, regrouped un-named",
            (b, p) -> out(groupsUnnamed(table(b, p, "in", "t").filter((k, v) -> true).mapValues(v -> v)), p),
            (b, p) -> out(groupsUnnamed(table(b, p, "in", "t").transformValues(AS_IS)), p));
        add("two_joins_become_cogroup", "two un-named reduces and an outer join of them -> an un-named cogroup",
            (b, p) -> out(in(b, p).groupByKey().reduce(String::concat).outerJoin(in2(b, p).groupByKey().reduce(String::concat), BOTH), p),
            (b, p) -> out(in(b, p).groupByKey().<String>cogroup(join()).cogroup(in2(b, p).groupByKey(), join()).aggregate(() -> ""), p));
        add("topic_between_becomes_stream", "a topic of its own between two operators taken out, an un-named count behind",
            (b, p) -> { same(in(b, p)).to(p + "in3"); out(b.<String, String>stream(p + "in3").groupByKey().count(), p); },
            (b, p) -> out(same(in(b, p)).groupByKey().count(), p)).topic("in3", 1);
        add("stream_table_to_foreign_key", "rekeyed table joined by its key -> a foreign-key join, un-named",
            (b, p) -> out(table(b, p, "in", "l").toStream().selectKey((k, v) -> v).join(table(b, p), BOTH), p),
            (b, p) -> out(table(b, p, "in", "l").join(table(b, p), v -> v, BOTH), p));

        // Results are held back until windows close.
        String[] late = {"in a x 20", "in b x 30", "in z z 200"};
        add("suppress_added_for_new_output", "final results of a named windowed count published to a topic of their own",
            (b, p) -> windowsTo(perMinute(in(b, p)), p + "out"),
            (b, p) -> { KTable<Windowed<String>, Long> t = perMinute(in(b, p)); windowsTo(t, p + "out"); windowsTo(t.suppress(closed()), p + "side"); }).topic("side", 1).then(late);
        add("suppress_added_and_output_replaced", "a named windowed count published to one topic -> its final results to another",
            (b, p) -> windowsTo(perMinute(in(b, p)), p + "out"), (b, p) -> windowsTo(perMinute(in(b, p)).suppress(closed()), p + "side")).topic("side", 1).then(late);
        add("suppress_added_in_front_of_count", "suppress between a named windowed count and a named count of its windows",
            (b, p) -> out(closedWindows(perMinute(in(b, p))), p), (b, p) -> out(closedWindows(perMinute(in(b, p)).suppress(closed())), p)).then(late);
        add("suppress_added_to_sessions", "suppress added behind a named session count",
            (b, p) -> windows(perSession(in(b, p)), p), (b, p) -> windows(perSession(in(b, p)).suppress(closed()), p)).then(late);
        add("suppress_named_added_to_sliding", "a named suppress added behind a named count over sliding windows",
            (b, p) -> windows(slidingRows(in(b, p)), p), (b, p) -> windows(slidingRows(in(b, p)).suppress(closed().withName("final")), p)).then(late);
        add("suppress_added_and_filter", "suppress and a filter of the final results added behind a named windowed count",
            (b, p) -> windows(perMinute(in(b, p)), p), (b, p) -> windows(perMinute(in(b, p)).suppress(closed()).filter((k, v) -> true), p)).then(late);
        add("suppress_added_drained", "suppress added behind a named windowed count whose windows have all closed",
            (b, p) -> windows(perMinute(in(b, p)), p), (b, p) -> windows(perMinute(in(b, p)).suppress(closed()), p)).first("in a x 1", "in b y 2", "in z z 100").then("in a x 110", "in z z 300");
        add("suppress_added_unnamed_window", "suppress added behind an un-named windowed count",
            (b, p) -> windows(in(b, p).groupByKey().windowedBy(minutes()).count(Materialized.with(Serdes.String(), Serdes.Long())), p),
            (b, p) -> windows(in(b, p).groupByKey().windowedBy(minutes()).count(Materialized.with(Serdes.String(), Serdes.Long())).suppress(closed()), p)).then(late);

        // Processors are renamed.
        add("two_processors_renamed", "two processors that share stores, and the operator behind, renamed",
            (b, p) -> stocked(b, p, "fill-stock", "match-orders", "show"), (b, p) -> stocked(b, p, "stock-writer", "order-matcher", "format"));
        add("processors_of_one_input_renamed", "two processors of one input with stores of their own renamed",
            (b, p) -> { store(b, "one"); store(b, "two"); KStream<String, String> s = in(b, p); out(s.process(() -> new Look("one"), Named.as("a"), "one"), p); to(s.process(() -> new Look("two"), Named.as("b"), "two"), p + "side"); },
            (b, p) -> { store(b, "one"); store(b, "two"); KStream<String, String> s = in(b, p); out(s.process(() -> new Look("one"), Named.as("first"), "one"), p); to(s.process(() -> new Look("two"), Named.as("second"), "two"), p + "side"); }).topic("side", 1);
        add("processors_exchange_names", "two processors exchange their names, each keeps its store",
            (b, p) -> { store(b, "one"); store(b, "two"); out(in(b, p).process(() -> new Look("one"), Named.as("a"), "one"), p); to(in2(b, p).process(() -> new Look("two"), Named.as("b"), "two"), p + "side"); },
            (b, p) -> { store(b, "one"); store(b, "two"); out(in(b, p).process(() -> new Look("one"), Named.as("b"), "one"), p); to(in2(b, p).process(() -> new Look("two"), Named.as("a"), "two"), p + "side"); }).topic("side", 1);
        add("dsl_operators_renamed", "filter, count, toStream, source and sink renamed, store and grouping keep their names",
            (b, p) -> b.<String, String>stream(p + "in", Consumed.as("orders")).filter((k, v) -> true, Named.as("valid")).groupBy((k, v) -> v, Grouped.as("by-value")).count(Named.as("counter"), Materialized.as("counts"))
                .toStream(Named.as("rows")).mapValues(v -> "" + v, Named.as("text")).to(p + "out", Produced.<String, String>as("publish").withKeySerde(Serdes.String()).withValueSerde(Serdes.String())),
            (b, p) -> b.<String, String>stream(p + "in", Consumed.as("payments")).filter((k, v) -> true, Named.as("checked")).groupBy((k, v) -> v, Grouped.as("by-value")).count(Named.as("tally"), Materialized.as("counts"))
                .toStream(Named.as("lines")).mapValues(v -> "" + v, Named.as("printed")).to(p + "out", Produced.<String, String>as("sent").withKeySerde(Serdes.String()).withValueSerde(Serdes.String())));
        add("table_operators_renamed", "the kept filter and mapValues of a named table renamed, their stores keep their names",
            (b, p) -> out(table(b, p, "in", "t").filter((k, v) -> true, Named.as("f1"), Materialized.as("kept")).mapValues(v -> v, Named.as("m1"), Materialized.as("mapped")), p),
            (b, p) -> out(table(b, p, "in", "t").filter((k, v) -> true, Named.as("f2"), Materialized.as("kept")).mapValues(v -> v, Named.as("m2"), Materialized.as("mapped")), p));
        add("joins_renamed", "names of a stream join and of a table join changed, their stores keep their names",
            (b, p) -> { out(in(b, p).join(in2(b, p), BOTH, near(), StreamJoined.<String, String, String>as("pair").withName("j1")), p); side(table(b, p, "in3", "l").join(table(b, p, "in4", "r"), BOTH, Named.as("tj1"), Materialized.as("o")), p); },
            (b, p) -> { out(in(b, p).join(in2(b, p), BOTH, near(), StreamJoined.<String, String, String>as("pair").withName("j2")), p); side(table(b, p, "in3", "l").join(table(b, p, "in4", "r"), BOTH, Named.as("tj2"), Materialized.as("o")), p); })
            .topic("in3", 1).topic("in4", 1).topic("side", 1);
        add("suppress_and_outer_join_renamed", "the processors of an outer join renamed, its stores keep their names",
            (b, p) -> out(in(b, p).outerJoin(in2(b, p), BOTH, near(), StreamJoined.<String, String, String>as("pair").withName("j1")), p),
            (b, p) -> out(in(b, p).outerJoin(in2(b, p), BOTH, near(), StreamJoined.<String, String, String>as("pair").withName("j2")), p));
        add("branches_renamed", "split and its branches renamed, named counts behind",
            (b, p) -> { Map<String, KStream<String, String>> m = in(b, p).split(Named.as("kind-")).branch((k, v) -> v.equals("x"), Branched.as("x")).defaultBranch(Branched.as("rest")); out(count(m.get("kind-x"), "xs"), p); side(count(m.get("kind-rest"), "ys"), p); },
            (b, p) -> { Map<String, KStream<String, String>> m = in(b, p).split(Named.as("type-")).branch((k, v) -> v.equals("x"), Branched.as("one")).defaultBranch(Branched.as("other")); out(count(m.get("type-one"), "xs"), p); side(count(m.get("type-other"), "ys"), p); }).topic("side", 1);
        add("fk_join_operators_renamed", "the result of a foreign-key join mapped by a renamed operator",
            (b, p) -> foreignMapped(b, p, "m1"), (b, p) -> foreignMapped(b, p, "m2"));
        add("renamed_around_repartitions", "processors in front of and behind two named repartitions renamed",
            (b, p) -> repartitioned(b, p, "a", "b", "c"), (b, p) -> repartitioned(b, p, "x", "y", "z")).topic("side", 1);
        add("global_store_processor_renamed", "what fills a global table's store, and the join, renamed",
            (b, p) -> out(b.<String, String>stream(p + "in").join(b.<String, String>globalTable(p + "in2", Consumed.as("g1"), Materialized.as("g")), (k, v) -> k, BOTH, Named.as("j1")), p),
            (b, p) -> out(b.<String, String>stream(p + "in").join(b.<String, String>globalTable(p + "in2", Consumed.as("g2"), Materialized.as("g")), (k, v) -> k, BOTH, Named.as("j2")), p));
        add("processor_with_unnamed_store_behind_renamed", "a named stateless processor in front of an un-named count renamed",
            (b, p) -> out(in(b, p).process(Pass::new, Named.as("enrich")).groupByKey().count(), p), (b, p) -> out(in(b, p).process(Pass::new, Named.as("augment")).groupByKey().count(), p));
        add("named_processors_around_unnamed_stores", "processors in front of two un-named reduces of one input renamed",
            (b, p) -> { KStream<String, String> s = in(b, p); out(s.process(Pass::new, Named.as("a")).groupByKey().reduce(String::concat), p); side(s.process(Pass::new, Named.as("b")).groupByKey().reduce(String::concat), p); },
            (b, p) -> { KStream<String, String> s = in(b, p); out(s.process(Pass::new, Named.as("c")).groupByKey().reduce(String::concat), p); side(s.process(Pass::new, Named.as("d")).groupByKey().reduce(String::concat), p); }).topic("side", 1);
        add("cogroup_renamed", "the processors of a named cogroup renamed",
            (b, p) -> out(in(b, p).groupByKey().<String>cogroup(join()).cogroup(in2(b, p).groupByKey(), join()).aggregate(() -> "", Named.as("c1"), Materialized.as("all")), p),
            (b, p) -> out(in(b, p).groupByKey().<String>cogroup(join()).cogroup(in2(b, p).groupByKey(), join()).aggregate(() -> "", Named.as("c2"), Materialized.as("all")), p));

        // A rewrite leaves the description as it is.
        add("stateless_rewritten", "the function of a mapValues of an application without state rewritten", stateless, (b, p) -> out(in(b, p).mapValues(v -> new StringBuilder(v).toString()), p));
        add("stateless_joined_global_rewritten", "the joiner of a join with a global table rewritten",
            (b, p) -> out(in(b, p).join(b.<String, String>globalTable(p + "in2", Materialized.as("t")), (k, v) -> k, BOTH), p),
            (b, p) -> out(in(b, p).join(b.<String, String>globalTable(p + "in2", Materialized.as("t")), (k, v) -> k, (l, r) -> String.join("|", l, r)), p));
        add("count_rewritten", "a named count built from a shared variable in place of a chain", named,
            (b, p) -> { KGroupedStream<String, String> g = in(b, p).groupByKey(Grouped.with(Serdes.String(), Serdes.String())); KTable<String, Long> t = g.count(Materialized.as("counts")); out(t, p); });
        add("table_restored_from_topic_rewritten", "an optimised table that a stream joins, its joiner rewritten",
            (b, p) -> out(in(b, p).join(table(b, p, "in2", "t"), BOTH), p), (b, p) -> out(in(b, p).join(table(b, p, "in2", "t"), (l, r) -> String.join("|", l, r)), p)).with("topology.optimization", ALL_OPTIMISATIONS);

        // A DSL aggregation and a processor on one store.
        add("reduce_to_processor_same_store", "a named reduce -> an un-named processor on a store of its name and format",
            (b, p) -> out(in(b, p).groupByKey().reduce(String::concat, Materialized.as("texts")), p), (b, p) -> { texts(b, "texts"); out(in(b, p).process(() -> new Append("texts"), "texts"), p); });
        add("reduce_to_named_processor_same_store", "a named reduce -> a named processor on a store of its name and format",
            (b, p) -> out(in(b, p).groupByKey().reduce(String::concat, Materialized.as("texts")), p), (b, p) -> { texts(b, "texts"); out(in(b, p).process(() -> new Append("texts"), Named.as("append"), "texts"), p); });
        add("count_to_processor_same_store", "a named count -> a processor on a store of its name and format", named,
            (b, p) -> { tallies(b); in(b, p).process(Tally::new, "counts").to(p + "out", Produced.with(Serdes.String(), Serdes.String())); });
        add("processor_to_count_same_store", "a processor -> a named count on its store",
            (b, p) -> { tallies(b); in(b, p).process(Tally::new, Named.as("tally"), "counts").to(p + "out", Produced.with(Serdes.String(), Serdes.String())); }, named);
        add("reduce_to_process_values_same_store", "a named reduce of an input's own key -> a processor with a plain store of its name",
            (b, p) -> out(in(b, p).groupByKey().reduce(String::concat, Materialized.as("texts")), p), (b, p) -> looks(b, p, "texts"));
        add("regrouped_count_to_processor", "groupBy and a named count -> repartition of the same name and a processor on the store",
            (b, p) -> out(in(b, p).groupBy((k, v) -> v, Grouped.as("by")).count(Materialized.as("counts")), p),
            (b, p) -> { tallies(b); in(b, p).selectKey((k, v) -> v).repartition(Repartitioned.as("by")).process(Tally::new, "counts").to(p + "out", Produced.with(Serdes.String(), Serdes.String())); });
        add("to_table_to_processor", "a named toTable -> a processor that keeps the last row in a store of its name",
            (b, p) -> { KTable<String, String> t = in2(b, p).toTable(Materialized.as("t")); out(in(b, p).join(t, BOTH), p); },
            (b, p) -> { KTable<String, String> t = in2(b, p).groupByKey().reduce((a, v) -> v, Materialized.as("t")); out(in(b, p).join(t, BOTH), p); });

        // A topic of its own becomes an internal one.
        add("own_topic_to_repartition", "to(topic) and stream(topic) in front of a named count -> a named repartition()",
            (b, p) -> { rekeyed(b, p).to(p + "in3"); out(count(b.stream(p + "in3"), "counts"), p); },
            (b, p) -> out(count(rekeyed(b, p).repartition(Repartitioned.as("by-value")), "counts"), p)).topic("in3", 1);
        add("own_topic_to_grouping", "to(topic) and stream(topic) in front of a named count -> groupBy",
            (b, p) -> { rekeyed(b, p).to(p + "in3"); out(count(b.stream(p + "in3"), "counts"), p); },
            (b, p) -> out(in(b, p).groupBy((k, v) -> v, Grouped.as("by-value")).count(Materialized.as("counts")), p)).topic("in3", 1);
        add("repartition_to_own_topic", "a named repartition() in front of a named count -> a topic of its own",
            (b, p) -> out(count(rekeyed(b, p).repartition(Repartitioned.as("by-value")), "counts"), p),
            (b, p) -> { rekeyed(b, p).to(p + "in3"); out(count(b.stream(p + "in3"), "counts"), p); }).topic("in3", 1);
        add("own_topic_of_table_to_to_table", "to(topic) and table(topic) that a stream joins -> repartition().toTable() of the same store",
            (b, p) -> { in2(b, p).selectKey((k, v) -> k).to(p + "in3"); out(in(b, p).join(table(b, p, "in3", "t"), BOTH), p); },
            (b, p) -> out(in(b, p).join(in2(b, p).selectKey((k, v) -> k).repartition(Repartitioned.as("re")).toTable(Materialized.as("t")), BOTH), p)).topic("in3", 1);
        add("own_topic_taken_out", "a topic of its own between an input and a named count taken out",
            (b, p) -> { same(in(b, p)).to(p + "in3"); out(count(b.stream(p + "in3"), "counts"), p); }, (b, p) -> out(count(same(in(b, p)), "counts"), p)).topic("in3", 1);

        // Repartition topics are merged.
        Case.Build two = (b, p) -> { KStream<String, String> s = rekeyed(b, p); out(count(s, "counts"), p); side(s.groupByKey().reduce(String::concat, Materialized.as("texts")), p); };
        Case.Build grouped = (b, p) -> { KStream<String, String> s = rekeyed(b, p); out(s.groupByKey(Grouped.as("g")).count(Materialized.as("counts")), p); side(s.groupByKey(Grouped.as("h")).reduce(String::concat, Materialized.as("texts")), p); };
        Case.Build once = (b, p) -> { KGroupedStream<String, String> g = rekeyed(b, p).groupByKey(Grouped.as("g")); out(g.count(Materialized.as("counts")), p); side(g.reduce(String::concat, Materialized.as("texts")), p); };
        add("merged_named_stores", "optimisation on: two named aggregates of one un-named grouping", two, two).topic("side", 1).now("topology.optimization", ALL_OPTIMISATIONS);
        add("merged_named_groupings", "optimisation on: two named aggregates of two named groupings", grouped, grouped).topic("side", 1).now("topology.optimization", ALL_OPTIMISATIONS);
        add("merged_only_repartitions", "merge.repartition.topics on: two named aggregates of two named groupings", grouped, grouped).topic("side", 1).now("topology.optimization", "merge.repartition.topics");
        add("merged_join_and_count", "optimisation on: a join with a named table and a named count behind one selectKey",
            (b, p) -> { KStream<String, String> s = rekeyed(b, p); out(s.join(table(b, p, "in2", "t"), BOTH, Joined.as("j")), p); side(count(s, "counts"), p); },
            (b, p) -> { KStream<String, String> s = rekeyed(b, p); out(s.join(table(b, p, "in2", "t"), BOTH, Joined.as("j")), p); side(count(s, "counts"), p); }).topic("side", 1).now("topology.optimization", ALL_OPTIMISATIONS);
        add("merged_off_named_groupings", "optimisation off: two named aggregates of two named groupings", grouped, grouped).topic("side", 1).was("topology.optimization", ALL_OPTIMISATIONS);
        add("groupings_become_one", "two named groupings -> one that two named aggregates share", grouped, once).topic("side", 1);
        add("grouping_becomes_repartition", "two named groupings -> one repartition() in front of two named aggregates", grouped,
            (b, p) -> { KStream<String, String> s = rekeyed(b, p).repartition(Repartitioned.as("g")); out(count(s, "counts"), p); side(s.groupByKey().reduce(String::concat, Materialized.as("texts")), p); }).topic("side", 1);

        // Explicit names are required.
        Case.Build asGenerated = (b, p) -> out(count(in(b, p), "KSTREAM-AGGREGATE-STATE-STORE-0000000001"), p);
        add("names_required_as_generated", "explicit names required, the count named as its store was called", unnamed, asGenerated).now(EXPLICIT, "true");
        add("names_required_twins_as_generated", "explicit names required, two counts of one input named as their stores were called",
            (b, p) -> { KStream<String, String> s = in(b, p); out(s.groupByKey().count(), p); side(s.groupByKey().reduce(String::concat), p); },
            (b, p) -> { KStream<String, String> s = in(b, p); out(count(s, "KSTREAM-AGGREGATE-STATE-STORE-0000000001"), p); side(s.groupByKey().reduce(String::concat, Materialized.as("KSTREAM-REDUCE-STATE-STORE-0000000006")), p); }).topic("side", 1).now(EXPLICIT, "true");
        add("names_required_grouping_as_generated", "explicit names required, grouping and store named as they were called",
            (b, p) -> out(in(b, p).groupBy((k, v) -> v).count(), p),
            (b, p) -> out(in(b, p).groupBy((k, v) -> v, Grouped.as("KSTREAM-AGGREGATE-STATE-STORE-0000000002")).count(Materialized.as("KSTREAM-AGGREGATE-STATE-STORE-0000000002")), p)).now(EXPLICIT, "true");
        add("names_required_table_as_generated", "explicit names required, a joined table named as its store was called", (b, p) -> out(in(b, p).join(table(b, p), BOTH), p),
            (b, p) -> out(in(b, p).join(table(b, p, "in2", p + "in2-STATE-STORE-0000000001"), BOTH), p)).now(EXPLICIT, "true");
        add("names_required_one_forgotten", "explicit names required, one of two stores left un-named",
            (b, p) -> { out(in(b, p).groupByKey().count(), p); side(count(in2(b, p), "two"), p); }, (b, p) -> { out(in(b, p).groupByKey().count(), p); side(count(in2(b, p), "two"), p); }).topic("side", 1).now(EXPLICIT, "true");
        add("names_required_before_unnamed_added", "explicit names were required already, an un-named count of another input added", named,
            (b, p) -> { out(count(in(b, p), "counts"), p); side(in2(b, p).groupByKey().count(), p); }).topic("side", 1).with(EXPLICIT, "true");
        add("names_required_group_by_store_named", "explicit names required, an un-named groupBy whose store is named",
            (b, p) -> out(in(b, p).groupBy((k, v) -> v).count(Materialized.as("counts")), p), (b, p) -> out(in(b, p).groupBy((k, v) -> v).count(Materialized.as("counts")), p)).now(EXPLICIT, "true");

        // A table's store gets its first name.
        add("joined_table_gets_a_name", "a table that a stream joins gets its first name", (b, p) -> out(in(b, p).join(table(b, p), BOTH), p), (b, p) -> out(in(b, p).join(table(b, p, "in2", "customers"), BOTH), p));
        add("published_table_gets_a_name", "a table that is only published gets a store", (b, p) -> out(b.<String, String>table(p + "in"), p), (b, p) -> out(table(b, p, "in", "t"), p));
        add("filtered_table_gets_a_name", "a filtered table that a stream joins gets its first name at its source",
            (b, p) -> out(in(b, p).join(table(b, p).filter((k, v) -> true), BOTH), p), (b, p) -> out(in(b, p).join(table(b, p, "in2", "customers").filter((k, v) -> true), BOTH), p));
        add("filtered_table_result_gets_a_name", "a filtered table that a stream joins gets its first name at the filter",
            (b, p) -> out(in(b, p).join(table(b, p).filter((k, v) -> true), BOTH), p),
            (b, p) -> out(in(b, p).join(table(b, p).filter((k, v) -> true, Materialized.as("kept")), BOTH), p));
        add("optimised_table_gets_a_name", "an optimised table that a stream joins gets its first name", (b, p) -> out(in(b, p).join(table(b, p), BOTH), p),
            (b, p) -> out(in(b, p).join(table(b, p, "in2", "customers"), BOTH), p)).with("topology.optimization", ALL_OPTIMISATIONS);
        add("two_tables_get_names", "two joined tables get their first names", (b, p) -> out(table(b, p, "in", "l").join(table(b, p), BOTH), p),
            (b, p) -> out(table(b, p, "in", "left").join(table(b, p, "in2", "right"), BOTH), p));
        add("to_table_gets_a_name", "toTable gets its first name, joined", (b, p) -> out(in(b, p).join(in2(b, p).toTable(), BOTH), p), (b, p) -> out(in(b, p).join(in2(b, p).toTable(Materialized.as("t")), BOTH), p));

        // Rewrites that should do nothing, of other shapes.
        add("loop_in_place_of_three", "three streams of one kind built by a loop, named",
            (b, p) -> { out(count(in(b, p), "one"), p); side(count(in2(b, p), "two"), p); to(count(b.stream(p + "in3"), "three").toStream(), p + "more"); },
            (b, p) -> { String[] t = {"in", "in2", "in3"}, n = {"one", "two", "three"}, o = {"out", "side", "more"}; for (int i = 0; i < 3; i++) to(b.<String, String>stream(p + t[i]).groupByKey().count(Named.as("c" + i), Materialized.as(n[i])).toStream(), p + o[i]); })
            .topic("in3", 1).topic("side", 1).topic("more", 1);
        add("select_key_and_group_become_group_by", "selectKey and groupByKey -> groupBy, grouping and store named",
            (b, p) -> out(rekeyed(b, p).groupByKey(Grouped.as("g")).count(Materialized.as("counts")), p), (b, p) -> out(in(b, p).groupBy((k, v) -> v, Grouped.as("g")).count(Materialized.as("counts")), p));
        add("map_becomes_select_key_and_values", "map -> mapValues and selectKey, grouping and store named",
            (b, p) -> out(in(b, p).map((k, v) -> KeyValue.pair(v, v)).groupByKey(Grouped.as("g")).count(Materialized.as("counts")), p),
            (b, p) -> out(same(in(b, p)).selectKey((k, v) -> v).groupByKey(Grouped.as("g")).count(Materialized.as("counts")), p));
        add("filter_moved_behind_group", "filter in front of a grouping moved behind its selectKey, grouping and store named",
            (b, p) -> out(in(b, p).filter((k, v) -> true).selectKey((k, v) -> v).groupByKey(Grouped.as("g")).count(Materialized.as("counts")), p),
            (b, p) -> out(in(b, p).selectKey((k, v) -> v).filter((k, v) -> true).groupByKey(Grouped.as("g")).count(Materialized.as("counts")), p));
        add("map_to_map_values", "map that keeps the key -> mapValues in front of a named count: no repartition is needed any more",
            (b, p) -> out(in(b, p).map((k, v) -> KeyValue.pair(k, v)).groupByKey(Grouped.as("g")).count(Materialized.as("counts")), p), (b, p) -> out(count(same(in(b, p)), "counts"), p));
        add("process_to_process_values", "a processor that keeps the key -> processValues, a named count behind",
            (b, p) -> { store(b, "seen"); out(in(b, p).process(() -> new Look("seen"), "seen").groupByKey(Grouped.as("g")).count(Materialized.as("counts")), p); },
            (b, p) -> { store(b, "seen"); out(in(b, p).processValues(() -> new LookAt("seen"), "seen").groupByKey(Grouped.as("g")).count(Materialized.as("counts")), p); });
        add("print_and_foreach_added", "foreach and print added behind a named count", named, (b, p) -> { KTable<String, Long> t = count(in(b, p), "counts"); t.toStream().foreach((k, v) -> { }); out(t, p); });
        add("dead_letters_split_off", "records that fail a check go to a topic of their own, in front of a named count", named,
            (b, p) -> { Map<String, KStream<String, String>> m = in(b, p).split(Named.as("s-")).branch((k, v) -> v.equals("bad"), Branched.as("bad")).defaultBranch(Branched.as("good")); m.get("s-bad").to(p + "side"); out(count(m.get("s-good"), "counts"), p); }).topic("side", 1);
        add("aggregate_to_count", "aggregate that counts -> count, store named",
            (b, p) -> out(in(b, p).groupByKey().aggregate(() -> 0L, (k, v, a) -> a + 1, Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as("counts").withKeySerde(Serdes.String()).withValueSerde(Serdes.Long())), p), named);
        add("aggregate_to_count_unnamed", "aggregate that counts -> count, un-named",
            (b, p) -> out(in(b, p).groupByKey().aggregate(() -> 0L, (k, v, a) -> a + 1, Materialized.with(Serdes.String(), Serdes.Long())), p), unnamed);
        add("table_to_stream_and_back", "table(in2, t) -> table(in2, t).toStream().filter().toTable(u) added behind for another output",
            (b, p) -> { KTable<String, String> t = table(b, p, "in2", "t"); out(in(b, p).join(t, BOTH), p); },
            (b, p) -> { KTable<String, String> t = table(b, p, "in2", "t"); out(in(b, p).join(t, BOTH), p); side(t.toStream().filter((k, v) -> true).toTable(Materialized.as("u")), p); }).topic("side", 1);
        add("transform_to_fixed_key_processor", "mapValues with a key in front of a named windowed count -> processValues",
            (b, p) -> windows(perMinute(in(b, p).mapValues((k, v) -> k + v)), p), (b, p) -> windows(perMinute(in(b, p).processValues(PassAt::new)), p));
        add("merge_order_of_named", "two inputs merged in the other order in front of a named count",
            (b, p) -> out(count(in(b, p).merge(in2(b, p)), "counts"), p), (b, p) -> out(count(in2(b, p).merge(in(b, p)), "counts"), p));
        add("stream_join_inputs_filtered_first", "a filter behind a named stream join moved in front of both inputs",
            (b, p) -> out(in(b, p).join(in2(b, p), BOTH, near(), pair()).filter((k, v) -> true), p), (b, p) -> out(in(b, p).filter((k, v) -> true).join(in2(b, p).filter((k, v) -> true), BOTH, near(), pair()), p));
        add("suppress_kept_around_rewrite", "operators behind a named suppress rewritten",
            (b, p) -> windows(perMinute(in(b, p)).suppress(closed().withName("final")), p), (b, p) -> windows(perMinute(in(b, p)).suppress(closed().withName("final")).filter((k, v) -> true), p)).then(late);
        add("foreign_key_named_result_mapped", "mapValues added behind a named foreign-key join", (b, p) -> foreign(b, p, TableJoined.as("fk"), "o"),
            (b, p) -> out(table(b, p, "in", "l").join(table(b, p, "in2", "r"), v -> v, BOTH, TableJoined.as("fk"), Materialized.as("o")).mapValues(v -> v), p));
        add("named_topology_parts_reordered", "three named parts in another order, one with a repartition",
            (b, p) -> { out(count(in(b, p), "one"), p); side(in2(b, p).groupBy((k, v) -> v, Grouped.as("g")).count(Materialized.as("two")), p); },
            (b, p) -> { side(in2(b, p).groupBy((k, v) -> v, Grouped.as("g")).count(Materialized.as("two")), p); out(count(in(b, p), "one"), p); }).topic("side", 1);

        // Recorded around what the first of these showed.
        add("to_table_renamed_unnamed_store", "a named toTable without a store name renamed, joined",
            (b, p) -> out(in(b, p).join(in2(b, p).toTable(Named.as("customers")), BOTH), p), (b, p) -> out(in(b, p).join(in2(b, p).toTable(Named.as("clients")), BOTH), p));
        add("kept_filter_renamed_unnamed_store", "a named filter of a table, kept without a store name, renamed, joined",
            (b, p) -> out(in(b, p).join(table(b, p, "in2", "t").filter((k, v) -> true, Named.as("active"), Materialized.with(Serdes.String(), Serdes.String())), BOTH), p),
            (b, p) -> out(in(b, p).join(table(b, p, "in2", "t").filter((k, v) -> true, Named.as("enabled"), Materialized.with(Serdes.String(), Serdes.String())), BOTH), p));
        add("kept_values_renamed_unnamed_store", "named mapValues of a table, kept without a store name, renamed, joined",
            (b, p) -> out(in(b, p).join(table(b, p, "in2", "t").mapValues(v -> v, Named.as("short"), Materialized.with(Serdes.String(), Serdes.String())), BOTH), p),
            (b, p) -> out(in(b, p).join(table(b, p, "in2", "t").mapValues(v -> v, Named.as("brief"), Materialized.with(Serdes.String(), Serdes.String())), BOTH), p));
        add("kept_transform_renamed_unnamed_store", "named transformValues of a table, kept without a store name, renamed, joined",
            (b, p) -> out(in(b, p).join(table(b, p, "in2", "t").transformValues(AS_IS, Materialized.with(Serdes.String(), Serdes.String()), Named.as("short")), BOTH), p),
            (b, p) -> out(in(b, p).join(table(b, p, "in2", "t").transformValues(AS_IS, Materialized.with(Serdes.String(), Serdes.String()), Named.as("brief")), BOTH), p));
        add("table_join_renamed_unnamed_result", "a named join of named tables, kept without a store name, renamed and grouped",
            (b, p) -> out(groups(table(b, p, "in", "l").join(table(b, p, "in2", "r"), BOTH, Named.as("match"), Materialized.with(Serdes.String(), Serdes.String()))), p),
            (b, p) -> out(groups(table(b, p, "in", "l").join(table(b, p, "in2", "r"), BOTH, Named.as("enrich"), Materialized.with(Serdes.String(), Serdes.String()))), p));
        add("table_count_renamed_unnamed_store", "a named count of a grouped table, without a store name, renamed",
            (b, p) -> out(table(b, p, "in", "t").groupBy((k, v) -> KeyValue.pair(v, k), Grouped.as("g")).count(Named.as("c1")), p),
            (b, p) -> out(table(b, p, "in", "t").groupBy((k, v) -> KeyValue.pair(v, k), Grouped.as("g")).count(Named.as("c2")), p));
        add("all_operators_get_names", "every operator of a named grouping and count gets a name",
            (b, p) -> out(in(b, p).filter((k, v) -> true).groupBy((k, v) -> v, Grouped.as("by-value")).count(Materialized.as("counts")), p),
            (b, p) -> b.<String, String>stream(p + "in", Consumed.as("orders")).filter((k, v) -> true, Named.as("valid")).groupBy((k, v) -> v, Grouped.as("by-value")).count(Named.as("counter"), Materialized.as("counts"))
                .toStream(Named.as("rows")).mapValues(v -> "" + v, Named.as("text")).to(p + "out", Produced.<String, String>as("publish").withKeySerde(Serdes.String()).withValueSerde(Serdes.String())));
        add("all_table_operators_get_names", "every operator of a named table, its kept filter and a join gets a name",
            (b, p) -> out(in(b, p).join(table(b, p, "in2", "t").filter((k, v) -> true, Materialized.as("kept")), BOTH), p),
            (b, p) -> out(b.<String, String>stream(p + "in", Consumed.as("left")).join(b.<String, String>table(p + "in2", Consumed.as("right"), Materialized.as("t")).filter((k, v) -> true, Named.as("active"), Materialized.as("kept")), BOTH, Joined.as("match")), p));
        add("chain_of_processors_renamed", "a chain of two processors with a store each renamed, streams protocol",
            (b, p) -> { store(b, "one"); store(b, "two"); out(in(b, p).process(() -> new Look("one"), Named.as("a"), "one").process(() -> new Look("two"), Named.as("b"), "two"), p); },
            (b, p) -> { store(b, "one"); store(b, "two"); out(in(b, p).process(() -> new Look("one"), Named.as("c"), "one").process(() -> new Look("two"), Named.as("d"), "two"), p); }).with("group.protocol", "streams");
        add("processors_swap_names_behind_repartitions", "two processors behind named repartitions exchange their names",
            (b, p) -> behind(b, p, "a", "b"), (b, p) -> behind(b, p, "b", "a")).topic("side", 1);
        add("reduce_to_all_named_processor", "a named reduce -> a named processor on its store, all behind it named",
            (b, p) -> in(b, p).groupByKey().reduce(String::concat, Materialized.as("texts")).toStream().mapValues(v -> v).to(p + "out"),
            (b, p) -> { texts(b, "texts"); in(b, p).process(() -> new Append("texts"), Named.as("append"), "texts").mapValues(v -> v, Named.as("text")).to(p + "out"); });

        add("merged_three_one_windowed", "optimisation on: a count, a reduce and a windowed count of one selectKey, all named", KindCases::threeOfOne, KindCases::threeOfOne)
            .topic("side", 1).topic("more", 1).now("topology.optimization", ALL_OPTIMISATIONS);
        add("merged_two_table_joins", "optimisation on: one re-keyed stream joins two named tables, the joins named", KindCases::twoJoins, KindCases::twoJoins)
            .topic("in3", 1).topic("side", 1).now("topology.optimization", "merge.repartition.topics");
        add("merged_stream_join_and_count", "optimisation on: a re-keyed stream joins another, all named, and is counted", KindCases::joinAndCount, KindCases::joinAndCount)
            .topic("side", 1).now("topology.optimization", "merge.repartition.topics");
        add("merged_unnamed_groupings", "optimisation on: two un-named groupings by the value, each with a named store", KindCases::mergedByGroups, KindCases::mergedByGroups)
            .topic("side", 1).now("topology.optimization", ALL_OPTIMISATIONS);
        add("merged_values_behind_key", "optimisation on: mapValues between one selectKey and each of two named groupings", KindCases::valuesBehindKey, KindCases::valuesBehindKey)
            .topic("side", 1).now("topology.optimization", ALL_OPTIMISATIONS);
        add("merged_explicit_repartitions", "optimisation on: a named repartition() and a named grouping behind one selectKey", KindCases::explicitAndGrouped, KindCases::explicitAndGrouped)
            .topic("side", 1).now("topology.optimization", ALL_OPTIMISATIONS);
        add("merged_stateless_and_count", "optimisation on: an un-named grouping, and an un-named join with a named table, of one selectKey",
            (b, p) -> { KStream<String, String> s = rekeyed(b, p); out(s.join(table(b, p, "in2", "t"), BOTH), p); side(count(s, "counts"), p); },
            (b, p) -> { KStream<String, String> s = rekeyed(b, p); out(s.join(table(b, p, "in2", "t"), BOTH), p); side(count(s, "counts"), p); }).topic("side", 1).now("topology.optimization", "merge.repartition.topics");

        add("own_topic_to_repartition_unnamed_store", "to(topic) and stream(topic) in front of an un-named count -> an un-named repartition()",
            (b, p) -> { rekeyed(b, p).to(p + "in3"); out(b.<String, String>stream(p + "in3").groupByKey().count(), p); },
            (b, p) -> out(rekeyed(b, p).repartition().groupByKey().count(), p)).topic("in3", 1);
        add("own_topic_of_named_window", "to(topic) and stream(topic) in front of a named windowed count -> groupBy",
            (b, p) -> { rekeyed(b, p).to(p + "in3"); windows(perMinute(b.stream(p + "in3")), p); },
            (b, p) -> windows(in(b, p).groupBy((k, v) -> v, Grouped.as("by")).windowedBy(minutes()).count(rows("w")), p)).topic("in3", 1);
        add("own_topic_read_twice", "a topic of its own that two named stores read -> a repartition() for both",
            (b, p) -> { rekeyed(b, p).to(p + "in3"); KStream<String, String> s = b.stream(p + "in3"); out(count(s, "counts"), p); side(s.groupByKey().reduce(String::concat, Materialized.as("texts")), p); },
            (b, p) -> { KStream<String, String> s = rekeyed(b, p).repartition(Repartitioned.as("re")); out(count(s, "counts"), p); side(s.groupByKey().reduce(String::concat, Materialized.as("texts")), p); }).topic("in3", 1).topic("side", 1);
        add("own_topic_removed_second_stage_moved_front", "two named stages with a topic between them become one sub-topology",
            (b, p) -> { store(b, "seen"); in(b, p).process(() -> new Look("seen"), "seen").to(p + "in3"); out(count(b.stream(p + "in3"), "counts"), p); },
            (b, p) -> { store(b, "seen"); out(in(b, p).process(() -> new Look("seen"), "seen").groupByKey(Grouped.as("g")).count(Materialized.as("counts")), p); }).topic("in3", 1);

        add("suppress_in_time_added_for_new_output", "suppress untilTimeLimit behind a named count, published to a topic of its own", named,
            (b, p) -> { KTable<String, Long> t = in(b, p).groupByKey().count(Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as("counts").withKeySerde(Serdes.String()).withValueSerde(Serdes.Long()));
                out(t, p); side(t.suppress(Suppressed.untilTimeLimit(Duration.ofSeconds(5), Suppressed.BufferConfig.unbounded())), p); }).topic("side", 1);
        add("suppress_added_behind_values_for_new_output", "final results behind mapValues of a named windowed count, published to another topic",
            (b, p) -> windowsTo(perMinute(in(b, p)), p + "out"),
            (b, p) -> windowsTo(perMinute(in(b, p)).mapValues(v -> v, Materialized.<Windowed<String>, Long, KeyValueStore<Bytes, byte[]>>with(WindowedSerdes.timeWindowedSerdeFrom(String.class, 60_000), Serdes.Long())).suppress(closed()), p + "side")).topic("side", 1).then(late);
        add("suppress_added_to_new_window", "a new named windowed count with suppress for a new output", named,
            (b, p) -> { out(count(in(b, p), "counts"), p); windowsTo(perMinute(in2(b, p)).suppress(closed()), p + "side"); }).topic("side", 1).then(LATER);
        add("suppress_added_sessions_for_new_output", "final results of a named session count published to another topic",
            (b, p) -> windowsTo(perSession(in(b, p)), p + "out"), (b, p) -> windowsTo(perSession(in(b, p)).suppress(closed().withName("final")), p + "side")).topic("side", 1).then(late);

        add("stateless_reads_other_serde", "an application without state reads its input's values by another serde", stateless,
            (b, p) -> b.stream(p + "in", Consumed.with(Serdes.String(), Serdes.Long())).mapValues(v -> v).mapValues(v -> "" + v).to(p + "out", Produced.with(Serdes.String(), Serdes.String())));
        add("published_stream_becomes_kept_table", "a stream that is only published -> a table with a store", (b, p) -> out(in(b, p), p), (b, p) -> out(table(b, p, "in", "t"), p));
        add("published_table_kept_and_joined", "a table that is only published gets a store, and a stream joins it", (b, p) -> out(b.<String, String>table(p + "in2"), p),
            (b, p) -> { KTable<String, String> t = table(b, p, "in2", "t"); out(t, p); to(in(b, p).join(t, BOTH), p + "side"); }).topic("side", 1);
        add("published_table_kept_and_filtered", "a table that is only published through a filter gets a store at its source", (b, p) -> out(b.<String, String>table(p + "in").filter((k, v) -> !v.equals("y")), p),
            (b, p) -> out(table(b, p, "in", "t").filter((k, v) -> !v.equals("y")), p));
        add("all_named_to_table_renamed", "every operator around an un-named toTable store renamed",
            (b, p) -> in(b, p).toTable(Named.as("latest")).toStream(Named.as("changes")).mapValues(v -> v, Named.as("text")).to(p + "out"),
            (b, p) -> in(b, p).toTable(Named.as("current")).toStream(Named.as("updates")).mapValues(v -> v, Named.as("line")).to(p + "out"));
        add("named_reduce_joined_renamed", "a named reduce without a store name and the named join that reads it renamed",
            (b, p) -> out(in(b, p).join(in2(b, p).groupByKey().reduce(String::concat, Named.as("sum-up"), Materialized.with(Serdes.String(), Serdes.String())), BOTH, Joined.as("enrich")), p),
            (b, p) -> out(in(b, p).join(in2(b, p).groupByKey().reduce(String::concat, Named.as("add-up"), Materialized.with(Serdes.String(), Serdes.String())), BOTH, Joined.as("match")), p));
        add("named_table_join_published_renamed", "a named join of named tables, kept without a store name and published by a named operator, renamed",
            (b, p) -> table(b, p, "in", "l").join(table(b, p, "in2", "r"), BOTH, Named.as("match"), Materialized.with(Serdes.String(), Serdes.String())).toStream(Named.as("a")).to(p + "out"),
            (b, p) -> table(b, p, "in", "l").join(table(b, p, "in2", "r"), BOTH, Named.as("enrich"), Materialized.with(Serdes.String(), Serdes.String())).toStream(Named.as("b")).to(p + "out"));
        add("two_named_to_tables_renamed", "two named toTables of one input without store names renamed",
            (b, p) -> { KStream<String, String> s = in(b, p); s.filter((k, v) -> v.equals("x"), Named.as("xs")).toTable(Named.as("x-table")).toStream(Named.as("x-rows")).to(p + "out"); s.filterNot((k, v) -> v.equals("x"), Named.as("ys")).toTable(Named.as("y-table")).toStream(Named.as("y-rows")).to(p + "side"); },
            (b, p) -> { KStream<String, String> s = in(b, p); s.filter((k, v) -> v.equals("x"), Named.as("a")).toTable(Named.as("a-table")).toStream(Named.as("a-rows")).to(p + "out"); s.filterNot((k, v) -> v.equals("x"), Named.as("b")).toTable(Named.as("b-table")).toStream(Named.as("b-rows")).to(p + "side"); }).topic("side", 1);
        add("named_to_table_shifted", "a filter in front of an un-named toTable store whose operators are named",
            (b, p) -> out(in2(b, p).join(in(b, p).toTable(Named.as("latest")), BOTH, Joined.as("j")), p),
            (b, p) -> out(in2(b, p).join(in(b, p).filter((k, v) -> true).toTable(Named.as("latest")), BOTH, Joined.as("j")), p));
        add("joined_count_gets_an_operator_name", "the count of a named store that a stream joins gets a name of its own",
            (b, p) -> out(in(b, p).join(count(in2(b, p), "counts"), (v, n) -> v + n), p),
            (b, p) -> out(in(b, p).join(in2(b, p).groupByKey().count(Named.as("counter"), Materialized.as("counts")), (v, n) -> v + n), p));
        add("joined_count_and_join_get_names", "the count of a named store and the join that reads it get names",
            (b, p) -> out(in(b, p).leftJoin(count(in2(b, p), "counts"), (v, n) -> v + n), p),
            (b, p) -> out(in(b, p).leftJoin(in2(b, p).groupByKey().count(Named.as("z-counter"), Materialized.as("counts")), (v, n) -> v + n, Joined.as("a-join")), p));
        add("processors_of_a_dsl_store_renamed", "a processor that looks into the store of a named count renamed, the count, too",
            (b, p) -> { in2(b, p).groupByKey().reduce(String::concat, Named.as("b-reduce"), Materialized.as("texts")); in(b, p).processValues(() -> new Peek("texts"), Named.as("look"), "texts").to(p + "out"); },
            (b, p) -> { in2(b, p).groupByKey().reduce(String::concat, Named.as("z-reduce"), Materialized.as("texts")); in(b, p).processValues(() -> new Peek("texts"), Named.as("a-look"), "texts").to(p + "out"); });
        add("processor_of_a_dsl_store_gets_a_name", "an un-named processor that looks into the store of a named reduce gets a name, the reduce, too",
            (b, p) -> { in2(b, p).groupByKey().reduce(String::concat, Materialized.as("texts")); in(b, p).processValues(() -> new Peek("texts"), "texts").to(p + "out"); },
            (b, p) -> { in2(b, p).groupByKey().reduce(String::concat, Named.as("z-reduce"), Materialized.as("texts")); in(b, p).processValues(() -> new Peek("texts"), Named.as("a-look"), "texts").to(p + "out"); });
    }

    static void behind(StreamsBuilder b, String p, String one, String two) {
        store(b, "one");
        store(b, "two");
        out(in(b, p).repartition(Repartitioned.as("r")).process(() -> new Look("one"), Named.as(one), "one"), p);
        to(in2(b, p).repartition(Repartitioned.as("q")).process(() -> new Look("two"), Named.as(two), "two"), p + "side");
    }

    static void threeOfOne(StreamsBuilder b, String p) {
        KStream<String, String> s = rekeyed(b, p);
        out(s.groupByKey(Grouped.as("g")).count(Materialized.as("counts")), p);
        side(s.groupByKey(Grouped.as("h")).reduce(String::concat, Materialized.as("texts")), p);
        windowsTo(s.groupByKey(Grouped.as("i")).windowedBy(minutes()).count(rows("w")), p + "more");
    }

    static void twoJoins(StreamsBuilder b, String p) {
        KStream<String, String> s = rekeyed(b, p);
        out(s.join(table(b, p, "in2", "t"), BOTH, Joined.as("j")), p);
        to(s.leftJoin(table(b, p, "in3", "u"), BOTH, Joined.as("k")), p + "side");
    }

    static void joinAndCount(StreamsBuilder b, String p) {
        KStream<String, String> s = rekeyed(b, p);
        out(s.join(in2(b, p), BOTH, near(), pair()), p);
        side(s.groupByKey(Grouped.as("g")).count(Materialized.as("counts")), p);
    }

    static void mergedByGroups(StreamsBuilder b, String p) {
        KStream<String, String> s = in(b, p);
        out(s.groupBy((k, v) -> v).count(Materialized.as("counts")), p);
        side(s.groupBy((k, v) -> v).reduce(String::concat, Materialized.as("texts")), p);
    }

    static void valuesBehindKey(StreamsBuilder b, String p) {
        KStream<String, String> s = rekeyed(b, p);
        out(same(s).groupByKey(Grouped.as("g")).count(Materialized.as("counts")), p);
        side(s.mapValues(v -> v + v).groupByKey(Grouped.as("h")).reduce(String::concat, Materialized.as("texts")), p);
    }

    static void explicitAndGrouped(StreamsBuilder b, String p) {
        KStream<String, String> s = rekeyed(b, p);
        out(s.repartition(Repartitioned.as("re")), p);
        side(s.groupByKey(Grouped.as("g")).count(Materialized.as("counts")), p);
    }

    static KTable<String, String> groupsUnnamed(KTable<String, String> t) {
        return t.groupBy((k, v) -> KeyValue.pair(v, k)).aggregate(() -> "", (k, v, a) -> a + "+" + v, (k, v, a) -> a + "-" + v);
    }

    static KTable<Windowed<String>, Long> slidingRows(KStream<String, String> s) {
        return s.groupByKey().windowedBy(SlidingWindows.ofTimeDifferenceAndGrace(MINUTE, Duration.ofSeconds(10))).count(rows("w"));
    }

    static void foreignMapped(StreamsBuilder b, String p, String name) {
        out(table(b, p, "in", "l").join(table(b, p, "in2", "r"), v -> v, BOTH, TableJoined.as("fk"), Materialized.as("o")).mapValues(v -> v, Named.as(name)), p);
    }

    static void repartitioned(StreamsBuilder b, String p, String one, String two, String three) {
        KStream<String, String> s = in(b, p).process(Pass::new, Named.as(one));
        out(s.repartition(Repartitioned.as("r")).process(Pass::new, Named.as(two)).groupByKey().count(Materialized.as("counts")), p);
        to(s.selectKey((k, v) -> v).repartition(Repartitioned.as("q")).process(Pass::new, Named.as(three)), p + "side");
    }

    /** Looks into a store of the DSL and changes nothing. */
    static final class Peek extends org.apache.kafka.streams.processor.api.ContextualFixedKeyProcessor<String, String, String> {
        final String name;
        Peek(String name) { this.name = name; }
        public void process(org.apache.kafka.streams.processor.api.FixedKeyRecord<String, String> r) {
            ValueAndTimestamp<String> found = context().<TimestampedKeyValueStore<String, String>>getStateStore(name).get(r.key());
            context().forward(r.withValue(r.value() + "|" + (found == null ? null : found.value())));
        }
    }

    static final class PassAt extends org.apache.kafka.streams.processor.api.ContextualFixedKeyProcessor<String, String, String> {
        public void process(org.apache.kafka.streams.processor.api.FixedKeyRecord<String, String> r) { context().forward(r.withValue(r.key() + r.value())); }
    }
}
