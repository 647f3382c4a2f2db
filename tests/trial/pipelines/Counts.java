import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.TimeWindows;

/** Counts records by key and minute; settings.json beside it names broker, topics and state. */
public class Counts {
    public static void main(String[] args) throws Exception {
        String settings = Files.readString(Path.of("settings.json"));
        Properties p = new Properties();
        p.put("application.id", word(settings, "application"));
        p.put("bootstrap.servers", word(settings, "broker"));
        p.put("state.dir", word(settings, "state"));
        p.put("auto.offset.reset", "earliest");
        p.put("commit.interval.ms", "100");
        p.put("statestore.cache.max.bytes", "0");
        p.put("default.key.serde", Serdes.StringSerde.class.getName());
        p.put("default.value.serde", Serdes.StringSerde.class.getName());
        StreamsBuilder builder = new StreamsBuilder();
        builder.<String, String>stream(word(settings, "input"))
            .groupByKey()
            .windowedBy(TimeWindows.ofSizeAndGrace(Duration.ofMinutes(1), Duration.ofHours(1)))
            .count()
            .toStream()
            .map((key, count) -> KeyValue.pair(key.key(), String.format(
                "{\"key\": \"%s\", \"start\": %d, \"count\": %d}",
                key.key(), key.window().start(), count)))
            .to(word(settings, "output"));
        Topology topology = builder.build();
        Files.writeString(Path.of("topology.txt"), topology.describe().toString());
        KafkaStreams streams = new KafkaStreams(topology, p);
        Runtime.getRuntime().addShutdownHook(
            new Thread(() -> streams.close(Duration.ofSeconds(20))));
        streams.start();
    }

    static String word(String settings, String key) {
        Matcher found = Pattern.compile('"' + key + "\": \"([^\"]*)\"").matcher(settings);
        if (!found.find()) throw new IllegalArgumentException("settings.json lacks " + key);
        return found.group(1);
    }
}
