import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.processor.api.ContextualFixedKeyProcessor;
import org.apache.kafka.streams.processor.api.FixedKeyRecord;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;

/** Applications of scooters, factories, airports and recycling, each before and after a pull request. */
final class LaterTown extends PullParts {
    private LaterTown() { }

    /** Puts the former value of the key in front of each record's. */
    static final class ValueWithFormer extends ContextualFixedKeyProcessor<String, String, String> {
        final String store;
        ValueWithFormer(String store) { this.store = store; }
        public void process(FixedKeyRecord<String, String> r) {
            KeyValueStore<String, String> last = context().getStateStore(store);
            String former = last.get(r.key());
            last.put(r.key(), r.value());
            context().forward(r.withValue(former + ">" + r.value()));
        }
    }

    /** positions: scooter -> place. */
    static final class ValuesProcessed {
        static void last(StreamsBuilder b) { b.addStateStore(Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore("last-place"), TEXT, TEXT)); }

        static void moves(KStream<String, String> moves, String p) {
            publish(moves, p + "moves");
            publish(moves.groupByKey().count(), p + "move-counts");
            publish(moves.groupBy((k, v) -> v).count(), p + "way-counts");
        }

        static void before(StreamsBuilder b, String p) {
            last(b);
            moves(b.<String, String>stream(p + "positions").process(() -> new WithFormer("last-place"), "last-place"), p);
        }

        static void after(StreamsBuilder b, String p) {
            last(b);
            moves(b.<String, String>stream(p + "positions").processValues(() -> new ValueWithFormer("last-place"), "last-place"), p);
        }
    }

    /** batteries: scooter -> zone,percent. */
    static final class LowBatteries {
        static void zones(KStream<String, String> batteries, String p) {
            publish(batteries.groupBy((k, v) -> field(v, 0), Grouped.as("zone")).count(kept("reports-of-zone", NUMBER)), p + "zone-reports");
            publishWindows(batteries.groupByKey(Grouped.as("scooter")).windowedBy(minutes(1, 10)).count(windowed("reports-of-scooter")), p + "scooter-minutes");
        }

        static void before(StreamsBuilder b, String p) { zones(b.stream(p + "batteries"), p); }
        static void after(StreamsBuilder b, String p) { zones(b.<String, String>stream(p + "batteries").filter((k, v) -> number(v, 1) < 20), p); }
    }

    /** rides: scooter -> zone,minutes. */
    static final class RidesCached {
        static void build(StreamsBuilder b, String p) {
            KStream<String, String> rides = b.<String, String>stream(p + "rides").filter((k, v) -> number(v, 1) > 0);
            publish(rides.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), unnamed(NUMBER)), p + "scooter-minutes");
            publish(rides.groupBy((k, v) -> field(v, 0)).count(), p + "zone-rides");
        }
    }

    /** parts: machine -> part; stops: machine -> cause; shifts: worker -> hall. */
    static final class PartsInOtherOrder {
        static void parts(StreamsBuilder b, String p) { publish(b.<String, String>stream(p + "parts").groupByKey().count(), p + "part-counts"); }
        static void stops(StreamsBuilder b, String p) { publishWindows(b.<String, String>stream(p + "stops").groupByKey().windowedBy(minutes(1, 10)).count(), p + "stop-minutes"); }
        static void shifts(StreamsBuilder b, String p) { publish(b.<String, String>stream(p + "shifts").groupBy((k, v) -> v, Grouped.as("hall")).count(kept("shifts-of-hall", NUMBER)), p + "hall-shifts"); }

        static void before(StreamsBuilder b, String p) {
            parts(b, p);
            stops(b, p);
            shifts(b, p);
        }

        static void after(StreamsBuilder b, String p) {
            shifts(b, p);
            stops(b, p);
            parts(b, p);
        }
    }

    /** tests: machine -> line,result. */
    static final class TestsInMemory {
        static void tests(StreamsBuilder b, String p, Materialized<String, String, KeyValueStore<Bytes, byte[]>> store) {
            KStream<String, String> tests = b.<String, String>stream(p + "tests").filter((k, v) -> v.contains(","));
            publish(tests.groupByKey().reduce((a, v) -> a + "+" + field(v, 1), store.withKeySerde(TEXT).withValueSerde(TEXT)), p + "results");
            publish(tests.groupBy((k, v) -> field(v, 0)).count(), p + "line-counts");
        }

        static void before(StreamsBuilder b, String p) { tests(b, p, kept("results-of-machine", TEXT)); }
        static void after(StreamsBuilder b, String p) { tests(b, p, Materialized.<String, String>as(Stores.inMemoryKeyValueStore("results-of-machine")).withCachingEnabled()); }
    }

    /** flights: flight -> gate,airline,passengers. */
    static final class AirlineForGate {
        static void flights(StreamsBuilder b, String p, int key) {
            KStream<String, String> flights = b.<String, String>stream(p + "flights").filter((k, v) -> number(v, 2) > 0);
            publish(flights.groupBy((k, v) -> field(v, key)).aggregate(() -> 0L, (k, v, a) -> a + number(v, 2), kept("passengers", NUMBER)), p + "passengers");
            publish(flights.groupBy((k, v) -> field(v, 1)).count(), p + "airline-counts");
        }

        static void before(StreamsBuilder b, String p) { flights(b, p, 0); }
        static void after(StreamsBuilder b, String p) { flights(b, p, 1); }
    }

    /** bags: bag -> flight,kilos; bags-by-flight: flight -> flight,kilos. */
    static final class OwnTopicGone {
        static void flights(KStream<String, String> bags, String p) {
            publish(bags.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("kilos", NUMBER)), p + "flight-kilos");
            publish(bags.groupByKey().count(), p + "flight-bags");
        }

        static void before(StreamsBuilder b, String p) {
            b.<String, String>stream(p + "bags").selectKey((k, v) -> field(v, 0)).to(p + "bags-by-flight");
            flights(b.stream(p + "bags-by-flight"), p);
        }

        static void after(StreamsBuilder b, String p) {
            flights(b.<String, String>stream(p + "bags").selectKey((k, v) -> field(v, 0)).repartition(Repartitioned.as("bags-by-flight")), p);
        }
    }

    /** pickups: pickup -> bin,kilos; bins: bin -> street. */
    static final class BinsNoLongerGlobal {
        static void streets(KStream<String, String> pickups, String p) {
            publish(pickups.groupBy((k, v) -> field(v, 0)).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("kilos-of-street", NUMBER)), p + "street-kilos");
            publishWindows(pickups.groupBy((k, v) -> field(v, 0)).windowedBy(minutes(1, 10)).count(), p + "street-minutes");
        }

        static void before(StreamsBuilder b, String p) {
            GlobalKTable<String, String> bins = b.globalTable(p + "bins");
            streets(b.<String, String>stream(p + "pickups").join(bins, (k, v) -> field(v, 0), (v, street) -> street + "," + field(v, 1)), p);
        }

        static void after(StreamsBuilder b, String p) {
            KTable<String, String> bins = b.table(p + "bins");
            streets(b.<String, String>stream(p + "pickups").selectKey((k, v) -> field(v, 0)).join(bins, (v, street) -> street + "," + field(v, 1)), p);
        }
    }

    /** trucks: truck -> yard,kilos; drivers: truck -> driver. */
    static final class NamesDemandedAndGiven {
        static void before(StreamsBuilder b, String p) {
            KTable<String, String> drivers = b.table(p + "drivers");
            KStream<String, String> trucks = b.<String, String>stream(p + "trucks").leftJoin(drivers, (v, driver) -> v + "," + driver);
            publish(trucks.groupBy((k, v) -> field(v, 0)).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), unnamed(NUMBER)), p + "yard-kilos");
            publish(trucks.groupBy((k, v) -> field(v, 2)).count(), p + "driver-counts");
        }

        static void after(StreamsBuilder b, String p) {
            KTable<String, String> drivers = b.table(p + "drivers", kept("drivers", TEXT));
            KStream<String, String> trucks = b.<String, String>stream(p + "trucks").leftJoin(drivers, (v, driver) -> v + "," + driver, Joined.as("driver-of-truck"));
            publish(trucks.groupBy((k, v) -> field(v, 0), Grouped.as("yard")).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("kilos-of-yard", NUMBER)), p + "yard-kilos");
            publish(trucks.groupBy((k, v) -> field(v, 2), Grouped.as("driver")).count(kept("trips-of-driver", NUMBER)), p + "driver-counts");
        }
    }
}
