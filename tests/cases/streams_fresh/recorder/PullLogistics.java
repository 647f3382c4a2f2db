import java.util.List;
import java.util.Set;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;

/** Applications of carriers, each before and after a pull request. */
final class PullLogistics extends PullParts {
    private PullLogistics() { }

    /** scans: parcel -> depot,state; depots: depot -> city; drivers: depot -> name. */
    static final class ProcessorsNamed {
        static void before(StreamsBuilder b, String p) {
            KTable<String, String> depots = b.table(p + "depots", kept("depots", TEXT));
            KTable<String, String> drivers = b.table(p + "drivers", kept("drivers", TEXT));
            KStream<String, String> scans = b.<String, String>stream(p + "scans").filter((k, v) -> v.contains(",")).mapValues(v -> v.toLowerCase());
            publish(scans.toTable(kept("last-scan", TEXT)), p + "last-scans");
            KTable<String, Long> perDepot = scans.selectKey((k, v) -> field(v, 0)).groupByKey(Grouped.as("by-depot")).count(kept("scans-of-depot", NUMBER));
            publish(perDepot.join(depots, PullParts::pair, kept("scans-of-city", TEXT)).leftJoin(drivers, PullParts::pair, kept("scans-and-drivers", TEXT)), p + "depot-loads");
        }

        static KStream<String, String> scans(StreamsBuilder b, String p) {
            return b.<String, String>stream(p + "scans", Consumed.as("scans")).filter((k, v) -> v.contains(","), Named.as("valid")).mapValues(v -> v.toLowerCase(), Named.as("lower"));
        }

        static KTable<String, Long> perDepot(KStream<String, String> scans) {
            return scans.selectKey((k, v) -> field(v, 0), Named.as("depot")).groupByKey(Grouped.as("by-depot")).count(Named.as("count-scans"), kept("scans-of-depot", NUMBER));
        }

        static void after(StreamsBuilder b, String p) {
            KTable<String, String> depots = b.table(p + "depots", Consumed.as("depots-input"), kept("depots", TEXT));
            KTable<String, String> drivers = b.table(p + "drivers", Consumed.as("drivers-input"), kept("drivers", TEXT));
            KStream<String, String> scans = scans(b, p);
            publish(scans.toTable(Named.as("keep-last"), kept("last-scan", TEXT)), p + "last-scans");
            KTable<String, String> cities = perDepot(scans).join(depots, PullParts::pair, Named.as("with-city"), kept("scans-of-city", TEXT));
            publish(cities.leftJoin(drivers, PullParts::pair, Named.as("with-driver"), kept("scans-and-drivers", TEXT)), p + "depot-loads");
        }
    }

    /** manifests: truck -> parcels with commas. */
    static final class OneFlatMap {
        static void loads(KStream<String, String> parcels, String p) {
            publishWindows(parcels.groupByKey().windowedBy(minutes(1, 0)).count(windowed("loads"))
                .suppress(Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded()).withName("final-loads")), p + "loads");
        }

        static void before(StreamsBuilder b, String p) {
            loads(b.<String, String>stream(p + "manifests").flatMapValues(v -> List.of(v.split(","))).filter((k, v) -> !v.equals("empty")).mapValues(v -> v.toUpperCase()), p);
        }

        static void after(StreamsBuilder b, String p) {
            loads(b.<String, String>stream(p + "manifests").flatMapValues(v -> List.of(v.split(",")).stream().filter(one -> !one.equals("empty")).map(String::toUpperCase).toList()), p);
        }
    }

    /** positions: truck -> place. */
    static final class ConnectedStore {
        static StoreBuilder<?> last() { return Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore("last-position"), TEXT, TEXT); }

        static final class Moves implements ProcessorSupplier<String, String, String, String> {
            public Processor<String, String, String, String> get() { return new WithFormer("last-position"); }
            public Set<StoreBuilder<?>> stores() { return Set.of(last()); }
        }

        static void before(StreamsBuilder b, String p) {
            b.addStateStore(last());
            publish(b.<String, String>stream(p + "positions").filter((k, v) -> !v.isEmpty()).process(() -> new WithFormer("last-position"), "last-position"), p + "moves");
        }

        static void after(StreamsBuilder b, String p) {
            publish(b.<String, String>stream(p + "positions").process(new Moves()).filter((k, v) -> !v.isEmpty()), p + "moves");
        }
    }

    /** legs: parcel -> place. */
    static final class ValueWithSeparator {
        static void route(StreamsBuilder b, String p, ValueMapper<String, String> leg) {
            publish(b.<String, String>stream(p + "legs").mapValues(leg).groupByKey().reduce((a, v) -> a + v, kept("route", TEXT)), p + "routes");
        }

        static void before(StreamsBuilder b, String p) { route(b, p, v -> v + "/"); }
        static void after(StreamsBuilder b, String p) { route(b, p, v -> "[" + v + "]"); }
    }

    /** stops: parcel -> depot; depots: depot -> city. */
    static final class DepotsGlobal {
        static void before(StreamsBuilder b, String p) {
            publish(b.<String, String>stream(p + "stops").groupBy((k, v) -> v, Grouped.as("depot")).count(kept("stops", NUMBER)), p + "stop-counts");
        }

        static void after(StreamsBuilder b, String p) {
            KStream<String, String> stops = b.stream(p + "stops");
            publish(stops.groupBy((k, v) -> v, Grouped.as("depot")).count(kept("stops", NUMBER)), p + "stop-counts");
            GlobalKTable<String, String> depots = b.globalTable(p + "depots", kept("all-depots", TEXT));
            publish(stops.leftJoin(depots, (k, v) -> v, PullParts::pair, Named.as("with-city")), p + "stops-with-city");
        }
    }

    /** shipments: shipment -> carrier,weight; carriers: carrier -> name. */
    static final class CarrierNames {
        static KTable<String, String> shipments(StreamsBuilder b, String p) {
            KTable<String, String> shipments = b.table(p + "shipments", kept("shipments", TEXT));
            publish(shipments.groupBy((k, v) -> KeyValue.pair(field(v, 0), v), Grouped.with("carrier", TEXT, TEXT))
                .aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), (k, v, a) -> a - number(v, 1), kept("weights", NUMBER)), p + "weights");
            return shipments;
        }

        static void before(StreamsBuilder b, String p) { shipments(b, p); }

        static void after(StreamsBuilder b, String p) {
            KTable<String, String> carriers = b.table(p + "carriers", kept("carriers", TEXT));
            publish(shipments(b, p).join(carriers, v -> field(v, 0), PullParts::pair, TableJoined.as("carrier-name"), kept("shipments-with-carrier", TEXT)), p + "named-shipments");
        }
    }

    /** pickups: parcel -> courier; receipts: parcel -> name. */
    static final class WiderReceipts {
        static void before(StreamsBuilder b, String p) { publish(b.<String, String>stream(p + "pickups").groupByKey().reduce((a, v) -> a + v, kept("couriers", TEXT)), p + "couriers"); }

        static void after(StreamsBuilder b, String p) {
            KTable<String, String> couriers = b.<String, String>stream(p + "pickups").groupByKey().reduce((a, v) -> a + v, kept("couriers", TEXT));
            publish(couriers, p + "couriers");
            publish(b.<String, String>stream(p + "receipts").join(couriers, PullParts::pair, Joined.as("courier")), p + "delivered");
        }
    }
}
