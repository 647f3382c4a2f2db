import java.time.Duration;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.CloseOptions;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.TimeWindows;

/**
 * Counts records until it gets SIGTERM, every count written on: Resettable KIND BOOTSTRAP KEY=VALUE...
 *
 *   rekeyed   the keys of PREFIX-in, over a repartition topic
 *   windowed  the keys of PREFIX-in by minute, records up to a minute late among them
 *
 * Both write `key, count` to PREFIX-out; prefix=, describe= and settings of Kafka Streams follow.
 */
public class Resettable {
    public static void main(String[] args) throws Exception {
        Properties p = new Properties();
        p.put("bootstrap.servers", args[1]);
        p.put("auto.offset.reset", "earliest");
        p.put("commit.interval.ms", "100");
        p.put("statestore.cache.max.bytes", "0");
        p.put("default.key.serde", Serdes.StringSerde.class.getName());
        p.put("default.value.serde", Serdes.StringSerde.class.getName());
        for (int i = 2; i < args.length; i++) {
            int at = args[i].indexOf('=');
            p.put(args[i].substring(0, at), args[i].substring(at + 1));
        }
        Topology topology = build(args[0], p.getProperty("prefix"));
        if (p.getProperty("describe") != null) {
            java.nio.file.Files.writeString(
                java.nio.file.Path.of(p.getProperty("describe")), topology.describe().toString());
        }
        KafkaStreams streams = new KafkaStreams(topology, p);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> streams.close(
            CloseOptions.groupMembershipOperation(CloseOptions.GroupMembershipOperation.LEAVE_GROUP)
                .withTimeout(Duration.ofSeconds(20)))));
        streams.start();
    }

    static Topology build(String kind, String prefix) {
        StreamsBuilder b = new StreamsBuilder();
        var in = b.<String, String>stream(prefix + "-in");
        var counts = kind.equals("rekeyed")
            ? in.selectKey((k, v) -> k).groupByKey(Grouped.as("by-key"))
                .count(Materialized.as("counts")).toStream()
            : in.groupByKey()
                .windowedBy(TimeWindows.ofSizeAndGrace(Duration.ofMinutes(1), Duration.ofMinutes(1)))
                .count(Materialized.as("per-minute")).toStream()
                .map((k, v) -> KeyValue.pair(k.key() + "@" + k.window().start(), v));
        counts.mapValues(v -> "" + v).to(prefix + "-out");
        return b.build();
    }
}
