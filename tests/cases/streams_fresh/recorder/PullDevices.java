import java.time.Duration;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.state.Stores;

/** Applications of makers of devices, each before and after a pull request. */
final class PullDevices extends PullParts {
    private PullDevices() { }

    /** readings: sensor -> kelvin. */
    static final class ValuesMerged {
        static void hot(KStream<String, Long> celsius, String p) {
            publishWindows(celsius.filter((k, v) -> v > 20).groupByKey(Grouped.with(TEXT, NUMBER)).windowedBy(minutes(1, 5)).count(), p + "hot-minutes");
        }

        static void before(StreamsBuilder b, String p) {
            hot(b.<String, String>stream(p + "readings").mapValues(v -> Long.parseLong(v)).mapValues(v -> v - 273), p);
        }

        static void after(StreamsBuilder b, String p) {
            hot(b.<String, String>stream(p + "readings").mapValues(v -> Long.parseLong(v) - 273), p);
        }
    }

    /** commands and answers: device -> text. */
    static final class PeekBeforeJoin {
        static void matched(KStream<String, String> commands, KStream<String, String> answers, String p) {
            publish(commands.join(answers, PullParts::pair, JoinWindows.ofTimeDifferenceWithNoGrace(MINUTE)), p + "answered");
        }

        static void before(StreamsBuilder b, String p) { matched(b.stream(p + "commands"), b.stream(p + "answers"), p); }

        static void after(StreamsBuilder b, String p) {
            matched(b.<String, String>stream(p + "commands").peek((k, v) -> System.getLogger("commands").log(System.Logger.Level.DEBUG, v)), b.stream(p + "answers"), p);
        }
    }

    /** meters: meter -> watts, of two generations of devices. */
    static final class MergeOrder {
        static void load(KStream<String, String> all, String p) {
            publish(all.groupBy((k, v) -> k.substring(0, 1)).reduce((a, v) -> "" + (Long.parseLong(a) + Long.parseLong(v))), p + "street-load");
        }

        static void before(StreamsBuilder b, String p) {
            KStream<String, String> old = b.stream(p + "meters-old");
            KStream<String, String> smart = b.<String, String>stream(p + "meters-smart").mapValues(v -> field(v, 1));
            load(old.merge(smart), p);
        }

        static void after(StreamsBuilder b, String p) {
            KStream<String, String> old = b.stream(p + "meters-old");
            KStream<String, String> smart = b.<String, String>stream(p + "meters-smart").mapValues(v -> field(v, 1));
            load(smart.merge(old), p);
        }
    }

    /** alarms: site -> alarm. */
    static final class WiderWindow {
        static void alarms(StreamsBuilder b, String p, int size) {
            publishWindows(b.<String, String>stream(p + "alarms").groupByKey().windowedBy(minutes(size, 30)).count(windowed("alarms-per-window")), p + "alarm-counts");
        }

        static void before(StreamsBuilder b, String p) { alarms(b, p, 5); }
        static void after(StreamsBuilder b, String p) { alarms(b, p, 10); }
    }

    /** readings: device -> value; places: device -> room. */
    static final class PlacedOnly {
        static void before(StreamsBuilder b, String p) {
            KTable<String, String> places = b.table(p + "places", kept("places", TEXT));
            KStream<String, String> placed = b.<String, String>stream(p + "readings").leftJoin(places, (v, place) -> pair(v, place), Joined.as("place"));
            publish(placed, p + "placed");
            publish(placed.groupBy((k, v) -> v.split(";")[1], Grouped.as("rooms")).count(kept("per-room", NUMBER)), p + "room-counts");
        }

        static void after(StreamsBuilder b, String p) {
            KTable<String, String> places = b.table(p + "places", kept("places", TEXT));
            KStream<String, String> placed = b.<String, String>stream(p + "readings").join(places, (v, place) -> pair(v, place), Joined.as("place"));
            publish(placed, p + "placed");
            publish(placed.groupBy((k, v) -> v.split(";")[1], Grouped.as("rooms")).count(kept("per-room", NUMBER)), p + "room-counts");
        }
    }

    /** pulses: meter -> pulse. */
    static final class NoMoreSuppress {
        static KTable<Windowed<String>, Long> pulses(StreamsBuilder b, String p) {
            return b.<String, String>stream(p + "pulses").groupByKey().windowedBy(minutes(1, 0)).count(windowed("pulses-per-minute"));
        }

        static void before(StreamsBuilder b, String p) {
            publishWindows(pulses(b, p).suppress(Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded())), p + "pulse-counts");
        }

        static void after(StreamsBuilder b, String p) { publishWindows(pulses(b, p), p + "pulse-counts"); }
    }

    /** faults: device -> site,code. */
    static final class RepartitionedBySite {
        static void before(StreamsBuilder b, String p) {
            publish(b.<String, String>stream(p + "faults").groupBy((k, v) -> field(v, 0), Grouped.as("site")).count(kept("faults", NUMBER)), p + "fault-counts");
        }

        static void after(StreamsBuilder b, String p) {
            publish(b.<String, String>stream(p + "faults").selectKey((k, v) -> field(v, 0))
                .repartition(Repartitioned.<String, String>as("site").withNumberOfPartitions(4)).groupByKey().count(kept("faults", NUMBER)), p + "fault-counts");
        }
    }

    /** doors and windows: house -> state. */
    static final class StoreMoves {
        static void last(StreamsBuilder b) { b.addStateStore(Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore("last-state"), TEXT, TEXT)); }

        static void before(StreamsBuilder b, String p) {
            last(b);
            publish(b.<String, String>stream(p + "doors").process(() -> new WithFormer("last-state"), Named.as("door-change"), "last-state"), p + "door-changes");
            publish(b.<String, String>stream(p + "windows").filter((k, v) -> v.equals("open"), Named.as("open-windows")), p + "window-changes");
        }

        static void after(StreamsBuilder b, String p) {
            last(b);
            publish(b.<String, String>stream(p + "doors").filter((k, v) -> v.equals("open"), Named.as("open-doors")), p + "door-changes");
            publish(b.<String, String>stream(p + "windows").process(() -> new WithFormer("last-state"), Named.as("window-change"), "last-state"), p + "window-changes");
        }
    }

    /** ticks: device -> text. */
    static final class DefaultSerde {
        static void build(StreamsBuilder b, String p) {
            b.<String, String>stream(p + "ticks").groupByKey().reduce((a, v) -> v, Materialized.as("last-tick")).toStream().to(p + "last-ticks");
        }
    }

    /** readings: sensor -> value. */
    static final class MorePartitions {
        static void build(StreamsBuilder b, String p) {
            KStream<String, String> readings = b.stream(p + "readings");
            publish(readings.groupByKey().aggregate(() -> "", (k, v, a) -> a.isEmpty() || Long.parseLong(a) < Long.parseLong(v) ? v : a, kept("highest", TEXT)), p + "highest");
            publish(readings.filter((k, v) -> Long.parseLong(v) < 0).mapValues(v -> "frost"), p + "frost");
        }
    }

    /** beats: device -> firmware; the same device beats every few seconds. */
    static final class DevicesOnline {
        static void online(KStream<String, String> beats, String p) {
            KTable<String, String> firmware = beats.toTable(kept("firmware", TEXT));
            publish(firmware.groupBy((k, v) -> KeyValue.pair(v, k), Grouped.with("by-firmware", TEXT, TEXT)).count(kept("devices", NUMBER)), p + "firmware-counts");
            publishWindows(beats.groupByKey().windowedBy(SlidingWindows.ofTimeDifferenceAndGrace(Duration.ofSeconds(10), Duration.ZERO)).count(windowed("beats")), p + "beat-counts");
        }

        static void before(StreamsBuilder b, String p) { online(b.stream(p + "beats"), p); }
        static void after(StreamsBuilder b, String p) {
            KStream<String, String> beats = b.<String, String>stream(p + "beats").flatMapValues(v -> java.util.List.of(v.trim())).filter((k, v) -> !v.isEmpty());
            online(beats, p);
        }
    }
}
