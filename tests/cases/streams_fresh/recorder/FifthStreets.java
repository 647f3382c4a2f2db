import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.processor.api.ContextualFixedKeyProcessor;
import org.apache.kafka.streams.processor.api.FixedKeyRecord;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;

/**
 * Applications of ferries, bridges, street lamps, potholes, lost property, parcel lockers, car rentals, campsites and pizzerias, each before and
 * after a pull request.
 */
final class FifthStreets extends PullParts {
    private FifthStreets() { }

    /** crossings: ferry -> route,cars; ports: port -> town; routes: route -> island. */
    static final class UnusedTableRemoved {
        static void all(StreamsBuilder b, String p) {
            KTable<String, String> routes = b.table(p + "routes", kept("routes", TEXT));
            KStream<String, String> crossings = b.<String, String>stream(p + "crossings").filter((k, v) -> number(v, 1) > 0);
            publish(crossings.groupByKey().count(), p + "ferry-counts");
            publish(crossings.selectKey((k, v) -> field(v, 0)).leftJoin(routes, (v, island) -> island + "," + v, Joined.as("island"))
                .groupBy((k, v) -> field(v, 0), Grouped.as("island-cars")).aggregate(() -> 0L, (k, v, a) -> a + number(v, 2), kept("cars-of-island", NUMBER)), p + "island-cars");
            publishWindows(crossings.groupBy((k, v) -> field(v, 0)).windowedBy(minutes(1, 10)).count(), p + "route-minutes");
        }

        static void before(StreamsBuilder b, String p) {
            KTable<String, String> ports = b.table(p + "ports");
            all(b, p);
        }

        static void after(StreamsBuilder b, String p) { all(b, p); }
    }

    /** loads: lorry -> bridge,tons; limits: bridge -> tons. */
    static final class InnerForLeftAndFilter {
        static KStream<String, String> loads(StreamsBuilder b, String p) {
            KStream<String, String> loads = b.stream(p + "loads");
            publish(loads.groupByKey().count(), p + "lorry-counts");
            return loads;
        }

        static void known(KStream<String, String> known, String p) {
            publish(known.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("tons-of-bridge", NUMBER)), p + "bridge-tons");
            publish(known.filter((k, v) -> number(v, 1) > number(v, 2)).groupBy((k, v) -> field(v, 0)).count(kept("overloads-of-lorry", NUMBER)), p + "overloads");
            publishWindows(known.groupByKey().windowedBy(minutes(1, 10)).count(windowed("loads-of-bridge")), p + "bridge-minutes");
        }

        static KStream<String, String> byBridge(KStream<String, String> loads) { return loads.map((k, v) -> KeyValue.pair(field(v, 0), k + "," + field(v, 1))); }

        static void before(StreamsBuilder b, String p) {
            KTable<String, String> limits = b.table(p + "limits");
            known(byBridge(loads(b, p)).leftJoin(limits, (v, limit) -> limit == null ? null : v + "," + limit).filter((k, v) -> v != null), p);
        }

        static void after(StreamsBuilder b, String p) {
            KTable<String, String> limits = b.table(p + "limits");
            known(byBridge(loads(b, p)).join(limits, (v, limit) -> v + "," + limit), p);
        }
    }

    /** states: lamp -> street,state,watts. */
    static final class PeekForForeach {
        static final LongAdder FAULTS = new LongAdder();

        static KStream<String, String> faults(StreamsBuilder b, String p) {
            KStream<String, String> states = b.stream(p + "states");
            publish(states.groupByKey().reduce((a, v) -> v), p + "lamp-states");
            return states.filter((k, v) -> !field(v, 1).equals("on"));
        }

        static void streets(KStream<String, String> faults, String p) {
            publish(faults, p + "faults");
            publish(faults.groupBy((k, v) -> field(v, 0)).count(), p + "street-faults");
            publish(faults.groupBy((k, v) -> field(v, 1), Grouped.as("state")).aggregate(() -> 0L, (k, v, a) -> a + number(v, 2), kept("watts-of-state", NUMBER)), p + "state-watts");
        }

        static void before(StreamsBuilder b, String p) {
            KStream<String, String> faults = faults(b, p);
            faults.foreach((k, v) -> FAULTS.increment());
            streets(faults, p);
        }

        static void after(StreamsBuilder b, String p) { streets(faults(b, p).peek((k, v) -> FAULTS.increment()), p); }
    }

    /** reports: report -> street,depth. */
    static final class MeanDepth {
        static KGroupedStream<String, String> streets(StreamsBuilder b, String p) {
            KStream<String, String> reports = b.<String, String>stream(p + "reports").filter((k, v) -> number(v, 1) > 0);
            publish(reports.groupByKey().count(), p + "report-counts");
            publishWindows(reports.groupBy((k, v) -> field(v, 0), Grouped.as("lately")).windowedBy(minutes(1, 10)).count(windowed("reports-of-street")), p + "street-minutes");
            return reports.groupBy((k, v) -> field(v, 0), Grouped.as("street"));
        }

        static void before(StreamsBuilder b, String p) {
            publish(streets(b, p).aggregate(() -> "0", (k, v, a) -> "" + (number(a, 0) + number(v, 1)), kept("depth-of-street", TEXT)), p + "depths");
        }

        static void after(StreamsBuilder b, String p) {
            publish(streets(b, p).aggregate(() -> "0,0", (k, v, a) -> (number(a, 0) + number(v, 1)) + "," + (number(a, 1) + 1), kept("depth-of-street", TEXT))
                .mapValues(v -> "" + number(v, 0) / number(v, 1)), p + "depths");
        }
    }

    /** items: item -> station,kind,line. */
    static final class LineForStation {
        static void all(StreamsBuilder b, String p, int key) {
            KTable<String, String> items = b.table(p + "items", kept("items", TEXT));
            publish(items.groupBy((k, v) -> KeyValue.pair(field(v, 1), k), Grouped.as("kind")).aggregate(() -> "", (k, v, a) -> a + "+" + v, (k, v, a) -> a + "-" + v, unnamed(TEXT)), p + "kind-items");
            publish(items.groupBy((k, v) -> KeyValue.pair(field(v, key), k), Grouped.as("place")).count(kept("items-of-place", NUMBER)), p + "place-counts");
            publishWindows(items.toStream().filter((k, v) -> v != null).groupBy((k, v) -> field(v, 1), Grouped.as("lately")).windowedBy(minutes(1, 10)).count(), p + "kind-minutes");
        }

        static void before(StreamsBuilder b, String p) { all(b, p, 0); }
        static void after(StreamsBuilder b, String p) { all(b, p, 2); }
    }

    /** parcels: parcel -> locker,size,hours. */
    static final class NoDefaultBranch {
        static BranchedKStream<String, String> branches(StreamsBuilder b, String p) {
            KStream<String, String> parcels = b.stream(p + "parcels");
            publish(parcels.groupBy((k, v) -> field(v, 0)).count(), p + "locker-counts");
            return parcels.split()
                .branch((k, v) -> field(v, 1).equals("small"), Branched.withConsumer(s -> publish(s.groupBy((k, v) -> field(v, 0)).aggregate(() -> 0L, (k, v, a) -> a + number(v, 2), unnamed(NUMBER)), p + "small-hours")))
                .branch((k, v) -> field(v, 1).equals("large"), Branched.withConsumer(s -> publish(s.groupBy((k, v) -> field(v, 0), Grouped.as("large")).reduce((a, v) -> number(v, 2) > number(a, 2) ? v : a), p + "longest-large")));
        }

        static void before(StreamsBuilder b, String p) { branches(b, p).defaultBranch(); }
        static void after(StreamsBuilder b, String p) { branches(b, p).noDefaultBranch(); }
    }

    /** contracts: contract -> car,cents; payments: contract -> cents; returns: contract -> metres. */
    static final class ReturnsJoined {
        static final JoinWindows NEAR = JoinWindows.ofTimeDifferenceAndGrace(Duration.ofMinutes(2), Duration.ofSeconds(10));
        static StreamJoined<String, String, String> joined(String name) { return StreamJoined.with(TEXT, TEXT, TEXT).withName(name).withStoreName(name); }

        static KStream<String, String> paid(StreamsBuilder b, String p) {
            KStream<String, String> contracts = b.stream(p + "contracts");
            publish(contracts.groupBy((k, v) -> field(v, 0)).count(), p + "car-counts");
            KStream<String, String> paid = contracts.join(b.<String, String>stream(p + "payments"), (v, cents) -> v + "," + cents, NEAR, joined("paid"));
            publish(paid.groupBy((k, v) -> field(v, 0), Grouped.as("car")).aggregate(() -> 0L, (k, v, a) -> a + number(v, 2), kept("cents-of-car", NUMBER)), p + "car-cents");
            return paid;
        }

        static void before(StreamsBuilder b, String p) { paid(b, p); }

        static void after(StreamsBuilder b, String p) {
            KStream<String, String> closed = paid(b, p).join(b.<String, String>stream(p + "returns"), (v, metres) -> v + "," + metres, NEAR, joined("closed"));
            publish(closed, p + "closed");
            publish(closed.groupBy((k, v) -> field(v, 0), Grouped.as("driven")).aggregate(() -> 0L, (k, v, a) -> a + number(v, 3), kept("metres-of-car", NUMBER)), p + "car-metres");
        }
    }

    /** stays: guest -> site,nights. */
    static final class ValuesProcessed {
        /** As WithFormer, without a way to change the key. */
        static final class ValueWithFormer extends ContextualFixedKeyProcessor<String, String, String> {
            public void process(FixedKeyRecord<String, String> r) {
                KeyValueStore<String, String> last = context().getStateStore("last-stay");
                String former = last.get(r.key());
                last.put(r.key(), r.value());
                context().forward(r.withValue(former + ">" + r.value()));
            }
        }

        static KStream<String, String> stays(StreamsBuilder b, String p) {
            b.addStateStore(Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore("last-stay"), TEXT, TEXT));
            KStream<String, String> stays = b.<String, String>stream(p + "stays").filter((k, v) -> number(v, 1) > 0);
            publish(stays.groupBy((k, v) -> field(v, 0)).count(), p + "site-counts");
            return stays;
        }

        static String site(String move) { return field(move.substring(move.indexOf('>') + 1), 0); }

        static void moves(KStream<String, String> moves, String p) {
            publish(moves, p + "moves");
            publish(moves.groupBy((k, v) -> site(v), Grouped.as("site")).reduce((a, v) -> v, kept("last-move-of-site", TEXT)), p + "site-moves");
            publishWindows(moves.groupBy((k, v) -> site(v)).windowedBy(minutes(1, 10)).count(), p + "site-minutes");
        }

        static void before(StreamsBuilder b, String p) { moves(stays(b, p).process(() -> new WithFormer("last-stay"), "last-stay"), p); }
        static void after(StreamsBuilder b, String p) { moves(stays(b, p).processValues(() -> new ValueWithFormer(), "last-stay"), p); }
    }

    /** orders: order -> shop,kind,cents; shops: shop -> town. */
    static final class AuditOutput {
        static void all(StreamsBuilder b, String p, boolean audited) {
            KTable<String, String> shops = b.table(p + "shops");
            KStream<String, String> orders = b.stream(p + "orders");
            if (audited) orders.to(p + "audit", Produced.with(TEXT, TEXT));
            publish(orders.groupBy((k, v) -> field(v, 1)).count(), p + "kind-counts");
            publish(orders.selectKey((k, v) -> field(v, 0)).leftJoin(shops, (v, town) -> town + "," + v, Joined.as("town")).groupBy((k, v) -> field(v, 0), Grouped.as("town-cents"))
                .aggregate(() -> 0L, (k, v, a) -> a + number(v, 3), kept("cents-of-town", NUMBER)), p + "town-cents");
            publishWindows(orders.groupBy((k, v) -> field(v, 0), Grouped.as("shop")).windowedBy(minutes(1, 10)).count(windowed("orders-of-shop")), p + "shop-minutes");
        }

        static void before(StreamsBuilder b, String p) { all(b, p, false); }
        static void after(StreamsBuilder b, String p) { all(b, p, true); }
    }
}
