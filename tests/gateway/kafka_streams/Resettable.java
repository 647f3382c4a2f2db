import java.nio.file.Files;
import java.nio.file.Path;
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
import org.apache.kafka.streams.kstream.Repartitioned;
import org.apache.kafka.streams.kstream.TimeWindows;

/**
 * Counts records until it gets SIGTERM, every count written on: Resettable KIND BOOTSTRAP KEY=VALUE...
 *
 *   rekeyed   the keys of PREFIX-in, over a repartition topic
 *   fixed     the same, over a repartition topic whose number of partitions the code fixes at 3
 *   marked    the same by a later version, which writes `v2:` in front of each count
 *   windowed  the keys of PREFIX-in by minute, records up to a minute late among them
 *
 * All write `key, count` to PREFIX-out, or to output=, and die of the value `poison`. Settings of
 * Kafka Streams follow, and prefix=; describe=FOLDER writes KIND.txt for each of them; pause=FILE pauses it while
 * there is such a file, and FILE.state says `paused` or `runs`; slow=FILE takes 0.5 s a record then.
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
        if (p.getProperty("slow") != null) slow = Path.of(p.getProperty("slow"));
        if (p.getProperty("output") != null) output = p.getProperty("output");
        Topology topology = build(args[0], p.getProperty("prefix"));
        if (p.getProperty("describe") != null) {
            for (String kind : new String[] {"rekeyed", "fixed", "marked", "windowed"}) {
                Files.writeString(Path.of(p.getProperty("describe"), kind + ".txt"),
                    build(kind, p.getProperty("prefix")).describe().toString());
            }
        }
        KafkaStreams streams = new KafkaStreams(topology, p);
        streams.setStateListener((now, before) -> {
            if (now == KafkaStreams.State.ERROR) new Thread(() -> System.exit(1)).start();
        });
        Runtime.getRuntime().addShutdownHook(new Thread(() -> streams.close(
            CloseOptions.groupMembershipOperation(CloseOptions.GroupMembershipOperation.LEAVE_GROUP)
                .withTimeout(Duration.ofSeconds(20)))));
        streams.start();
        if (p.getProperty("pause") != null) follow(streams, Path.of(p.getProperty("pause")));
    }

    /** Pauses and resumes it as the file comes and goes. */
    static void follow(KafkaStreams streams, Path file) throws Exception {
        for (Boolean was = null;; Thread.sleep(50)) {
            if (Files.exists(file)) streams.pause(); else streams.resume();
            if (was != null && was == streams.isPaused()) continue;
            was = streams.isPaused();
            Files.writeString(Path.of(file + ".state"), was ? "paused" : "runs");
        }
    }

    static Path slow;
    static String output;

    static String checked(String value) {
        if (slow != null && Files.exists(slow)) {
            try {
                Thread.sleep(500);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        if (value.equals("poison")) throw new IllegalArgumentException("poison");
        return value;
    }

    static Topology build(String kind, String prefix) {
        StreamsBuilder b = new StreamsBuilder();
        var in = b.<String, String>stream(prefix + "-in").mapValues(Resettable::checked);
        var fixed = Repartitioned.<String, String>as("by-key").withNumberOfPartitions(3);
        var counts = !kind.equals("windowed")
            ? (kind.equals("fixed") ? in.repartition(fixed).groupByKey()
                : in.selectKey((k, v) -> k).groupByKey(Grouped.as("by-key")))
                .count(Materialized.as("counts")).toStream()
            : in.groupByKey()
                .windowedBy(TimeWindows.ofSizeAndGrace(Duration.ofMinutes(1), Duration.ofMinutes(1)))
                .count(Materialized.as("per-minute")).toStream()
                .map((k, v) -> KeyValue.pair(k.key() + "@" + k.window().start(), v));
        String mark = kind.equals("marked") ? "v2:" : "";
        if (kind.equals("marked")) counts = counts.filter((k, v) -> v > 0);
        counts.mapValues(v -> mark + v).to(output != null ? output : prefix + "-out");
        return b.build();
    }
}
