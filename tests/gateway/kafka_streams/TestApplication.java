import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.regex.Pattern;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.processor.api.FixedKeyProcessor;
import org.apache.kafka.streams.processor.api.FixedKeyProcessorContext;
import org.apache.kafka.streams.processor.api.FixedKeyRecord;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;

import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;


/**
 * Kafka Streams topologies of every kind, to be described and to be run.
 *
 *   describe FOLDER               writes FOLDER/NAME.txt for each topology
 *   run NAME BOOTSTRAP KEY=VALUE  starts one; prints READY once it runs; ends when stdin ends
 *
 * Topic names begin with the setting `prefix`, none by default; `describe=FILE` writes the
 * description of what is run.
 */
public class TestApplication {
    static final Duration MINUTE = Duration.ofMinutes(1);
    static String prefix = "";

    interface Build { void on(StreamsBuilder b); }

    static final Map<String, Build> DSL = new LinkedHashMap<>();

    static String topic(String name) { return prefix + name; }

    static KStream<String, String> stream(StreamsBuilder b, String name) { return b.stream(topic(name)); }

    static KTable<String, String> table(StreamsBuilder b, String name) { return b.table(topic(name)); }

    static void out(KTable<?, ?> table) {
        table.toStream().map((k, v) -> KeyValue.pair("" + k, "" + v)).to(topic("out"), Produced.with(Serdes.String(), Serdes.String()));
    }

    static void out(KStream<String, String> stream) { stream.to(topic("out")); }

    static JoinWindows within() { return JoinWindows.ofTimeDifferenceWithNoGrace(MINUTE); }

    static final ValueJoiner<String, String, String> BOTH = (l, r) -> l + "|" + r;

    static class Same implements Processor<String, String, String, String> {
        ProcessorContext<String, String> context;
        public void init(ProcessorContext<String, String> c) { context = c; }
        public void process(Record<String, String> r) { context.forward(r); }
    }

    static class SameValues implements FixedKeyProcessor<String, String, String> {
        FixedKeyProcessorContext<String, String> context;
        public void init(FixedKeyProcessorContext<String, String> c) { context = c; }
        public void process(FixedKeyRecord<String, String> r) { context.forward(r); }
    }

    static StoreBuilder<KeyValueStore<String, String>> store(String name) {
        return Stores.keyValueStoreBuilder(Stores.inMemoryKeyValueStore(name), Serdes.String(), Serdes.String());
    }

    static {
        DSL.put("stateless", b -> {
            KStream<String, String> s = stream(b, "in").filter((k, v) -> true).filterNot((k, v) -> false)
                .map(KeyValue::pair).mapValues(v -> v).flatMap((k, v) -> List.of(KeyValue.pair(k, v)))
                .flatMapValues(v -> List.of(v)).peek((k, v) -> { }).selectKey((k, v) -> v)
                .process(Same::new).processValues(SameValues::new);
            s.foreach((k, v) -> { });
            s.print(Printed.toSysOut());
            out(s);
        });
        DSL.put("stateless_named", b -> stream(b, "in").filter((k, v) -> true, Named.as("only-valid"))
            .mapValues(v -> v, Named.as("clean")).peek((k, v) -> { }, Named.as("look"))
            .to(topic("out"), Produced.as("write")));
        DSL.put("count_by_key", b -> out(stream(b, "in").groupByKey().count()));
        DSL.put("aggregate_repartitioned", b -> out(stream(b, "in").groupBy((k, v) -> v)
            .aggregate(() -> "", (k, v, a) -> v)));
        DSL.put("aggregate_grouped_as", b -> out(stream(b, "in").groupBy((k, v) -> v, Grouped.as("by-value")).count()));
        DSL.put("aggregate_named", b -> out(stream(b, "in").selectKey((k, v) -> v, Named.as("rekey"))
            .groupByKey(Grouped.as("by-value")).count(Named.as("cnt"), Materialized.as("counts"))));
        DSL.put("reduce", b -> out(stream(b, "in").groupByKey().reduce((a, v) -> v)));
        DSL.put("two_counts", b -> {
            out(stream(b, "in").groupByKey().count());
            out(stream(b, "in2").groupByKey().count());
        });
        DSL.put("windowed_tumbling", b -> out(stream(b, "in").groupByKey()
            .windowedBy(TimeWindows.ofSizeAndGrace(MINUTE, MINUTE)).count(Materialized.as("per-minute"))));
        DSL.put("windowed_sliding", b -> out(stream(b, "in").groupByKey()
            .windowedBy(SlidingWindows.ofTimeDifferenceWithNoGrace(MINUTE)).count()));
        DSL.put("windowed_session", b -> out(stream(b, "in").groupByKey()
            .windowedBy(SessionWindows.ofInactivityGapWithNoGrace(MINUTE)).count()));
        DSL.put("suppress", b -> out(stream(b, "in").groupByKey()
            .windowedBy(TimeWindows.ofSizeWithNoGrace(MINUTE)).count()
            .suppress(Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded()))));
        DSL.put("suppress_named", b -> out(stream(b, "in").groupByKey()
            .windowedBy(TimeWindows.ofSizeWithNoGrace(MINUTE)).count(Materialized.as("per-minute"))
            .suppress(Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded()).withName("final-only"))));
        DSL.put("cogroup", b -> out(stream(b, "in").groupByKey().<String>cogroup((k, v, a) -> v)
            .cogroup(stream(b, "in2").groupByKey(), (k, v, a) -> v).aggregate(() -> "")));
        DSL.put("cogroup_windowed", b -> out(stream(b, "in").groupByKey().<String>cogroup((k, v, a) -> v)
            .windowedBy(TimeWindows.ofSizeWithNoGrace(MINUTE)).aggregate(() -> "", Named.as("all"), Materialized.as("both"))));
        DSL.put("stream_join", b -> out(stream(b, "in").join(stream(b, "in2"), BOTH, within())));
        DSL.put("stream_left_join", b -> out(stream(b, "in").leftJoin(stream(b, "in2"), BOTH, within())));
        DSL.put("stream_outer_join", b -> out(stream(b, "in").outerJoin(stream(b, "in2"), BOTH, within())));
        DSL.put("stream_join_rekeyed", b -> out(stream(b, "in").selectKey((k, v) -> v)
            .join(stream(b, "in2").selectKey((k, v) -> v), BOTH, within())));
        DSL.put("stream_join_named", b -> out(stream(b, "in").selectKey((k, v) -> v).leftJoin(stream(b, "in2"), BOTH, within(),
            StreamJoined.<String, String, String>as("pair").withName("pair"))));
        DSL.put("stream_join_store_named", b -> out(stream(b, "in").join(stream(b, "in2"), BOTH, within(),
            StreamJoined.<String, String, String>as("pair"))));
        DSL.put("stream_self_join", b -> { KStream<String, String> s = stream(b, "in"); out(s.join(s, BOTH, within())); });
        DSL.put("stream_table_join", b -> out(stream(b, "in").join(table(b, "in2"), BOTH)));
        DSL.put("stream_table_left_join_named", b -> out(stream(b, "in").selectKey((k, v) -> v)
            .leftJoin(b.<String, String>table(topic("in2"), Materialized.as("known")), BOTH, Joined.as("enrich"))));
        DSL.put("stream_global_join", b -> out(stream(b, "in")
            .join(b.globalTable(topic("in2"), Materialized.as("everywhere")), (k, v) -> k, BOTH)));
        DSL.put("stream_global_left_join", b -> out(stream(b, "in")
            .leftJoin(b.<String, String>globalTable(topic("in2")), (k, v) -> k, BOTH)));
        DSL.put("table_join", b -> out(table(b, "in").join(table(b, "in2"), BOTH)));
        DSL.put("table_left_join", b -> out(table(b, "in").leftJoin(table(b, "in2"), BOTH, Materialized.as("joined"))));
        DSL.put("table_outer_join_named", b -> out(table(b, "in").outerJoin(table(b, "in2"), BOTH, Named.as("both"))));
        DSL.put("foreign_key_join", b -> out(table(b, "in").join(table(b, "in2"), v -> v, BOTH)));
        DSL.put("foreign_key_left_join_named", b -> out(table(b, "in").leftJoin(table(b, "in2"), v -> v, BOTH,
            TableJoined.as("by-owner"), Materialized.as("owned"))));
        DSL.put("table_operators", b -> out(table(b, "in").filter((k, v) -> true).filterNot((k, v) -> false)
            .mapValues(v -> v, Materialized.as("mapped")).filter((k, v) -> true, Named.as("kept"), Materialized.as("kept-rows"))));
        DSL.put("table_named", b -> out(b.<String, String>table(topic("in"), Consumed.as("customers"), Materialized.as("customers"))));
        DSL.put("table_aggregate", b -> out(table(b, "in").groupBy(KeyValue::pair).aggregate(() -> "", (k, v, a) -> v, (k, v, a) -> a)));
        DSL.put("table_reduce_named", b -> out(table(b, "in").groupBy(KeyValue::pair, Grouped.as("by-key"))
            .reduce((a, v) -> v, (a, v) -> a, Named.as("newest"), Materialized.as("newest-rows"))));
        DSL.put("to_table", b -> out(stream(b, "in").map(KeyValue::pair).toTable()));
        DSL.put("to_table_named", b -> out(stream(b, "in").toTable(Named.as("as-table"), Materialized.as("rows"))));
        DSL.put("repartition", b -> out(stream(b, "in").repartition()));
        DSL.put("repartition_named", b -> out(stream(b, "in").repartition(Repartitioned.<String, String>as("wide").withNumberOfPartitions(3))));
        DSL.put("split", b -> stream(b, "in").split().branch((k, v) -> true, Branched.withConsumer(s -> out(s)))
            .defaultBranch(Branched.withConsumer(s -> s.to(topic("out2")))));
        DSL.put("split_named", b -> stream(b, "in").split(Named.as("by-size"))
            .branch((k, v) -> true, Branched.withConsumer(s -> out(s), "-big"))
            .defaultBranch(Branched.withConsumer(s -> s.to(topic("out2")), "-small")));
        DSL.put("merge", b -> out(stream(b, "in").merge(stream(b, "in2"))));
        DSL.put("global_table", b -> b.globalTable(topic("in"), Materialized.as("everywhere")));
        DSL.put("global_store", b -> b.addGlobalStore(store("everywhere").withLoggingDisabled(), topic("in"),
            Consumed.with(Serdes.String(), Serdes.String()), () -> new Processor<String, String, Void, Void>() {
                public void process(Record<String, String> r) { }
            }));
        DSL.put("pattern_source", b -> out(b.<String, String>stream(Pattern.compile(topic("in.*"))).mapValues(v -> v)));
        DSL.put("several_topics", b -> out(b.<String, String>stream(Arrays.asList(topic("in"), topic("in2")))));
        DSL.put("dynamic_sink", b -> stream(b, "in").to((k, v, c) -> topic("out")));
        DSL.put("process_with_store", b -> {
            b.addStateStore(store("seen"));
            out(stream(b, "in").process(Same::new, Named.as("dedupe"), "seen"));
        });
        DSL.put("process_shared_store", b -> {
            b.addStateStore(store("seen"));
            out(stream(b, "in").process(Same::new, "seen"));
            stream(b, "in2").processValues(SameValues::new, "seen").to(topic("out2"));
        });
        DSL.put("optimised_table", b -> out(b.<String, String>table(topic("in"), Materialized.as("rows"))));
        DSL.put("optimised_repartitions", b -> {
            KStream<String, String> s = stream(b, "in").selectKey((k, v) -> v);
            out(s.groupByKey(Grouped.as("one")).count(Materialized.as("ones")));
            out(s.groupByKey(Grouped.as("two")).count(Materialized.as("twos")));
        });
        DSL.put("in_a_row", b -> out(stream(b, "in").groupBy((k, v) -> v).count().toStream()
            .map((k, v) -> KeyValue.pair(k, "" + v)).groupByKey(Grouped.as("again")).count(Materialized.as("last"))));
    }

    static Topology processorApi() {
        Topology t = new Topology();
        t.addSource("orders.source", new StringDeserializer(), new StringDeserializer(), topic("in"));
        t.addProcessor("say \"hi\" [now] (stores: [x])", Same::new, "orders.source");
        t.addProcessor("two\nlines", Same::new, "say \"hi\" [now] (stores: [x])");
        t.addProcessor("<script>alert(1)</script>", Same::new, "two\nlines");
        t.addProcessor("a, b", Same::new, "<script>alert(1)</script>");
        t.addProcessor("\uD83D\uDE80", Same::new, "a, b");
        t.addStateStore(store("rocket.store"), "\uD83D\uDE80");
        t.addStateStore(store("other"), "\uD83D\uDE80");
        t.addSink("done --> none", topic("out"), new StringSerializer(), new StringSerializer(), "\uD83D\uDE80");
        return t;
    }

    static Topology build(String name, Properties p) {
        if (name.equals("processor_api")) return processorApi();
        StreamsBuilder b = new StreamsBuilder();
        DSL.get(name).on(b);
        return b.build(p);
    }

    static Properties settings(String name) {
        Properties p = new Properties();
        p.put("application.id", "app");
        p.put("bootstrap.servers", "127.0.0.1:1");
        p.put("default.key.serde", Serdes.StringSerde.class.getName());
        p.put("default.value.serde", Serdes.StringSerde.class.getName());
        if (name.startsWith("optimised")) p.put("topology.optimization", "all");
        return p;
    }

    static void describe(Path folder) throws Exception {
        Files.createDirectories(folder);
        List<String> names = new java.util.ArrayList<>(DSL.keySet());
        names.add("processor_api");
        for (String name : names) {
            // A lambda's class has another number in each JVM.
            String text = build(name, settings(name)).describe().toString().replaceAll("Lambda[^)]*", "Lambda");
            Files.write(folder.resolve(name + ".txt"), text.getBytes(StandardCharsets.UTF_8));
        }
    }

    static void run(String name, String bootstrap, String[] rest) throws Exception {
        Properties p = settings(name);
        Path described = null;
        p.put("bootstrap.servers", bootstrap);
        p.put("auto.offset.reset", "earliest");
        p.put("commit.interval.ms", "200");
        for (String word : rest) {
            int at = word.indexOf('=');
            if (word.startsWith("prefix=")) prefix = word.substring(at + 1);
            else if (word.startsWith("describe=")) described = Path.of(word.substring(at + 1));
            else p.put(word.substring(0, at), word.substring(at + 1));
        }
        Topology topology = build(name, p);
        if (described != null) Files.writeString(described, topology.describe().toString());
        KafkaStreams streams = new KafkaStreams(topology, p);
        streams.setUncaughtExceptionHandler(e -> {
            System.out.println("FAILED " + e);
            return org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        });
        streams.start();
        while (streams.state() != KafkaStreams.State.RUNNING) Thread.sleep(50);
        System.out.println("READY");
        while (System.in.read() != -1) { }
        streams.close(Duration.ofSeconds(10));
        System.exit(0);
    }

    public static void main(String[] args) throws Exception {
        if (args[0].equals("describe")) describe(Path.of(args[1]));
        else run(args[1], args[2], Arrays.copyOfRange(args, 3, args.length));
    }
}
