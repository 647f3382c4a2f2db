import java.time.Duration;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.*;

/** Larger applications of rail, hotels, energy and insurance, each before and after a pull request. */
final class PullTravel extends PullParts {
    private PullTravel() { }

    /** bookings: booking -> train,class,price; trains: train -> line; lines: line -> region. */
    static final class PeekAtTheEnd {
        static KTable<String, Long> perRegion(StreamsBuilder b, String p) {
            KTable<String, String> trains = b.table(p + "trains");
            KTable<String, String> lines = b.table(p + "lines");
            KStream<String, String> perLine = b.<String, String>stream(p + "bookings").selectKey((k, v) -> field(v, 0))
                .join(trains, (booking, line) -> line + "," + number(booking, 2)).selectKey((k, v) -> field(v, 0));
            publish(perLine.groupByKey().count(), p + "line-counts");
            return perLine.join(lines, (v, region) -> region + "," + number(v, 1)).groupBy((k, v) -> field(v, 0)).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), unnamed(NUMBER));
        }

        static void before(StreamsBuilder b, String p) { publish(perRegion(b, p), p + "region-sums"); }

        static void after(StreamsBuilder b, String p) {
            publish(perRegion(b, p).toStream().peek((k, v) -> System.getLogger("regions").log(System.Logger.Level.DEBUG, k + v)), p + "region-sums");
        }
    }

    /** stops: run -> train,station,delay. */
    static final class FilterBeforeKey {
        static void delays(KStream<String, String> late, String p) {
            KTable<String, String> worst = late.groupByKey().aggregate(() -> "0", (k, v, a) -> number(v, 2) > number(a, 0) ? number(v, 2) + "," + field(v, 1) : a);
            publish(worst, p + "worst-delays");
            publish(worst.groupBy((k, v) -> KeyValue.pair(v.contains(",") ? field(v, 1) : "none", k)).count(), p + "worst-stations");
            publishWindows(late.groupBy((k, v) -> field(v, 1)).windowedBy(minutes(1, 0)).count(), p + "station-counts");
        }

        static void before(StreamsBuilder b, String p) {
            delays(b.<String, String>stream(p + "stops").selectKey((k, v) -> field(v, 0)).filter((k, v) -> number(v, 2) > 3), p);
        }

        static void after(StreamsBuilder b, String p) {
            delays(b.<String, String>stream(p + "stops").filter((k, v) -> number(v, 2) > 3).selectKey((k, v) -> field(v, 0)), p);
        }
    }

    /** meters: meter -> house,watts; houses: house -> tariff. */
    static final class NamedStoresOnly {
        static void bills(KStream<String, String> meters, StreamsBuilder b, String p) {
            KTable<String, String> houses = b.table(p + "houses", kept("houses", TEXT));
            KStream<String, String> priced = meters.selectKey((k, v) -> field(v, 0)).leftJoin(houses, (v, tariff) -> tariff + "," + field(v, 1));
            publish(priced.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("house-watts", NUMBER)), p + "house-watts");
            publish(priced.groupBy((k, v) -> field(v, 0)).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("tariff-watts", NUMBER)), p + "tariff-watts");
        }

        static void before(StreamsBuilder b, String p) { bills(b.stream(p + "meters"), b, p); }
        static void after(StreamsBuilder b, String p) { bills(b.<String, String>stream(p + "meters").filterNot((k, v) -> v.endsWith(",")), b, p); }
    }

    /** nights: booking -> hotel,guest; reviews: review -> hotel,stars. */
    static final class OneRepartition {
        static final Aggregator<String, String, Long> STARS = (k, v, a) -> a + number(v, 1);

        static void reviews(StreamsBuilder b, String p, KTable<String, Long> nights) {
            KTable<String, Long> stars = b.<String, String>stream(p + "reviews").groupBy((k, v) -> field(v, 0), Grouped.as("hotel-of-review")).aggregate(() -> 0L, STARS, kept("stars", NUMBER));
            publish(nights.leftJoin(stars, PullParts::pair, kept("hotels", TEXT)), p + "hotels");
        }

        static void before(StreamsBuilder b, String p) {
            KStream<String, String> nights = b.stream(p + "nights");
            publish(nights.groupBy((k, v) -> field(v, 0), Grouped.as("guests")).reduce((a, v) -> a + "+" + field(v, 1), kept("guests", TEXT)), p + "guests");
            reviews(b, p, nights.groupBy((k, v) -> field(v, 0), Grouped.as("nights")).count(kept("nights", NUMBER)));
        }

        static void after(StreamsBuilder b, String p) {
            KGroupedStream<String, String> nights = b.<String, String>stream(p + "nights").selectKey((k, v) -> field(v, 0)).repartition(Repartitioned.as("nights-by-hotel")).groupByKey();
            publish(nights.reduce((a, v) -> a + "+" + field(v, 1), kept("guests", TEXT)), p + "guests");
            reviews(b, p, nights.count(kept("nights", NUMBER)));
        }
    }

    /** claims: claim -> policy,amount; policies: policy -> customer; agents: customer -> agent. */
    static final class AgentsJoined {
        static KTable<String, Long> perCustomer(StreamsBuilder b, String p) {
            KTable<String, String> policies = b.table(p + "policies", kept("policies", TEXT));
            return b.<String, String>stream(p + "claims").selectKey((k, v) -> field(v, 0)).join(policies, (v, customer) -> customer + "," + field(v, 1), Joined.as("policy-of-claim"))
                .groupBy((k, v) -> field(v, 0), Grouped.as("customer-of-claim")).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("claims-of-customer", NUMBER));
        }

        static void before(StreamsBuilder b, String p) { publish(perCustomer(b, p), p + "claim-sums"); }

        static void after(StreamsBuilder b, String p) {
            KTable<String, Long> sums = perCustomer(b, p);
            publish(sums, p + "claim-sums");
            KTable<String, String> agents = b.table(p + "agents", kept("agents", TEXT));
            publish(sums.toStream().leftJoin(agents, (sum, agent) -> agent + "," + sum, Joined.as("agent-of-customer")).filter((k, v) -> number(v, 1) >= 100)
                .groupBy((k, v) -> field(v, 0), Grouped.as("agent")).count(kept("large-claims-of-agent", NUMBER)), p + "agent-counts");
        }
    }

    /** trips: driver -> city,fare; cancels: driver -> reason. */
    static final class SumMovedBehindJoin {
        static JoinWindows near() { return JoinWindows.ofTimeDifferenceWithNoGrace(Duration.ofSeconds(30)); }
        static KStream<String, String> refunds(StreamsBuilder b, String p, KStream<String, String> trips) {
            return trips.join(b.<String, String>stream(p + "cancels"), (trip, reason) -> trip + "," + reason, near());
        }
        static void fares(KStream<String, String> trips, String p) { publish(trips.groupBy((k, v) -> field(v, 0)).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), unnamed(NUMBER)), p + "fares"); }
        static void reasons(KStream<String, String> refunds, String p) { publish(refunds.groupBy((k, v) -> field(v, 2)).count(), p + "reasons"); }

        static void before(StreamsBuilder b, String p) {
            KStream<String, String> trips = b.stream(p + "trips");
            fares(trips, p);
            reasons(refunds(b, p, trips), p);
        }

        static void after(StreamsBuilder b, String p) {
            KStream<String, String> trips = b.stream(p + "trips");
            KStream<String, String> refunds = refunds(b, p, trips);
            reasons(refunds, p);
            fares(trips, p);
        }
    }
}
