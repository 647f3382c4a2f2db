import java.time.Duration;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.processor.TimestampExtractor;
import org.apache.kafka.streams.processor.api.ContextualFixedKeyProcessor;
import org.apache.kafka.streams.processor.api.FixedKeyRecord;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.WindowStore;
import org.apache.kafka.streams.state.WindowStoreIterator;

/**
 * Applications of florists, coffee bars, stamp dealers, bird ringers, geneticists, drones, earthquakes, chocolate makers, glaciers and whale
 * watchers, each before and after a pull request.
 */
final class FifthNature extends PullParts {
    private FifthNature() { }

    /** bouquets: order -> shop,flower,stems. */
    static final class AggregateForCount {
        static KGroupedStream<String, String> shops(KStream<String, String> bouquets) { return bouquets.groupBy((k, v) -> field(v, 0)); }

        static void flowers(KStream<String, String> bouquets, String p) {
            publish(bouquets.groupBy((k, v) -> field(v, 1)).aggregate(() -> 0L, (k, v, a) -> a + number(v, 2), unnamed(NUMBER)), p + "flower-stems");
            publish(bouquets.groupBy((k, v) -> field(v, 1), Grouped.as("largest")).reduce((a, v) -> number(v, 2) > number(a, 2) ? v : a, kept("largest-of-flower", TEXT)), p + "largest");
        }

        static void before(StreamsBuilder b, String p) {
            KStream<String, String> bouquets = b.<String, String>stream(p + "bouquets").filter((k, v) -> number(v, 2) > 0);
            publish(shops(bouquets).count(), p + "shop-counts");
            flowers(bouquets, p);
        }

        static void after(StreamsBuilder b, String p) {
            KStream<String, String> bouquets = b.<String, String>stream(p + "bouquets").filter((k, v) -> number(v, 2) > 0);
            publish(shops(bouquets).aggregate(() -> 0L, (k, v, a) -> a + 1, unnamed(NUMBER)), p + "shop-counts");
            flowers(bouquets, p);
        }
    }

    /** sales: till -> bean,cents. */
    static final class DoubleForLong {
        static KGroupedStream<String, String> beans(StreamsBuilder b, String p) {
            KStream<String, String> sales = b.<String, String>stream(p + "sales").filter((k, v) -> number(v, 1) > 0);
            publish(sales.groupByKey().count(), p + "till-counts");
            publishWindows(sales.groupBy((k, v) -> field(v, 0), Grouped.as("lately")).windowedBy(minutes(1, 10)).count(windowed("sales-of-bean")), p + "bean-minutes");
            return sales.groupBy((k, v) -> field(v, 0), Grouped.as("bean"));
        }

        static void before(StreamsBuilder b, String p) { publish(beans(b, p).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("takings-of-bean", NUMBER)), p + "bean-takings"); }

        static void after(StreamsBuilder b, String p) {
            publish(beans(b, p).aggregate(() -> 0.0, (k, v, a) -> a + number(v, 1), kept("takings-of-bean", Serdes.Double())).mapValues(v -> v.longValue()), p + "bean-takings");
        }
    }

    /** lots: lot -> country,euros. */
    static final class LotsForUpdates {
        static KTable<String, String> lots(StreamsBuilder b, String p) {
            KTable<String, String> lots = b.table(p + "lots", kept("lots", TEXT));
            publish(lots.toStream().filter((k, v) -> v != null).groupByKey().reduce((a, v) -> number(v, 1) > number(a, 1) ? v : a), p + "highest");
            return lots;
        }

        static void countries(KTable<String, Long> countries, KTable<String, String> lots, String p) {
            publish(countries, p + "country-counts");
            publish(lots.groupBy((k, v) -> KeyValue.pair(field(v, 0), v), Grouped.as("worth")).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), (k, v, a) -> a - number(v, 1), kept("worth-of-country", NUMBER)), p + "country-worth");
        }

        static void before(StreamsBuilder b, String p) {
            KTable<String, String> lots = lots(b, p);
            countries(lots.toStream().filter((k, v) -> v != null).groupBy((k, v) -> field(v, 0), Grouped.as("country")).count(kept("lots-of-country", NUMBER)), lots, p);
        }

        static void after(StreamsBuilder b, String p) {
            KTable<String, String> lots = lots(b, p);
            countries(lots.groupBy((k, v) -> KeyValue.pair(field(v, 0), k), Grouped.as("country")).count(kept("lots-of-country", NUMBER)), lots, p);
        }
    }

    /** ringings: bird -> ringer,grams; birds: bird -> species. */
    static final class JoinWithGrace {
        static void all(StreamsBuilder b, String p, Joined<String, String, String> joined) {
            KTable<String, String> birds = b.table(p + "birds", Materialized.<String, String>as(Stores.persistentVersionedKeyValueStore("birds", Duration.ofHours(2))).withKeySerde(TEXT).withValueSerde(TEXT));
            KStream<String, String> ringings = b.stream(p + "ringings");
            publish(ringings.groupBy((k, v) -> field(v, 0)).count(), p + "ringer-counts");
            KStream<String, String> known = ringings.join(birds, (v, species) -> species + "," + v, joined);
            publish(known, p + "known");
            publish(known.groupBy((k, v) -> field(v, 0), Grouped.as("species")).aggregate(() -> 0L, (k, v, a) -> a + number(v, 2), kept("grams-of-species", NUMBER)), p + "species-grams");
            publish(known.groupByKey().count(), p + "bird-counts");
        }

        static void before(StreamsBuilder b, String p) { all(b, p, Joined.with(TEXT, TEXT, TEXT, "species-of-bird")); }
        static void after(StreamsBuilder b, String p) { all(b, p, Joined.with(TEXT, TEXT, TEXT, "species-of-bird").withGracePeriod(Duration.ofSeconds(10))); }
    }

    /** variants: variant -> gene,kind; genes: gene -> chromosome. */
    static final class GenesGlobal {
        static void kinds(KTable<String, String> variants, String p) {
            publish(variants.groupBy((k, v) -> KeyValue.pair(field(v, 1), k)).count(), p + "kind-counts");
        }

        static void placed(KStream<String, String> placed, String p) {
            publish(placed, p + "placed");
            publishWindows(placed.filter((k, v) -> v != null).groupBy((k, v) -> field(v, 0), Grouped.as("chromosome")).windowedBy(minutes(1, 10)).count(windowed("variants-of-chromosome")), p + "chromosome-minutes");
        }

        static void before(StreamsBuilder b, String p) {
            KTable<String, String> variants = b.table(p + "variants", kept("variants", TEXT)), genes = b.table(p + "genes", kept("genes", TEXT));
            kinds(variants, p);
            placed(variants.join(genes, v -> field(v, 0), (v, chromosome) -> chromosome + "," + v, TableJoined.as("gene-of-variant"), kept("placed-variants", TEXT)).toStream(), p);
        }

        static void after(StreamsBuilder b, String p) {
            KTable<String, String> variants = b.table(p + "variants", kept("variants", TEXT));
            GlobalKTable<String, String> genes = b.globalTable(p + "genes", kept("genes", TEXT));
            kinds(variants, p);
            placed(variants.toStream().filter((k, v) -> v != null).join(genes, (k, v) -> field(v, 0), (v, chromosome) -> chromosome + "," + v), p);
        }
    }

    /** pings: drone -> flight,metres. */
    static final class FlightsForTenMinutes {
        /** Passes the first record of a flight on. */
        static final class FirstOfFlight extends ContextualFixedKeyProcessor<String, String, String> {
            public void process(FixedKeyRecord<String, String> r) {
                KeyValueStore<String, String> seen = context().getStateStore("seen-flights");
                if (seen.putIfAbsent(r.key() + "/" + field(r.value(), 0), "yes") == null) context().forward(r);
            }
        }

        /** Passes the first record of a flight within ten minutes on. */
        static final class FirstLately extends ContextualFixedKeyProcessor<String, String, String> {
            public void process(FixedKeyRecord<String, String> r) {
                WindowStore<String, String> seen = context().getStateStore("seen-flights");
                String flight = r.key() + "/" + field(r.value(), 0);
                try (WindowStoreIterator<String> before = seen.fetch(flight, r.timestamp() - 600_000, r.timestamp())) {
                    if (!before.hasNext()) context().forward(r);
                }
                seen.put(flight, "yes", r.timestamp());
            }
        }

        static KStream<String, String> pings(StreamsBuilder b, String p) {
            KStream<String, String> pings = b.<String, String>stream(p + "pings").filter((k, v) -> number(v, 1) > 0);
            publish(pings.groupByKey().reduce((a, v) -> number(v, 1) > number(a, 1) ? v : a), p + "highest");
            return pings;
        }

        static void flights(KStream<String, String> flights, String p) {
            publish(flights.groupByKey().count(kept("flights-of-drone", NUMBER)), p + "drone-flights");
            publishWindows(flights.groupBy((k, v) -> field(v, 0)).windowedBy(minutes(1, 10)).count(), p + "flight-minutes");
        }

        static void before(StreamsBuilder b, String p) {
            b.addStateStore(Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore("seen-flights"), TEXT, TEXT));
            flights(pings(b, p).processValues(() -> new FirstOfFlight(), Named.as("first-of-flight"), "seen-flights"), p);
        }

        static void after(StreamsBuilder b, String p) {
            b.addStateStore(Stores.windowStoreBuilder(Stores.persistentWindowStore("seen-flights", Duration.ofMinutes(20), Duration.ofMinutes(10), false), TEXT, TEXT));
            flights(pings(b, p).processValues(() -> new FirstLately(), Named.as("first-of-flight"), "seen-flights"), p);
        }
    }

    /** quakes: station -> depth,strength; stations: station -> region,state. */
    static final class FilterNotKept {
        static void quakes(StreamsBuilder b, KTable<String, String> active, String p) {
            KStream<String, String> quakes = b.stream(p + "quakes");
            publish(quakes.groupByKey().count(), p + "station-counts");
            KStream<String, String> known = quakes.join(active, (v, station) -> field(station, 0) + "," + v);
            publish(known.groupBy((k, v) -> field(v, 0), Grouped.as("region")).reduce((a, v) -> number(v, 2) > number(a, 2) ? v : a, kept("strongest-of-region", TEXT)), p + "strongest");
            publishWindows(known.groupBy((k, v) -> field(v, 0), Grouped.as("lately")).windowedBy(minutes(1, 10)).count(windowed("quakes-of-region")), p + "region-minutes");
        }

        static void before(StreamsBuilder b, String p) { quakes(b, b.<String, String>table(p + "stations").filter((k, v) -> field(v, 1).equals("active"), kept("active-stations", TEXT)), p); }
        static void after(StreamsBuilder b, String p) { quakes(b, b.<String, String>table(p + "stations").filter((k, v) -> field(v, 1).equals("active")), p); }
    }

    /** sales: shop -> kind,price,currency; rates: currency -> factor. */
    static final class RatesJoined {
        static void sums(KStream<String, String> sales, String p) {
            publish(sales.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("takings-of-shop", NUMBER)), p + "shop-takings");
            publish(sales.groupBy((k, v) -> field(v, 0)).count(), p + "kind-counts");
            publishWindows(sales.groupBy((k, v) -> field(v, 2), Grouped.as("currency")).windowedBy(minutes(1, 10)).count(windowed("sales-of-currency")), p + "currency-minutes");
        }

        static void before(StreamsBuilder b, String p) { sums(b.stream(p + "sales"), p); }

        static void after(StreamsBuilder b, String p) {
            KStream<String, String> sales = b.stream(p + "sales");
            GlobalKTable<String, String> rates = b.globalTable(p + "rates", kept("rates", TEXT));
            sums(sales.leftJoin(rates, (k, v) -> field(v, 2), (v, factor) -> factor == null ? v : field(v, 0) + "," + number(v, 1) * Long.parseLong(factor) + "," + field(v, 2), Named.as("rate-of-sale")), p);
        }
    }

    /** stakes: glacier -> station,metres; glaciers: glacier -> country. */
    static final class StoresWithHeaders {
        static void build(StreamsBuilder b, String p) {
            KTable<String, String> glaciers = b.table(p + "glaciers", kept("glaciers", TEXT));
            KStream<String, String> stakes = b.<String, String>stream(p + "stakes").leftJoin(glaciers, (v, country) -> v + "," + country);
            publish(stakes.groupBy((k, v) -> field(v, 2)).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), unnamed(NUMBER)), p + "country-metres");
            publishWindows(stakes.groupByKey().windowedBy(minutes(1, 10)).count(windowed("stakes-of-glacier")), p + "glacier-minutes");
            publishWindows(stakes.groupBy((k, v) -> field(v, 0), Grouped.as("station")).windowedBy(SessionWindows.ofInactivityGapAndGrace(Duration.ofSeconds(30), Duration.ofSeconds(10))).count(session("visits-of-station")), p + "station-visits");
        }
    }

    /** sightings: whale -> ship,seconds since it was seen. */
    static final class SeenEarlier {
        /** The time of a record less the seconds that its last field says. */
        public static final class SeenAt implements TimestampExtractor {
            public SeenAt() { }
            public long extract(ConsumerRecord<Object, Object> record, long partitionTime) { return record.timestamp() - 1000 * number((String) record.value(), 1); }
        }

        static void build(StreamsBuilder b, String p) {
            KStream<String, String> sightings = b.stream(p + "sightings");
            publish(sightings.groupByKey().reduce((a, v) -> a + "+" + field(v, 0)), p + "whale-ships");
            publishWindows(sightings.groupByKey().windowedBy(minutes(1, 60)).count(windowed("sightings-of-whale")), p + "whale-minutes");
            publishWindows(sightings.groupBy((k, v) -> field(v, 0)).windowedBy(minutes(1, 60)).count(), p + "ship-minutes");
        }
    }
}
