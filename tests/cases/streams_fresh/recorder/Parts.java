import java.time.Duration;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.processor.api.ContextualFixedKeyProcessor;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.FixedKeyRecord;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.WindowStore;

/** Parts of topologies that MoreCases are made of. */
class Parts extends Cases {
    static final String[] CLOSING = {"in a x 20", "in b x 30", "in z z 200"};
    static final String[] LATER = {"in2 e T5 27", "in a y 28", "in z z 200", "in2 z z 201"};

    /** Appends to what it knows of a key. */
    static final class Look extends ContextualProcessor<String, String, String, String> {
        final String name;
        Look(String name) { this.name = name; }
        public void process(Record<String, String> r) {
            KeyValueStore<String, String> store = context().getStateStore(name);
            String old = store.get(r.key());
            store.put(r.key(), (old == null ? "" : old) + r.value());
            context().forward(r.withValue(store.get(r.key())));
        }
    }

    static final class LookAt extends ContextualFixedKeyProcessor<String, String, String> {
        final String name;
        LookAt(String name) { this.name = name; }
        public void process(FixedKeyRecord<String, String> r) {
            KeyValueStore<String, String> store = context().getStateStore(name);
            String old = store.get(r.key());
            store.put(r.key(), (old == null ? "" : old) + r.value());
            context().forward(r.withValue(store.get(r.key())));
        }
    }

    static final class Pass extends ContextualProcessor<String, String, String, String> {
        public void process(Record<String, String> r) { context().forward(r); }
    }

    static final class Fill extends ContextualProcessor<String, String, Void, Void> {
        final String name;
        Fill(String name) { this.name = name; }
        public void process(Record<String, String> r) { context().<KeyValueStore<String, String>>getStateStore(name).put(r.key(), r.value()); }
    }

    static void store(StreamsBuilder b, String name) {
        b.addStateStore(Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore(name), Serdes.String(), Serdes.String()));
    }

    static void looks(StreamsBuilder b, String p, String store) {
        store(b, store);
        out(in(b, p).process(() -> new Look(store), Named.as("look"), store), p);
    }

    static void twoGroups(KStream<String, String> s, String one, String two, String p) {
        out(s.groupBy((k, v) -> v, Grouped.as(one)).count(Materialized.as("counts")), p);
        side(s.groupBy((k, v) -> k + v, Grouped.as(two)).reduce(String::concat, Materialized.as("texts")), p);
    }

    static void twoWindows(StreamsBuilder b, String p, String one, String two) {
        windows(in(b, p).groupByKey().windowedBy(minutes()).count(rows(one)), p);
        to(in2(b, p).groupByKey().windowedBy(minutes()).count(rows(two)).toStream().map((k, v) -> org.apache.kafka.streams.KeyValue.pair(k.key(), "" + v)), p + "side");
    }

    static StreamJoined<String, String, String> joinName(String name) {
        return StreamJoined.<String, String, String>with(Serdes.String(), Serdes.String(), Serdes.String()).withName(name);
    }

    static StreamJoined<String, String, String> joinAll(String name) { return joinName(name).withStoreName(name); }

    static void sessions(KStream<String, String> s, String store, String p) {
        windows(s.groupByKey().windowedBy(SessionWindows.ofInactivityGapWithNoGrace(MINUTE)).count(Materialized.<String, Long, SessionStore<Bytes, byte[]>>as(store)), p);
    }

    static KTable<Windowed<String>, Long> sliding(KStream<String, String> s, String store) {
        TimeWindowedKStream<String, String> w = s.groupByKey().windowedBy(SlidingWindows.ofTimeDifferenceAndGrace(MINUTE, Duration.ofSeconds(10)));
        return store == null ? w.count() : w.count(Materialized.<String, Long, WindowStore<Bytes, byte[]>>as(store));
    }

    static void suppressed(KStream<String, String> s, Suppressed<Windowed<?>> how, String p) {
        windows(s.groupByKey().windowedBy(minutes()).count(rows("w")).suppress(how), p);
    }

    static void foreign(StreamsBuilder b, String p, TableJoined<String, String> name, String result) {
        out(table(b, p, "in", "l").join(table(b, p, "in2", "r"), v -> v, BOTH, name, Materialized.as(result)), p);
    }

    static void threeTables(StreamsBuilder b, String p) {
        out(table(b, p, "in", "l").join(table(b, p, "in2", "r"), BOTH).leftJoin(table(b, p, "in3", "m"), BOTH), p);
    }

    static void cogrouped(KStream<String, String> one, KStream<String, String> two, String p) {
        out(one.groupByKey().<String>cogroup(join()).cogroup(two.groupByKey(), join()).aggregate(() -> "", Materialized.as("all")), p);
    }

    static void mergedUnnamed(StreamsBuilder b, String p) {
        KStream<String, String> s = in(b, p).selectKey((k, v) -> v);
        out(s.groupByKey().count(), p);
        side(s.groupByKey().reduce(String::concat), p);
    }
}
