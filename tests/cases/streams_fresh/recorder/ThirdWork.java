import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.state.KeyValueStore;

/** Applications of breweries, job boards, charities, call centres, auctions, mines, estate agents, builds, laundries and bakeries, each before and after a pull request. */
final class ThirdWork extends PullParts {
    private ThirdWork() { }

    /** brews: vat -> beer,litres. */
    static final class GroupByForMap {
        static void beers(KGroupedStream<String, String> beers, KStream<String, String> brews, String p) {
            publish(beers.aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), unnamed(NUMBER)), p + "beer-litres");
            publishWindows(brews.groupByKey().windowedBy(minutes(1, 10)).count(), p + "vat-minutes");
            publish(brews.groupBy((k, v) -> v.length() > 9 ? "large" : "small").count(), p + "size-counts");
        }

        static void before(StreamsBuilder b, String p) {
            KStream<String, String> brews = b.<String, String>stream(p + "brews").filter((k, v) -> number(v, 1) > 0);
            beers(brews.map((k, v) -> KeyValue.pair(field(v, 0), v)).groupByKey(), brews, p);
        }

        static void after(StreamsBuilder b, String p) {
            KStream<String, String> brews = b.<String, String>stream(p + "brews").filter((k, v) -> number(v, 1) > 0);
            beers(brews.groupBy((k, v) -> field(v, 0)), brews, p);
        }
    }

    /** letters: candidate -> job,city,points. */
    static final class KeySelectedOnce {
        static void points(KStream<String, String> jobs, String p) {
            publish(jobs.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 2), kept("points-of-job", NUMBER)), p + "job-points");
        }

        static void letters(KStream<String, String> jobs, String p) {
            publishWindows(jobs.groupByKey().windowedBy(minutes(1, 10)).count(), p + "job-minutes");
        }

        static void cities(KStream<String, String> letters, String p) {
            publish(letters.groupBy((k, v) -> field(v, 1), Grouped.as("city")).count(kept("letters-of-city", NUMBER)), p + "city-counts");
        }

        static void before(StreamsBuilder b, String p) {
            KStream<String, String> letters = b.stream(p + "letters");
            points(letters.filter((k, v) -> number(v, 2) > 0).selectKey((k, v) -> field(v, 0)), p);
            letters(letters.mapValues(v -> field(v, 0)).selectKey((k, v) -> v), p);
            cities(letters, p);
        }

        static void after(StreamsBuilder b, String p) {
            KStream<String, String> letters = b.<String, String>stream(p + "letters").selectKey((k, v) -> field(v, 0));
            points(letters.filter((k, v) -> number(v, 2) > 0), p);
            letters(letters.mapValues(v -> field(v, 0)), p);
            cities(letters, p);
        }
    }

    /** gifts: donor -> city,cents. */
    static final class SmallDonorsDropped {
        static KTable<String, String> donors(StreamsBuilder b, String p) {
            KStream<String, String> gifts = b.stream(p + "gifts");
            publishWindows(gifts.groupBy((k, v) -> field(v, 0)).windowedBy(minutes(1, 10)).count(), p + "city-minutes");
            KTable<String, String> donors = gifts.groupByKey().aggregate(() -> "-,0", (k, v, a) -> field(v, 0) + "," + (number(a, 1) + number(v, 1)), kept("gifts-of-donor", TEXT));
            publish(donors, p + "donors");
            return donors;
        }

        static void cities(KTable<String, String> donors, String p) {
            publish(donors.groupBy((k, v) -> KeyValue.pair(field(v, 0), k), Grouped.as("city")).count(kept("donors-of-city", NUMBER)), p + "city-donors");
        }

        static void before(StreamsBuilder b, String p) { cities(donors(b, p), p); }
        static void after(StreamsBuilder b, String p) { cities(donors(b, p).filter((k, v) -> number(v, 1) >= 50), p); }
    }

    /** calls: caller -> team,seconds. */
    static final class ThreeMinutes {
        static void calls(StreamsBuilder b, String p, int size) {
            KStream<String, String> calls = b.<String, String>stream(p + "calls").filter((k, v) -> number(v, 1) > 0);
            publish(calls.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), unnamed(NUMBER)), p + "caller-seconds");
            publishWindows(calls.groupBy((k, v) -> field(v, 0), Grouped.as("team")).windowedBy(minutes(size, 30)).count(windowed("calls-of-team")), p + "team-counts");
            publish(calls.groupBy((k, v) -> field(v, 0), Grouped.as("longest")).reduce((a, v) -> number(v, 1) > number(a, 1) ? v : a), p + "longest");
        }

        static void before(StreamsBuilder b, String p) { calls(b, p, 1); }
        static void after(StreamsBuilder b, String p) { calls(b, p, 3); }
    }

    /** bids: bidder -> lot,cents; lots: lot -> house. */
    static final class LotsInLowerCase {
        static void bids(StreamsBuilder b, String p, KeyValueMapper<String, String, String> lot) {
            KStream<String, String> bids = b.stream(p + "bids");
            KTable<String, String> best = bids.groupBy(lot).reduce((a, v) -> number(v, 1) > number(a, 1) ? v : a);
            publish(best, p + "best-bids");
            publish(bids.groupByKey().count(), p + "bidder-counts");
            KTable<String, String> lots = b.table(p + "lots", kept("lots", TEXT));
            publish(best.toStream().leftJoin(lots, (bid, house) -> house + "," + bid).groupBy((k, v) -> field(v, 0)).count(kept("changes-of-house", NUMBER)), p + "house-changes");
        }

        static void before(StreamsBuilder b, String p) { bids(b, p, (k, v) -> field(v, 0)); }
        static void after(StreamsBuilder b, String p) { bids(b, p, (k, v) -> field(v, 0).toLowerCase()); }
    }

    /** carts: cart -> shaft,kilos. */
    static final class LoadsWithNumber {
        static void carts(StreamsBuilder b, String p, String none, Aggregator<String, String, String> adds) {
            KStream<String, String> carts = b.<String, String>stream(p + "carts").filter((k, v) -> v.contains(","));
            publish(carts.groupByKey().count(), p + "cart-counts");
            publish(carts.groupBy((k, v) -> field(v, 0), Grouped.as("shaft")).aggregate(() -> none, adds, kept("load-of-shaft", TEXT)), p + "shaft-loads");
            publishWindows(carts.groupBy((k, v) -> field(v, 0)).windowedBy(minutes(1, 10)).count(), p + "shaft-minutes");
        }

        static void before(StreamsBuilder b, String p) { carts(b, p, "0", (k, v, a) -> "" + (Long.parseLong(a) + number(v, 1))); }

        static void after(StreamsBuilder b, String p) {
            carts(b, p, "0,0", (k, v, a) -> number(a, 0) + number(v, 1) + "," + (number(a, 1) + 1));
        }
    }

    /** viewings: client -> house,agent; houses: house -> street. */
    static final class AgentsNoLongerCounted {
        static void all(StreamsBuilder b, String p, boolean agents) {
            KTable<String, String> houses = b.table(p + "houses");
            KStream<String, String> viewings = b.<String, String>stream(p + "viewings").filter((k, v) -> v.contains(","));
            if (agents) publish(viewings.groupBy((k, v) -> field(v, 1)).count(), p + "agent-counts");
            publish(viewings.groupBy((k, v) -> field(v, 0)).reduce((a, v) -> a + "+" + field(v, 1), kept("agents-of-house", TEXT)), p + "house-agents");
            publish(viewings.selectKey((k, v) -> field(v, 0)).join(houses, (v, street) -> street, Joined.as("house"))
                .groupBy((k, v) -> v).count(kept("viewings-of-street", NUMBER)), p + "street-counts");
            publishWindows(viewings.groupByKey().windowedBy(minutes(1, 10)).count(windowed("viewings-of-client")), p + "client-minutes");
        }

        static void before(StreamsBuilder b, String p) { all(b, p, true); }
        static void after(StreamsBuilder b, String p) { all(b, p, false); }
    }

    /** builds: project -> state,seconds; owners: project -> team. */
    static final class JoinKept {
        static void projects(StreamsBuilder b, String p, Materialized<String, String, KeyValueStore<Bytes, byte[]>> store) {
            KTable<String, String> builds = b.table(p + "builds", kept("builds", TEXT));
            KTable<String, String> owners = b.table(p + "owners", kept("owners", TEXT));
            ValueJoiner<String, String, String> both = (build, team) -> team + "," + field(build, 0);
            KTable<String, String> owned = store == null ? builds.join(owners, both) : builds.join(owners, both, store);
            publish(owned, p + "projects");
            publish(owned.groupBy((k, v) -> KeyValue.pair(v, k)).count(), p + "state-counts");
            publish(owned.groupBy((k, v) -> KeyValue.pair(field(v, 0), k), Grouped.as("team")).aggregate(() -> "", (k, v, a) -> a + "+" + v, (k, v, a) -> a + "-" + v, kept("projects-of-team", TEXT)), p + "teams");
        }

        static void before(StreamsBuilder b, String p) { projects(b, p, null); }
        static void after(StreamsBuilder b, String p) { projects(b, p, kept("owned-builds", TEXT)); }
    }

    /** washes: machine -> hall,kilos. */
    static final class WashesByNewProtocol {
        static void build(StreamsBuilder b, String p) {
            KStream<String, String> washes = b.<String, String>stream(p + "washes").filter((k, v) -> number(v, 1) > 0);
            publish(washes.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), unnamed(NUMBER)), p + "machine-kilos");
            publish(washes.groupBy((k, v) -> field(v, 0)).count(), p + "hall-counts");
            publishWindows(washes.groupBy((k, v) -> field(v, 0), Grouped.as("hall")).windowedBy(minutes(1, 10)).count(windowed("washes-of-hall")), p + "hall-minutes");
        }
    }

    /** counter and online: customer -> cake,number. */
    static final class OnlineToo {
        static void cakes(KStream<String, String> orders, String p) {
            KStream<String, String> known = orders.filter((k, v) -> number(v, 1) > 0);
            publish(known.groupBy((k, v) -> field(v, 0), Grouped.as("cake")).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("sold-of-cake", NUMBER)), p + "cakes");
            publish(known.groupByKey().reduce((a, v) -> a + "+" + v), p + "customers");
            publishWindows(known.groupBy((k, v) -> field(v, 0)).windowedBy(minutes(1, 10)).count(windowed("orders-of-cake")), p + "cake-minutes");
        }

        static void before(StreamsBuilder b, String p) { cakes(b.stream(p + "counter"), p); }
        static void after(StreamsBuilder b, String p) { cakes(b.<String, String>stream(p + "counter").merge(b.stream(p + "online")), p); }
    }
}
