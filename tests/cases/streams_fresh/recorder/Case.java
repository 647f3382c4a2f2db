import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.streams.StreamsBuilder;

/** One upgrade: the two applications, what they are given, and what changes around them. */
final class Case {
    /** Builds a topology; topic names begin with the prefix. */
    interface Build { void on(StreamsBuilder b, String prefix); }

    /** A record; `at` is in seconds after the start of all times. A null value is a tombstone. */
    record Row(String topic, String key, String value, double at) { }

    final String name;
    final String change;
    final Build before;
    final Build after;
    final Map<String, Integer> partitions = new LinkedHashMap<>(Map.of("in", 1, "in2", 1));
    final Map<String, Integer> partitionsAfter = new LinkedHashMap<>();
    final Map<String, String> settings = new LinkedHashMap<>();
    final Map<String, String> settingsAfter = new LinkedHashMap<>();
    List<Row> first = FIRST;
    List<Row> then = THEN;
    /** Topics that hold what the applications read; all others that are theirs hold what they put out. */
    Set<String> read = Set.of("in", "in2", "in3");
    /** Topics that are made for what they put out. */
    final Map<String, Integer> written = new LinkedHashMap<>(Map.of("out", 1));
    /** Whether the old version is started once more after the new one, as a rollback does. */
    boolean rolledBack;
    boolean wiped;
    boolean renamed;

    /** The key e is not touched again by THEN: what is known of it can only be remembered. */
    static final List<Row> FIRST = rows("in2 x R1 0", "in2 y R2 0.2", "in2 a T1 0.4", "in2 b T2 0.6", "in a x 1", "in b y 2",
        "in a y 3", "in c x 4", "in a x 5", "in e x 6");
    static final List<Row> THEN = rows("in a x 20", "in b x 21", "in c y 22", "in d x 23", "in2 x R3 25", "in2 a T3 26", "in2 e T5 27",
        "in a y 28");

    Case(String name, String change, Build before, Build after) {
        this.name = name;
        this.change = change;
        this.before = before;
        this.after = after;
    }

    static List<Row> rows(String... texts) {
        List<Row> found = new ArrayList<>();
        for (String text : texts) {
            String[] w = text.split(" ");
            found.add(new Row(w[0], w[1], w[2].equals("-") ? null : w[2], Double.parseDouble(w[3])));
        }
        return found;
    }

    Case first(String... texts) { first = rows(texts); return this; }
    Case then(String... texts) { then = rows(texts); return this; }
    /** Settings that both versions have. */
    Case with(String key, String value) { settings.put(key, value); settingsAfter.put(key, value); return this; }
    Case was(String key, String value) { settings.put(key, value); return this; }
    Case now(String key, String value) { settingsAfter.put(key, value); return this; }
    Case topic(String name, int number) { partitions.put(name, number); return this; }
    /** The topic has this many partitions, or is made, before the new version starts. */
    Case grown(String name, int number) { partitionsAfter.put(name, number); return this; }
    Case without(String name) { partitions.remove(name); return this; }
    /** The case has topics of its own in place of in, in2 and out. */
    Case ownTopics() { partitions.clear(); written.clear(); read = new TreeSet<>(); rolledBack = true; return this; }
    Case reads(String name, int number) { read.add(name); return topic(name, number); }
    /** An input that is made, or becomes wider, before the new version starts. */
    Case laterReads(String name, int number) { read.add(name); return grown(name, number); }
    Case writes(String... names) { for (String name : names) written.put(name, 1); return this; }
    Case wiped() { wiped = true; return this; }
    Case renamed() { renamed = true; return this; }
}
