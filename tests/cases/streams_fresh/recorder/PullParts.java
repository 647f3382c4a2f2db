import java.time.Duration;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.WindowStore;

/** What the applications of PullCases and LaterCases share: values are texts of fields with commas between them. */
class PullParts {
    static final Serde<String> TEXT = Serdes.String();
    static final Serde<Long> NUMBER = Serdes.Long();
    static final Duration MINUTE = Duration.ofMinutes(1);

    static String field(String value, int i) { return value.split(",")[i]; }
    static long number(String value, int i) { return Long.parseLong(field(value, i)); }
    static String pair(Object left, Object right) { return left + ";" + right; }

    static <V> Materialized<String, V, KeyValueStore<Bytes, byte[]>> kept(String store, Serde<V> values) {
        return Materialized.<String, V, KeyValueStore<Bytes, byte[]>>as(store).withKeySerde(TEXT).withValueSerde(values);
    }

    static <V> Materialized<String, V, KeyValueStore<Bytes, byte[]>> unnamed(Serde<V> values) { return Materialized.with(TEXT, values); }

    static Materialized<String, Long, WindowStore<Bytes, byte[]>> windowed(String store) {
        return Materialized.<String, Long, WindowStore<Bytes, byte[]>>as(store).withKeySerde(TEXT).withValueSerde(NUMBER);
    }

    static Materialized<String, Long, SessionStore<Bytes, byte[]>> session(String store) {
        return Materialized.<String, Long, SessionStore<Bytes, byte[]>>as(store).withKeySerde(TEXT).withValueSerde(NUMBER);
    }

    static TimeWindows minutes(int size, int grace) { return TimeWindows.ofSizeAndGrace(MINUTE.multipliedBy(size), Duration.ofSeconds(grace)); }

    /** A window as `key@start`, in seconds of its hour. */
    static String at(Windowed<String> w) { return w.key() + "@" + w.window().start() % 3_600_000 / 1000; }

    static void publish(KStream<String, ?> rows, String topic) { rows.mapValues(v -> v == null ? null : "" + v).to(topic, Produced.with(TEXT, TEXT)); }
    static void publish(KTable<String, ?> rows, String topic) { publish(rows.toStream(), topic); }
    static void publishWindows(KTable<Windowed<String>, ?> rows, String topic) {
        rows.toStream().map((w, v) -> KeyValue.pair(at(w), "" + v)).to(topic, Produced.with(TEXT, TEXT));
    }

    /** Passes a record on if its first field was not seen with its key. */
    static final class FirstOnly extends ContextualProcessor<String, String, String, String> {
        final String store;
        FirstOnly(String store) { this.store = store; }
        public void process(Record<String, String> r) {
            KeyValueStore<String, String> seen = context().getStateStore(store);
            String id = r.key() + "/" + field(r.value(), 0);
            if (seen.putIfAbsent(id, "yes") == null) context().forward(r);
        }
    }

    /** Puts the former value of the key in front of each record's. */
    static final class WithFormer extends ContextualProcessor<String, String, String, String> {
        final String store;
        WithFormer(String store) { this.store = store; }
        public void process(Record<String, String> r) {
            KeyValueStore<String, String> last = context().getStateStore(store);
            String former = last.get(r.key());
            last.put(r.key(), r.value());
            context().forward(r.withValue(former + ">" + r.value()));
        }
    }
}
