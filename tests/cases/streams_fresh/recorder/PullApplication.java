import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.Topology;

/**
 * One version of one change as an application: `BOOTSTRAP STATE_DIR APPLICATION_ID`, until it is stopped.
 *
 * Which one, say the system properties `case`, `version` (before or after) and `prefix` (of the topics; without it
 * that of the recorded upgrade), or `pull.properties` in the jar.
 */
public final class PullApplication {
    private PullApplication() { }

    /** What is set for this start: system properties, else the jar's own. */
    static String chosen(String name, String otherwise) {
        Properties own = new Properties();
        try (InputStream file = PullApplication.class.getResourceAsStream("/pull.properties")) {
            if (file != null) own.load(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        String found = System.getProperty(name, own.getProperty(name, otherwise));
        if (found == null) throw new IllegalArgumentException("Set -D" + name + "=... or put " + name + " into pull.properties of the jar.");
        return found;
    }

    static boolean isAfter() {
        return switch (chosen("version", null)) {
            case "before" -> false;
            case "after" -> true;
            default -> throw new IllegalArgumentException("The property version is before or after.");
        };
    }

    static Case which() { return Rehearsal.named(chosen("case", null)); }

    /** What is given, and what the chosen version sets itself. */
    static Properties withOwn(Properties given) {
        Properties all = new Properties();
        all.putAll(given);
        all.putAll(isAfter() ? which().settingsAfter : which().settings);
        return all;
    }

    /** The topology of the chosen version, as `headgate rehearse --after PullApplication#topology` asks for it. */
    public static Topology topology(Properties given) {
        Case c = which();
        return Recorder.World.build(isAfter() ? c.after : c.before, chosen("prefix", Recorder.mark(c) + "u_"), withOwn(given));
    }

    public static void main(String[] args) {
        Properties given = new Properties();
        given.putAll(Map.of("bootstrap.servers", args[0], "state.dir", args[1], "application.id", args[2], "default.key.serde", Serdes.StringSerde.class.getName(),
            "default.value.serde", Serdes.StringSerde.class.getName(), "commit.interval.ms", "100", "statestore.cache.max.bytes", "0"));
        KafkaStreams streams = new KafkaStreams(topology(given), withOwn(given));
        Runtime.getRuntime().addShutdownHook(new Thread(streams::close));
        streams.start();
    }
}
