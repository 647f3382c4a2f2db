import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import java.util.function.Consumer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.Stores;

/**
 * Pairs of topologies, before and after a change: `Upgrades FOLDER` writes FOLDER/NAME/before.txt and
 * after.txt, as Topology#describe() prints them.
 */
public class Upgrades {
    static final Duration MINUTE = Duration.ofMinutes(1);
    static final ValueJoiner<String, String, String> BOTH = (l, r) -> l + "|" + r;
    static final Map<String, Object[]> PAIRS = new LinkedHashMap<>();

    static void pair(String name, Consumer<StreamsBuilder> before, Consumer<StreamsBuilder> after, String... optimisation) {
        PAIRS.put(name, new Object[] {before, after, optimisation});
    }

    static KStream<String, String> in(StreamsBuilder b) { return b.stream("in"); }
    static KStream<String, String> in2(StreamsBuilder b) { return b.stream("in2"); }
    static KStream<String, String> same(KStream<String, String> s) { return s.mapValues(v -> v); }
    static void out(KStream<String, String> s) { s.to("out"); }
    static void out(KTable<?, ?> t) { values(t.toStream()); }
    static void values(KStream<?, ?> s) { s.mapValues(v -> "" + v).to("out", Produced.with(null, Serdes.String())); }
    static void mapped(KTable<?, ?> t) { t.toStream().map((k, v) -> KeyValue.pair("" + k, "" + v)).to("out", Produced.with(Serdes.String(), Serdes.String())); }
    static KTable<String, Long> count(KStream<String, String> s) { return s.groupByKey().count(); }
    static KTable<String, Long> count(KStream<String, String> s, String store) { return s.groupByKey().count(Materialized.as(store)); }
    static KTable<Windowed<String>, Long> windowed(KStream<String, String> s, String store) {
        return s.groupByKey().windowedBy(TimeWindows.ofSizeAndGrace(MINUTE, MINUTE)).count(Materialized.as(store));
    }
    static Suppressed<Windowed<?>> closed() { return Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded()); }
    static JoinWindows within() { return JoinWindows.ofTimeDifferenceWithNoGrace(MINUTE); }
    static StreamJoined<String, String, String> named() { return StreamJoined.<String, String, String>as("j").withName("j"); }

    static class Pass implements Processor<String, String, String, String> {
        ProcessorContext<String, String> context;
        public void init(ProcessorContext<String, String> c) { context = c; }
        public void process(Record<String, String> r) { context.forward(r); }
    }

    static {
        pair("peek_after_unnamed_count", b -> out(count(in(b))), b -> values(count(in(b)).toStream().peek((k, v) -> { })));
        pair("branch_at_the_end", b -> out(count(in(b))), b -> { KStream<String, String> s = in(b); out(count(s)); s.filter((k, v) -> true).to("side"); });
        pair("unnamed_counts_of_two_inputs_swapped", b -> { out(count(in(b))); out(count(in2(b))); }, b -> { out(count(in2(b))); out(count(in(b))); });
        pair("unnamed_counts_of_one_input_swapped", b -> { KStream<String, String> s = in(b); out(count(s)); mapped(count(s)); },
            b -> { KStream<String, String> s = in(b); mapped(count(s)); out(count(s)); });
        pair("unnamed_count_of_other_input_in_front", b -> out(count(in(b))), b -> { out(count(in2(b))); out(count(in(b))); });
        pair("unnamed_count_of_other_input_behind", b -> out(count(in(b))), b -> { out(count(in(b))); out(count(in2(b))); });
        pair("operator_between_two_unnamed_aggregates",
            b -> { KTable<String, Long> t = count(in(b)); out(t.toStream().map((k, v) -> KeyValue.pair(k, "" + v)).groupByKey(Grouped.as("again")).count()); },
            b -> { KTable<String, Long> t = count(in(b)); out(t.toStream().filter((k, v) -> true).map((k, v) -> KeyValue.pair(k, "" + v)).groupByKey(Grouped.as("again")).count()); });
        pair("operator_between_two_aggregates_second_named",
            b -> { KTable<String, Long> t = count(in(b)); out(t.toStream().map((k, v) -> KeyValue.pair(k, "" + v)).groupByKey(Grouped.as("again")).count(Materialized.as("last"))); },
            b -> { KTable<String, Long> t = count(in(b)); out(t.toStream().filter((k, v) -> true).map((k, v) -> KeyValue.pair(k, "" + v)).groupByKey(Grouped.as("again")).count(Materialized.as("last"))); });
        pair("unnamed_count_named", b -> out(count(in(b))), b -> out(count(in(b), "counts")));
        pair("insert_and_name_as_generated", b -> out(count(in(b))), b -> out(count(same(in(b)), "KSTREAM-AGGREGATE-STATE-STORE-0000000001")));
        pair("unnamed_stream_join_filter_in_front", b -> out(in(b).join(in2(b), BOTH, within())), b -> out(in(b).filter((k, v) -> true).join(in2(b), BOTH, within())));
        pair("named_stream_join_filter_in_front", b -> out(in(b).join(in2(b), BOTH, within(), named())), b -> out(in(b).filter((k, v) -> true).join(in2(b), BOTH, within(), named())));
        pair("named_stream_join_inner_to_outer", b -> out(in(b).join(in2(b), BOTH, within(), named())), b -> out(in(b).outerJoin(in2(b), BOTH, within(), named())));
        pair("named_stream_join_left_to_inner", b -> out(in(b).leftJoin(in2(b), BOTH, within(), named())), b -> out(in(b).join(in2(b), BOTH, within(), named())));
        pair("unnamed_table_shifts", b -> out(in(b).join(b.<String, String>table("in2"), BOTH)), b -> out(same(in(b)).join(b.<String, String>table("in2"), BOTH)));
        pair("unnamed_optimised_table_shifts", b -> out(in(b).join(b.<String, String>table("in2"), BOTH)), b -> out(same(in(b)).join(b.<String, String>table("in2"), BOTH)), "all", "all");
        pair("named_table_operator_in_front", b -> out(in(b).join(b.<String, String>table("in2", Materialized.as("t")), BOTH)), b -> out(same(in(b)).join(b.<String, String>table("in2", Materialized.as("t")), BOTH)));
        pair("foreign_key_join_named_operator_in_front",
            b -> out(b.<String, String>table("in", Materialized.as("l")).join(b.<String, String>table("in2", Materialized.as("r")), v -> v, BOTH, TableJoined.as("fk"), Materialized.as("o"))),
            b -> { in3(b); out(b.<String, String>table("in", Materialized.as("l")).join(b.<String, String>table("in2", Materialized.as("r")), v -> v, BOTH, TableJoined.as("fk"), Materialized.as("o"))); });
        pair("unnamed_suppress_shifts", b -> mapped(windowed(in(b), "w").suppress(closed())), b -> mapped(windowed(same(in(b)), "w").suppress(closed())));
        pair("named_suppress_operator_in_front", b -> mapped(windowed(in(b), "w").suppress(closed().withName("s"))), b -> mapped(windowed(same(in(b)), "w").suppress(closed().withName("s"))));
        pair("suppress_added", b -> mapped(windowed(in(b), "w")), b -> mapped(windowed(in(b), "w").suppress(closed())));
        pair("named_suppress_removed", b -> mapped(windowed(in(b), "w").suppress(closed().withName("s"))), b -> mapped(windowed(in(b), "w")));
        pair("unnamed_count_to_reduce", b -> out(count(in(b))), b -> out(in(b).groupByKey().reduce((a, v) -> v)));
        pair("named_count_to_reduce", b -> out(count(in(b), "s")), b -> out(in(b).groupByKey().reduce((a, v) -> v, Materialized.as("s"))));
        pair("map_in_front_of_named_count", b -> out(count(in(b), "counts")), b -> out(in(b).map(KeyValue::pair).groupByKey(Grouped.as("g")).count(Materialized.as("counts"))));
        pair("key_select_to_map", b -> out(in(b).selectKey((k, v) -> v).groupByKey(Grouped.as("g")).count(Materialized.as("counts"))), b -> out(in(b).map((k, v) -> KeyValue.pair(v, v)).groupByKey(Grouped.as("g")).count(Materialized.as("counts"))));
        pair("key_select_renamed", b -> out(in(b).selectKey((k, v) -> v).groupByKey(Grouped.as("g")).count(Materialized.as("counts"))), b -> out(in(b).selectKey((k, v) -> v, Named.as("rekey")).groupByKey(Grouped.as("g")).count(Materialized.as("counts"))));
        pair("named_operator_in_front_of_named_count", b -> out(count(in(b), "counts")), b -> out(count(in(b).mapValues(v -> v, Named.as("trim")), "counts")));
        pair("named_map_in_front_of_named_count", b -> out(count(in(b), "counts")), b -> out(in(b).map(KeyValue::pair, Named.as("remap")).groupByKey(Grouped.as("g")).count(Materialized.as("counts"))));
        pair("filter_in_front_of_key_select", b -> out(in(b).groupBy((k, v) -> v, Grouped.as("g")).count(Materialized.as("counts"))), b -> out(in(b).filter((k, v) -> true).groupBy((k, v) -> v, Grouped.as("g")).count(Materialized.as("counts"))));
        pair("unnamed_grouping_of_named_count", b -> out(in(b).groupBy((k, v) -> v).count(Materialized.as("counts"))), b -> out(same(in(b)).groupBy((k, v) -> v).count(Materialized.as("counts"))));
        pair("unnamed_repartition_shifts", b -> out(count(in(b).repartition(), "counts")), b -> out(count(same(in(b)).repartition(), "counts")));
        pair("repartition_named", b -> out(count(in(b).repartition(Repartitioned.as("one")), "counts")), b -> out(count(in(b).repartition(Repartitioned.as("two")), "counts")));
        pair("repartition_taken_out", b -> out(count(in(b).repartition(Repartitioned.as("one")), "counts")), b -> out(count(in(b), "counts")));
        pair("repartition_put_in", b -> out(count(in(b), "counts")), b -> out(count(in(b).repartition(Repartitioned.as("one")), "counts")));
        pair("global_table_added", b -> out(in(b)), b -> out(in(b).join(b.<String, String>globalTable("in2", Materialized.as("g")), (k, v) -> k, BOTH)));
        pair("global_to_table", b -> out(in(b).join(b.<String, String>globalTable("in2", Materialized.as("t")), (k, v) -> k, BOTH)), b -> out(in(b).join(b.<String, String>table("in2", Materialized.as("t")), BOTH)));
        pair("stream_to_table", b -> { out(in(b)); in2(b).foreach((k, v) -> { }); }, b -> out(in(b).join(b.<String, String>table("in2", Materialized.as("t")), BOTH)));
        pair("named_branch_removed", b -> { KStream<String, String> s = in(b); out(count(s, "one")); mapped(count(s, "two")); }, b -> out(count(in(b), "one")));
        pair("named_branch_added", b -> out(count(in(b), "one")), b -> { KStream<String, String> s = in(b); out(count(s, "one")); mapped(count(s, "two")); });
        pair("named_branch_added_in_front", b -> out(count(in(b), "one")), b -> { KStream<String, String> s = in(b); mapped(count(s, "two")); out(count(s, "one")); });
        pair("first_unnamed_of_two_removed", b -> { KStream<String, String> s = in(b); out(count(s)); mapped(count(s)); }, b -> mapped(count(in(b))));
        pair("last_unnamed_of_two_removed", b -> { KStream<String, String> s = in(b); out(count(s)); mapped(count(s)); }, b -> out(count(in(b))));
        pair("twin_added", b -> out(count(in(b))), b -> { KStream<String, String> s = in(b); out(count(s)); out(count(s)); });
        pair("twin_removed", b -> { KStream<String, String> s = in(b); out(count(s)); out(count(s)); }, b -> out(count(in(b))));
        pair("input_merged_in_front_of_unnamed_count", b -> out(count(in(b))), b -> out(count(in(b).merge(in2(b)))));
        pair("input_merged_in_front_of_named_count", b -> out(count(in(b), "counts")), b -> out(count(in(b).merge(in2(b)), "counts")));
        pair("input_replaced_under_named_count", b -> out(count(in(b), "counts")), b -> out(count(in2(b), "counts")));
        pair("input_replaced_without_state", b -> out(in(b)), b -> out(in2(b)));
        pair("named_stores_swapped", b -> { out(count(in(b), "one")); out(count(in2(b), "two")); }, b -> { out(count(in(b), "two")); out(count(in2(b), "one")); });
        pair("named_subtopologies_swapped", b -> { out(count(in(b), "one")); out(count(in2(b), "two")); }, b -> { out(count(in2(b), "two")); out(count(in(b), "one")); });
        pair("split_added", b -> out(count(in(b), "counts")), b -> { KStream<String, String> s = in(b); out(count(s, "counts")); s.split().branch((k, v) -> true, Branched.withConsumer(x -> x.to("side"))).defaultBranch(Branched.withConsumer(x -> x.to("rest"))); });
        pair("sink_replaced", b -> out(count(in(b), "counts")), b -> count(in(b), "counts").toStream().mapValues(v -> "" + v).to("out2", Produced.with(null, Serdes.String())));
        pair("unnamed_repartitions_merged", b -> { KStream<String, String> s = in(b).selectKey((k, v) -> v); out(count(s)); mapped(count(s)); }, b -> { KStream<String, String> s = in(b).selectKey((k, v) -> v); out(count(s)); mapped(count(s)); }, "none", "all");
        pair("named_repartitions_unmerged", b -> two(b), b -> two(b), "all", "none");
        pair("unnamed_to_table_without_store", b -> out(in(b).toTable()), b -> out(same(in(b)).toTable()));
        pair("plain_to_windowed_named", b -> out(count(in(b), "w")), b -> mapped(windowed(in(b), "w")));
        pair("processor_in_front_of_named_state", b -> { seen(b); out(in(b).process(Pass::new, Named.as("dedupe"), "seen")); }, b -> { seen(b); out(in(b).process(Pass::new, Named.as("audit")).process(Pass::new, Named.as("dedupe"), "seen")); });
        pair("topic_added_to_list", b -> out(count(b.stream(Arrays.asList("in")))), b -> out(count(b.stream(Arrays.asList("in", "in2")))));
        pair("cogroup_input_added", b -> out(in(b).groupByKey().<String>cogroup((k, v, a) -> v).aggregate(() -> "", Materialized.as("all"))),
            b -> out(in(b).groupByKey().<String>cogroup((k, v, a) -> v).cogroup(in2(b).groupByKey(), (k, v, a) -> v).aggregate(() -> "", Materialized.as("all"))));
        pair("aggregate_to_table_of_one_name", b -> out(count(in(b), "s")), b -> out(b.<String, String>table("in2", Materialized.as("s"))));
        pair("map_values_to_filter_behind_count", b -> out(count(in(b), "counts")), b -> count(in(b), "counts").toStream().filter((k, v) -> true).to("out", Produced.with(null, Serdes.Long())));
    }

    static void in3(StreamsBuilder b) { b.<String, String>stream("in3").filter((k, v) -> true).to("out"); }
    static void seen(StreamsBuilder b) { b.addStateStore(Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore("seen"), Serdes.String(), Serdes.String())); }
    static void two(StreamsBuilder b) {
        KStream<String, String> s = in(b).selectKey((k, v) -> v);
        out(s.groupByKey(Grouped.as("g1")).count(Materialized.as("c1")));
        mapped(s.groupByKey(Grouped.as("g2")).count(Materialized.as("c2")));
    }

    @SuppressWarnings("unchecked")
    static void write(Path file, Object build, String[] optimisation, int side) throws Exception {
        Properties p = new Properties();
        p.put("application.id", "app");
        p.put("bootstrap.servers", "127.0.0.1:1");
        if (optimisation.length > 0) p.put("topology.optimization", optimisation[side]);
        StreamsBuilder b = new StreamsBuilder();
        ((Consumer<StreamsBuilder>) build).accept(b);
        Files.writeString(file, b.build(p).describe().toString());
    }

    public static void main(String[] args) throws Exception {
        for (Map.Entry<String, Object[]> e : PAIRS.entrySet()) {
            Path folder = Files.createDirectories(Path.of(args[0], e.getKey()));
            String[] optimisation = (String[]) e.getValue()[2];
            write(folder.resolve("before.txt"), e.getValue()[0], optimisation, 0);
            write(folder.resolve("after.txt"), e.getValue()[1], optimisation, 1);
        }
    }
}
