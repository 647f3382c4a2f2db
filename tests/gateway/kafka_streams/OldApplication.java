import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.Consumed;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.Joined;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.Transformer;
import org.apache.kafka.streams.processor.ProcessorContext;

/** Topologies in the words of Kafka Streams 1.0: `FOLDER` gets NAME.txt for each. */
public class OldApplication {
    interface Build { void on(StreamsBuilder b); }

    static final Map<String, Build> ALL = new LinkedHashMap<>();

    static class Same implements Transformer<String, String, KeyValue<String, String>> {
        public void init(ProcessorContext c) { }
        public KeyValue<String, String> transform(String k, String v) { return KeyValue.pair(k, v); }
        public KeyValue<String, String> punctuate(long t) { return null; }
        public void close() { }
    }

    static KStream<String, String> stream(StreamsBuilder b, String name) {
        return b.stream(name, Consumed.with(Serdes.String(), Serdes.String()));
    }

    static void out(KStream<String, String> s) { s.to("out", Produced.with(Serdes.String(), Serdes.String())); }

    static {
        ALL.put("aggregate_repartitioned", b -> stream(b, "in").groupBy((k, v) -> v).count()
            .toStream().map((k, v) -> KeyValue.pair(k, "" + v)).to("out", Produced.with(Serdes.String(), Serdes.String())));
        ALL.put("count_named", b -> stream(b, "in").groupByKey().count(Materialized.as("counts")));
        ALL.put("stream_join", b -> out(stream(b, "in").join(stream(b, "in2"), (l, r) -> l + r, JoinWindows.of(60000L),
            Joined.with(Serdes.String(), Serdes.String(), Serdes.String()))));
        ALL.put("stream_outer_join", b -> out(stream(b, "in").outerJoin(stream(b, "in2"), (l, r) -> l + r, JoinWindows.of(60000L),
            Joined.with(Serdes.String(), Serdes.String(), Serdes.String()))));
        ALL.put("table_outer_join", b -> {
            KTable<String, String> one = b.table("in", Consumed.with(Serdes.String(), Serdes.String()));
            KTable<String, String> two = b.table("in2", Consumed.with(Serdes.String(), Serdes.String()));
            out(one.outerJoin(two, (l, r) -> l + r).toStream());
        });
        ALL.put("global_join", b -> out(stream(b, "in").leftJoin(
            b.<String, String>globalTable("in2", Materialized.as("everywhere")), (k, v) -> k, (l, r) -> l + r)));
        ALL.put("branch_transform", b -> {
            KStream<String, String>[] parts = stream(b, "in").transform(Same::new).branch((k, v) -> true, (k, v) -> false);
            out(parts[0]);
            parts[1].foreach((k, v) -> { });
        });
        ALL.put("two_topics", b -> out(b.stream(Arrays.asList("in", "in2"), Consumed.with(Serdes.String(), Serdes.String()))));
        ALL.put("pattern", b -> out(b.stream(Pattern.compile("in.*"), Consumed.with(Serdes.String(), Serdes.String()))));
    }

    public static void main(String[] args) throws Exception {
        Path folder = Path.of(args[0]);
        Files.createDirectories(folder);
        for (Map.Entry<String, Build> e : ALL.entrySet()) {
            StreamsBuilder b = new StreamsBuilder();
            e.getValue().on(b);
            Files.write(folder.resolve(e.getKey() + ".txt"), b.build().describe().toString().getBytes("UTF-8"));
        }
    }
}
