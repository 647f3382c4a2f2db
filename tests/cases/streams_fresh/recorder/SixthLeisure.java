import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.Stores;

/**
 * Applications of mushroom pickers, ballet schools, orchestras, pigeon racers, ice cream vans, saunas, comic shops, racing stables, circuses,
 * escape rooms and orchards, each before and after a pull request.
 */
final class SixthLeisure extends PullParts {
    private SixthLeisure() { }

    /** finds: picker -> kind,forest,grams. */
    static final class KindsSorted {
        static void all(StreamsBuilder b, String p, List<String> kinds) {
            KStream<String, String> finds = b.<String, String>stream(p + "finds").filter((k, v) -> number(v, 2) > 0);
            publish(finds.groupBy((k, v) -> field(v, 1)).count(), p + "forest-counts");
            for (String kind : kinds) {
                KStream<String, String> own = finds.filter((k, v) -> field(v, 0).equals(kind), Named.as(kind));
                publish(own.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 2), unnamed(NUMBER)), p + kind + "-grams");
                publish(own.groupBy((k, v) -> field(v, 1), Grouped.as(kind + "-forest")).reduce((a, v) -> number(v, 2) > number(a, 2) ? v : a, kept("largest-" + kind, TEXT)), p + kind + "-largest");
            }
        }

        static void before(StreamsBuilder b, String p) { all(b, p, List.of("porcini", "morel", "chanterelle")); }
        static void after(StreamsBuilder b, String p) { all(b, p, List.of("chanterelle", "morel", "porcini")); }
    }

    /** dancers: dancer -> city,course,hours. */
    static final class ValuesForTransform {
        static String course(String dancer, String row) { return row == null ? null : field(row, 1) + "," + field(row, 2); }

        static KTable<String, String> dancers(StreamsBuilder b, String p) {
            KTable<String, String> dancers = b.table(p + "dancers", kept("dancers", TEXT));
            publish(dancers.groupBy((k, v) -> KeyValue.pair(field(v, 0), k)).count(), p + "city-counts");
            return dancers;
        }

        static void courses(KTable<String, String> courses, String p) {
            publish(courses, p + "courses");
            publish(courses.groupBy((k, v) -> KeyValue.pair(field(v, 0), v), Grouped.as("course")).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), (k, v, a) -> a - number(v, 1), kept("hours-of-course", NUMBER)), p + "course-hours");
            publishWindows(courses.toStream().filter((k, v) -> v != null).groupBy((k, v) -> field(v, 0)).windowedBy(minutes(1, 10)).count(), p + "course-minutes");
        }

        static void before(StreamsBuilder b, String p) {
            courses(dancers(b, p).transformValues(() -> new ValueTransformerWithKey<String, String, String>() {
                public void init(org.apache.kafka.streams.processor.ProcessorContext context) { }
                public String transform(String dancer, String row) { return course(dancer, row); }
                public void close() { }
            }), p);
        }

        static void after(StreamsBuilder b, String p) { courses(dancers(b, p).mapValues(ValuesForTransform::course), p); }
    }

    /** rehearsals: rehearsal -> hall,other hall,minutes; halls: hall -> city. */
    static final class OtherHall {
        static void all(StreamsBuilder b, String p, int hall) {
            KTable<String, String> rehearsals = b.table(p + "rehearsals", kept("rehearsals", TEXT)), halls = b.table(p + "halls", kept("halls", TEXT));
            publish(rehearsals.toStream().filter((k, v) -> v != null).groupByKey().count(), p + "rehearsal-counts");
            KTable<String, String> placed = rehearsals.join(halls, v -> field(v, hall), (v, city) -> city + "," + v, TableJoined.as("hall-of-rehearsal"), kept("placed-rehearsals", TEXT));
            publish(placed, p + "placed");
            publish(placed.groupBy((k, v) -> KeyValue.pair(field(v, 0), v), Grouped.as("city")).aggregate(() -> 0L, (k, v, a) -> a + number(v, 3), (k, v, a) -> a - number(v, 3), kept("minutes-of-city", NUMBER)), p + "city-minutes");
        }

        static void before(StreamsBuilder b, String p) { all(b, p, 0); }
        static void after(StreamsBuilder b, String p) { all(b, p, 1); }
    }

    /** flights: pigeon -> owner,race,speed. */
    static final class TopFive {
        /** The fastest of a race as `pigeon:speed|...`, the best first. */
        static String fastest(String known, String pigeon, String flight, int places) {
            List<String> all = new ArrayList<>();
            if (!known.isEmpty()) all.addAll(Arrays.asList(known.split("\\|")));
            all.add(pigeon + ":" + field(flight, 2));
            all.sort(Comparator.comparing((String one) -> -Long.parseLong(one.split(":")[1])));
            return String.join("|", all.subList(0, Math.min(places, all.size())));
        }

        static void all(StreamsBuilder b, String p, int places) {
            KStream<String, String> flights = b.<String, String>stream(p + "flights").filter((k, v) -> number(v, 2) > 0);
            publish(flights.groupBy((k, v) -> field(v, 0)).count(), p + "owner-counts");
            publish(flights.map((k, v) -> KeyValue.pair(field(v, 1), k + "," + field(v, 0) + "," + field(v, 2))).groupByKey(Grouped.as("race"))
                .aggregate(() -> "", (k, v, a) -> fastest(a, field(v, 0), v, places), kept("fastest-of-race", TEXT)), p + "fastest");
            publishWindows(flights.groupBy((k, v) -> field(v, 1)).windowedBy(minutes(1, 10)).count(), p + "race-minutes");
        }

        static void before(StreamsBuilder b, String p) { all(b, p, 3); }
        static void after(StreamsBuilder b, String p) { all(b, p, 5); }
    }

    /** sales: van -> flavour,cents. */
    static final class FieldWithDefault {
        static KGroupedStream<String, String> vans(StreamsBuilder b, String p) {
            KStream<String, String> sales = b.<String, String>stream(p + "sales").filter((k, v) -> number(v, 1) > 0);
            publish(sales.groupBy((k, v) -> field(v, 0)).count(), p + "flavour-counts");
            publishWindows(sales.groupBy((k, v) -> field(v, 0), Grouped.as("flavour")).windowedBy(minutes(1, 10)).count(windowed("sales-of-flavour")), p + "flavour-minutes");
            return sales.groupByKey();
        }

        /** What a field that is not there counts as: 0. */
        static long numberOr0(String value, int i) { return value.split(",").length > i ? number(value, i) : 0; }

        static void before(StreamsBuilder b, String p) {
            publish(vans(b, p).aggregate(() -> "0,0", (k, v, a) -> (number(a, 0) + 1) + "," + (number(a, 1) + number(v, 1)), kept("takings-of-van", TEXT)), p + "takings");
        }

        static void after(StreamsBuilder b, String p) {
            publish(vans(b, p).aggregate(() -> "0,0,0", (k, v, a) -> (number(a, 0) + 1) + "," + (number(a, 1) + number(v, 1)) + "," + Math.max(numberOr0(a, 2), number(v, 1)), kept("takings-of-van", TEXT)), p + "takings");
        }
    }

    /** visits: guest -> cabin,minutes. */
    static final class FieldRenamed {
        /** What is known of a cabin. */
        record Totals(long visits, long minutes) {
            Totals plus(String visit) { return new Totals(visits + 1, minutes + number(visit, 1)); }
            @Override public String toString() { return visits + "," + minutes; }
        }

        /** As `{"visits":3,"minutes":40}`; what has another name is left out, and what is not there is 0. */
        static Serde<Totals> json(String minutes) {
            return Serdes.serdeFrom((topic, t) -> t == null ? null : ("{\"visits\":" + t.visits() + ",\"" + minutes + "\":" + t.minutes() + "}").getBytes(StandardCharsets.UTF_8),
                (topic, data) -> {
                    if (data == null) return null;
                    TreeMap<String, Long> fields = new TreeMap<>();
                    for (String one : new String(data, StandardCharsets.UTF_8).replaceAll("[{}\"]", "").split(",")) fields.put(one.split(":")[0], Long.parseLong(one.split(":")[1]));
                    return new Totals(fields.getOrDefault("visits", 0L), fields.getOrDefault(minutes, 0L));
                });
        }

        static void all(StreamsBuilder b, String p, String minutes) {
            KStream<String, String> visits = b.<String, String>stream(p + "visits").filter((k, v) -> number(v, 1) > 0);
            publish(visits.groupByKey().count(), p + "guest-counts");
            publish(visits.groupBy((k, v) -> field(v, 0), Grouped.as("cabin")).aggregate(() -> new Totals(0, 0), (k, v, a) -> a.plus(v), kept("totals-of-cabin", json(minutes))), p + "cabin-totals");
            publishWindows(visits.groupBy((k, v) -> field(v, 0)).windowedBy(minutes(1, 10)).count(), p + "cabin-minutes");
        }

        static void before(StreamsBuilder b, String p) { all(b, p, "minutes"); }
        static void after(StreamsBuilder b, String p) { all(b, p, "duration"); }
    }

    /** stock: comic -> copies,publisher; wishes: comic -> readers. */
    static final class OuterJoin {
        static void comics(KTable<String, String> balance, KTable<String, String> stock, String p) {
            publish(balance, p + "balances");
            publishWindows(balance.toStream().filter((k, v) -> v != null).groupByKey(Grouped.as("lately")).windowedBy(minutes(1, 10)).count(windowed("changes-of-comic")), p + "comic-minutes");
            publish(stock.groupBy((k, v) -> KeyValue.pair(field(v, 1), k)).count(), p + "publisher-counts");
        }

        static void before(StreamsBuilder b, String p) {
            KTable<String, String> stock = b.table(p + "stock", kept("stock", TEXT)), wishes = b.table(p + "wishes", kept("wishes", TEXT));
            comics(stock.join(wishes, PullParts::pair, Named.as("balance"), kept("balance-of-comic", TEXT)), stock, p);
        }

        static void after(StreamsBuilder b, String p) {
            KTable<String, String> stock = b.table(p + "stock", kept("stock", TEXT)), wishes = b.table(p + "wishes", kept("wishes", TEXT));
            comics(stock.outerJoin(wishes, PullParts::pair, Named.as("balance"), kept("balance-of-comic", TEXT)), stock, p);
        }
    }

    /** laps: horse -> track,metres. */
    static final class PutOutByPunctuator {
        /** Adds the metres of a horse and passes each sum on. */
        static final class AtOnce extends ContextualProcessor<String, String, String, String> {
            public void process(Record<String, String> r) {
                KeyValueStore<String, Long> metres = context().getStateStore("metres-of-horse");
                Long known = metres.get(r.key());
                metres.put(r.key(), (known == null ? 0 : known) + number(r.value(), 1));
                context().forward(r.withValue(field(r.value(), 0) + "," + metres.get(r.key())));
            }
        }

        /** Adds the metres of a horse and passes what has changed on every ten seconds. */
        static final class EveryTenSeconds extends ContextualProcessor<String, String, String, String> {
            @Override public void init(ProcessorContext<String, String> context) {
                super.init(context);
                context.schedule(Duration.ofSeconds(10), PunctuationType.STREAM_TIME, this::putOut);
            }

            public void process(Record<String, String> r) {
                KeyValueStore<String, Long> metres = context().getStateStore("metres-of-horse");
                Long known = metres.get(r.key());
                metres.put(r.key(), (known == null ? 0 : known) + number(r.value(), 1));
                context().<KeyValueStore<String, String>>getStateStore("track-of-changed-horse").put(r.key(), field(r.value(), 0));
            }

            void putOut(long time) {
                KeyValueStore<String, Long> metres = context().getStateStore("metres-of-horse");
                KeyValueStore<String, String> changed = context().getStateStore("track-of-changed-horse");
                List<KeyValue<String, String>> all = new ArrayList<>();
                try (KeyValueIterator<String, String> rows = changed.all()) { rows.forEachRemaining(all::add); }
                for (KeyValue<String, String> one : all) {
                    context().forward(new Record<>(one.key, one.value + "," + metres.get(one.key), time));
                    changed.delete(one.key);
                }
            }
        }

        static KStream<String, String> laps(StreamsBuilder b, String p) {
            b.addStateStore(Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore("metres-of-horse"), TEXT, NUMBER));
            KStream<String, String> laps = b.<String, String>stream(p + "laps").filter((k, v) -> number(v, 1) > 0);
            publish(laps.groupBy((k, v) -> field(v, 0)).count(), p + "track-counts");
            return laps;
        }

        static void horses(KStream<String, String> sums, String p) {
            publish(sums, p + "horse-metres");
            publish(sums.groupBy((k, v) -> field(v, 0)).reduce((a, v) -> number(v, 1) > number(a, 1) ? v : a), p + "farthest");
        }

        static void before(StreamsBuilder b, String p) { horses(laps(b, p).process(() -> new AtOnce(), Named.as("metres"), "metres-of-horse"), p); }

        static void after(StreamsBuilder b, String p) {
            b.addStateStore(Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore("track-of-changed-horse"), TEXT, TEXT));
            horses(laps(b, p).process(() -> new EveryTenSeconds(), Named.as("metres"), "metres-of-horse", "track-of-changed-horse"), p);
        }
    }

    /** tickets: visitor -> show,seats. */
    static final class BufferUnbounded {
        static void all(StreamsBuilder b, String p, Suppressed.BufferConfig<?> buffer) {
            KStream<String, String> tickets = b.<String, String>stream(p + "tickets").filter((k, v) -> number(v, 1) > 0);
            publish(tickets.groupByKey().count(), p + "visitor-counts");
            KTable<String, Long> seats = tickets.groupBy((k, v) -> field(v, 0), Grouped.as("show")).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("seats-of-show", NUMBER));
            KTable<String, Long> calm = seats.suppress(Suppressed.untilTimeLimit(Duration.ofSeconds(30), buffer).withName("calm"));
            publish(calm, p + "show-seats");
            publish(calm.groupBy((k, n) -> KeyValue.pair(n >= 10 ? "full" : "empty", k)).count(), p + "house-counts");
        }

        static void before(StreamsBuilder b, String p) { all(b, p, Suppressed.BufferConfig.maxRecords(3).emitEarlyWhenFull()); }
        static void after(StreamsBuilder b, String p) { all(b, p, Suppressed.BufferConfig.unbounded()); }
    }

    /** games: team -> room,minutes; hints: team -> riddle; photos: team -> file. */
    static final class PhotosToo {
        static String both(String team, String one, String two) { return one + two; }

        static void all(StreamsBuilder b, String p, boolean photos) {
            KStream<String, String> games = b.<String, String>stream(p + "games"), hints = b.stream(p + "hints");
            publish(games.groupBy((k, v) -> field(v, 0)).count(), p + "room-counts");
            CogroupedKStream<String, String> visits = games.groupByKey().<String>cogroup((k, v, a) -> a + "/" + field(v, 0)).cogroup(hints.groupByKey(), (k, v, a) -> a + "?" + v);
            if (photos) visits = visits.cogroup(b.<String, String>stream(p + "photos").groupByKey(), (k, v, a) -> a + "!" + v);
            publishWindows(visits.windowedBy(SessionWindows.ofInactivityGapAndGrace(Duration.ofSeconds(30), Duration.ofSeconds(10)))
                .aggregate(() -> "", PhotosToo::both, Materialized.<String, String, SessionStore<Bytes, byte[]>>as("visits-of-team").withKeySerde(TEXT).withValueSerde(TEXT)), p + "visits");
            publish(hints.groupBy((k, v) -> v, Grouped.as("riddle")).count(kept("hints-of-riddle", NUMBER)), p + "riddle-counts");
        }

        static void before(StreamsBuilder b, String p) { all(b, p, false); }
        static void after(StreamsBuilder b, String p) { all(b, p, true); }
    }

    /** pickings: picker -> tree,kilos; sorts: tree -> sort; plots: tree -> plot. */
    static final class JoinsSwapped {
        /** The value with another field there. */
        static String with(String value, int i, String field) {
            String[] fields = value.split(",");
            fields[i] = field;
            return String.join(",", fields);
        }

        static KStream<String, String> trees(StreamsBuilder b, String p) {
            KStream<String, String> pickings = b.<String, String>stream(p + "pickings").filter((k, v) -> number(v, 1) > 0);
            publish(pickings.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), unnamed(NUMBER)), p + "picker-kilos");
            return pickings.map((k, v) -> KeyValue.pair(field(v, 0), "-,-," + field(v, 1)));
        }

        static KStream<String, String> sorts(KStream<String, String> trees, KTable<String, String> sorts) { return trees.leftJoin(sorts, (v, sort) -> with(v, 0, "" + sort)); }
        static KStream<String, String> plots(KStream<String, String> trees, KTable<String, String> plots) { return trees.leftJoin(plots, (v, plot) -> with(v, 1, "" + plot)); }

        static void known(KStream<String, String> known, String p) {
            publish(known.groupBy((k, v) -> field(v, 0)).aggregate(() -> 0L, (k, v, a) -> a + number(v, 2), unnamed(NUMBER)), p + "sort-kilos");
            publishWindows(known.groupBy((k, v) -> field(v, 1), Grouped.as("plot")).windowedBy(minutes(1, 10)).count(windowed("pickings-of-plot")), p + "plot-minutes");
        }

        static void before(StreamsBuilder b, String p) {
            KTable<String, String> sorts = b.table(p + "sorts"), plots = b.table(p + "plots");
            known(plots(sorts(trees(b, p), sorts), plots), p);
        }

        static void after(StreamsBuilder b, String p) {
            KTable<String, String> sorts = b.table(p + "sorts"), plots = b.table(p + "plots");
            known(sorts(plots(trees(b, p), plots), sorts), p);
        }
    }
}
