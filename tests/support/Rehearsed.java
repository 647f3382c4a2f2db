import java.time.Duration;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Aggregator;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;

/** Versions of one application, which counts what topic `rehearsed-in` has of each key. */
public class Rehearsed {
    static KStream<String, String> in(StreamsBuilder b) {
        return b.stream("rehearsed-in", Consumed.with(Serdes.String(), Serdes.String()));
    }

    static void out(KTable<String, ?> t) {
        t.toStream().mapValues(v -> "" + v).to("rehearsed-out", Produced.with(Serdes.String(), Serdes.String()));
    }

    static KTable<String, Long> counted(KStream<String, String> s, String store) {
        return s.groupByKey(Grouped.with(Serdes.String(), Serdes.String())).count(Materialized.as(store));
    }

    /** The old version. */
    public static Topology counts() {
        StreamsBuilder b = new StreamsBuilder();
        out(counted(in(b), "counts"));
        return b.build();
    }

    /** A harmless change. */
    public static Topology filtered(Properties settings) {
        StreamsBuilder b = new StreamsBuilder();
        out(counted(in(b).filter((k, v) -> !v.isEmpty()), "counts"));
        return b.build(settings);
    }

    static Topology summed(Aggregator<String, String, Long> add) {
        StreamsBuilder b = new StreamsBuilder();
        out(in(b).groupByKey(Grouped.with(Serdes.String(), Serdes.String())).aggregate(() -> 0L, add,
            Materialized.<String, Long, org.apache.kafka.streams.state.KeyValueStore<org.apache.kafka.common.utils.Bytes, byte[]>>as("counts")
                .withKeySerde(Serdes.String()).withValueSerde(Serdes.Long())));
        return b.build();
    }

    /** Code of the application fails before there is a topology. */
    public static Topology raises() { throw new IllegalStateException("no catalogue at db:5432"); }

    /** Code of the application never returns. */
    public static Topology waits() throws InterruptedException { Thread.sleep(3_600_000); return counts(); }

    /** Counts by a function of its own. */
    public static Topology added() { return summed((k, v, n) -> n + 1); }

    /** The same in other words: no description shows it. */
    public static Topology addedOtherwise() { return summed((k, v, n) -> Math.addExact(n, 1L)); }

    /** Another meaning: no description shows it, either. */
    public static Topology lengths() { return summed((k, v, n) -> n + 10 * v.length() + 1); }

    /** Another name: the counts begin anew. */
    public static Topology renamed() {
        StreamsBuilder b = new StreamsBuilder();
        out(counted(in(b), "tallies"));
        return b.build();
    }

    /** Text where the store has numbers: refused at the first record of a known key. */
    public static Topology texts() {
        StreamsBuilder b = new StreamsBuilder();
        out(in(b).groupByKey(Grouped.with(Serdes.String(), Serdes.String()))
            .aggregate(() -> 0, (k, v, n) -> n + 1, Materialized.<String, Integer, org.apache.kafka.streams.state.KeyValueStore<org.apache.kafka.common.utils.Bytes, byte[]>>as("counts")
                .withKeySerde(Serdes.String()).withValueSerde(Serdes.Integer())));
        return b.build();
    }

    /** Never comes back. */
    public static Topology sleeping() throws InterruptedException {
        Thread.sleep(Duration.ofHours(1).toMillis());
        return null;
    }

    public Topology ofAnObject() { return counts(); }

    public static String text() { return "no topology"; }

    /** BOOTSTRAP APPLICATION_ID STATE_DIR; without arguments, describe the topology. */
    public static void main(String[] args) {
        if (args.length == 0) {
            System.out.print(counts().describe());
            return;
        }
        Properties p = new Properties();
        p.put("bootstrap.servers", args[0]);
        p.put("application.id", args[1]);
        p.put("state.dir", args[2]);
        p.put("commit.interval.ms", "100");
        // Kafka Streams does not leave its group when it stops: it is missed after this time.
        p.put("session.timeout.ms", "6000");
        p.put("heartbeat.interval.ms", "1000");
        KafkaStreams streams = new KafkaStreams(counts(), p);
        Runtime.getRuntime().addShutdownHook(new Thread(streams::close));
        streams.start();
    }
}
