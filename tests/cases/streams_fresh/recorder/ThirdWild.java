import java.time.Duration;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.WindowStore;
import org.apache.kafka.streams.state.WindowStoreIterator;

/** Applications of observatories, satellites, harbours, forests, fisheries, railways and zoos, each before and after a pull request. */
final class ThirdWild extends PullParts {
    private ThirdWild() { }

    /** sightings: telescope -> star,magnitude; stars: star -> constellation. */
    static final class StepsNamed {
        static void before(StreamsBuilder b, String p) {
            KTable<String, String> stars = b.table(p + "stars");
            KStream<String, String> sightings = b.<String, String>stream(p + "sightings").filter((k, v) -> v.contains(",")).mapValues(v -> v.toLowerCase());
            publish(sightings.groupByKey().count(), p + "telescope-counts");
            KStream<String, String> placed = sightings.selectKey((k, v) -> field(v, 0)).leftJoin(stars, (v, constellation) -> constellation + "," + v);
            publish(placed.groupByKey().reduce((a, v) -> number(v, 2) > number(a, 2) ? v : a), p + "brightest");
            publish(placed.groupBy((k, v) -> field(v, 0)).count(), p + "constellation-counts");
        }

        static void after(StreamsBuilder b, String p) {
            KTable<String, String> stars = b.table(p + "stars", Consumed.as("stars-input"));
            KStream<String, String> sightings = b.<String, String>stream(p + "sightings", Consumed.as("sightings-input"))
                .filter((k, v) -> v.contains(","), Named.as("complete")).mapValues(v -> v.toLowerCase(), Named.as("lower-case"));
            publish(sightings.groupByKey().count(Named.as("count-of-telescope")), p + "telescope-counts");
            KStream<String, String> placed = sightings.selectKey((k, v) -> field(v, 0), Named.as("by-star"))
                .leftJoin(stars, (v, constellation) -> constellation + "," + v, Joined.as("constellation-of-star"));
            publish(placed.groupByKey().reduce((a, v) -> number(v, 2) > number(a, 2) ? v : a, Named.as("brightest-of-star"), unnamed(TEXT)), p + "brightest");
            publish(placed.groupBy((k, v) -> field(v, 0)).count(Named.as("count-of-constellation")), p + "constellation-counts");
        }
    }

    /** commands: command -> satellite,kind; answers: command -> result. */
    static final class AnsweredOnly {
        static final JoinWindows NEAR = JoinWindows.ofTimeDifferenceAndGrace(Duration.ofSeconds(40), Duration.ofSeconds(10));
        static final StreamJoined<String, String, String> NAMED = StreamJoined.with(TEXT, TEXT, TEXT).withName("answer").withStoreName("answer");

        static void satellites(KStream<String, String> both, KStream<String, String> commands, String p) {
            publish(both, p + "answered");
            publish(both.groupBy((k, v) -> field(v, 0), Grouped.as("satellite")).count(kept("answers-of-satellite", NUMBER)), p + "satellite-answers");
            publish(commands.groupBy((k, v) -> field(v, 1), Grouped.as("kind")).count(kept("commands-of-kind", NUMBER)), p + "kind-counts");
        }

        static void before(StreamsBuilder b, String p) {
            KStream<String, String> commands = b.stream(p + "commands"), answers = b.stream(p + "answers");
            satellites(commands.leftJoin(answers, PullParts::pair, NEAR, NAMED), commands, p);
        }

        static void after(StreamsBuilder b, String p) {
            KStream<String, String> commands = b.stream(p + "commands"), answers = b.stream(p + "answers");
            satellites(commands.join(answers, PullParts::pair, NEAR, NAMED), commands, p);
        }
    }

    /** arrivals: ship -> berth,tons. */
    static final class BerthsSuppressed {
        static KTable<String, Long> berths(StreamsBuilder b, String p) {
            KStream<String, String> arrivals = b.<String, String>stream(p + "arrivals").filter((k, v) -> number(v, 1) > 0);
            publish(arrivals.groupByKey().count(), p + "ship-counts");
            return arrivals.groupBy((k, v) -> field(v, 0), Grouped.as("berth")).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("tons-of-berth", NUMBER));
        }

        static void sizes(KTable<String, Long> berths, String p) {
            publish(berths, p + "berth-tons");
            publish(berths.groupBy((k, v) -> KeyValue.pair(v >= 100 ? "busy" : v > 0 ? "calm" : "empty", v), Grouped.with("size", TEXT, NUMBER)).count(kept("berths-of-size", NUMBER)), p + "sizes");
        }

        static void before(StreamsBuilder b, String p) { sizes(berths(b, p), p); }

        static void after(StreamsBuilder b, String p) {
            sizes(berths(b, p).suppress(Suppressed.<String>untilTimeLimit(Duration.ofSeconds(15), Suppressed.BufferConfig.unbounded()).withName("calmer")), p);
        }
    }

    /** alarms: sensor -> alarm,area. */
    static final class KnownForMinutes {
        /** Passes a record on if its first field was not seen with its key in the last five minutes. */
        static final class NotLately extends ContextualProcessor<String, String, String, String> {
            public void process(Record<String, String> r) {
                WindowStore<String, String> seen = context().getStateStore("known-alarms");
                String id = r.key() + "/" + field(r.value(), 0);
                boolean known;
                try (WindowStoreIterator<String> rows = seen.fetch(id, r.timestamp() - 300_000, r.timestamp())) {
                    known = rows.hasNext();
                }
                seen.put(id, "yes", r.timestamp());
                if (!known) context().forward(r);
            }
        }

        static void areas(KStream<String, String> alarms, String p) {
            publish(alarms.groupByKey().count(), p + "sensor-counts");
            publish(alarms.groupBy((k, v) -> field(v, 1), Grouped.as("area")).count(kept("alarms-of-area", NUMBER)), p + "area-counts");
            publishWindows(alarms.groupBy((k, v) -> field(v, 1)).windowedBy(minutes(1, 10)).count(), p + "area-minutes");
        }

        static void before(StreamsBuilder b, String p) {
            b.addStateStore(Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore("known-alarms"), TEXT, TEXT));
            areas(b.<String, String>stream(p + "alarms").process(() -> new FirstOnly("known-alarms"), Named.as("once"), "known-alarms"), p);
        }

        static void after(StreamsBuilder b, String p) {
            b.addStateStore(Stores.windowStoreBuilder(Stores.persistentWindowStore("known-alarms", MINUTE.multipliedBy(10), MINUTE.multipliedBy(5), false), TEXT, TEXT));
            areas(b.<String, String>stream(p + "alarms").process(NotLately::new, Named.as("once"), "known-alarms"), p);
        }
    }

    /** catches: boat -> fish,kilos; quotas: fish -> kilos. */
    static final class QuotasKept {
        static KStream<String, String> catches(StreamsBuilder b, String p) {
            KStream<String, String> catches = b.<String, String>stream(p + "catches").filter((k, v) -> number(v, 1) > 0);
            publish(catches.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), unnamed(NUMBER)), p + "boat-kilos");
            return catches;
        }

        static void fish(KStream<String, String> catches, GlobalKTable<String, String> quotas, String p) {
            KStream<String, String> limited = catches.leftJoin(quotas, (k, v) -> field(v, 0), (v, quota) -> v + "," + quota);
            publish(limited, p + "catches-with-quota");
            publish(limited.groupBy((k, v) -> field(v, 0)).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("kilos-of-fish", NUMBER)), p + "fish-kilos");
            publishWindows(limited.groupBy((k, v) -> field(v, 0), Grouped.as("fish")).windowedBy(minutes(1, 10)).count(windowed("catches-of-fish")), p + "fish-minutes");
        }

        static void before(StreamsBuilder b, String p) { fish(catches(b, p), b.globalTable(p + "quotas"), p); }
        static void after(StreamsBuilder b, String p) { fish(catches(b, p), b.globalTable(p + "quotas", kept("quotas", TEXT)), p); }
    }

    /** trains: train -> line,minutes; lines: line -> region. */
    static final class LinesUnknownToo {
        static void regions(KTable<String, String> placed, KTable<String, String> trains, String p) {
            publish(placed, p + "placed");
            publish(placed.groupBy((k, v) -> KeyValue.pair(field(v, 0), k), Grouped.as("region")).count(kept("trains-of-region", NUMBER)), p + "region-counts");
            publish(trains.groupBy((k, v) -> KeyValue.pair(number(v, 1) > 5 ? "late" : "on-time", k)).count(), p + "delays");
        }

        static void before(StreamsBuilder b, String p) {
            KTable<String, String> trains = b.table(p + "trains", kept("trains", TEXT)), lines = b.table(p + "lines", kept("lines", TEXT));
            regions(trains.join(lines, v -> field(v, 0), (v, region) -> region + "," + v, TableJoined.as("line-of-train"), kept("placed-trains", TEXT)), trains, p);
        }

        static void after(StreamsBuilder b, String p) {
            KTable<String, String> trains = b.table(p + "trains", kept("trains", TEXT)), lines = b.table(p + "lines", kept("lines", TEXT));
            regions(trains.leftJoin(lines, v -> field(v, 0), (v, region) -> region + "," + v, TableJoined.as("line-of-train"), kept("placed-trains", TEXT)), trains, p);
        }
    }

    /** meals: animal -> keeper,kilos; animals: animal -> house. */
    static final class MoreThreads {
        static void build(StreamsBuilder b, String p) {
            KTable<String, String> animals = b.table(p + "animals");
            KStream<String, String> meals = b.<String, String>stream(p + "meals").join(animals, (v, house) -> house + "," + v);
            publish(meals.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 2), unnamed(NUMBER)), p + "animal-kilos");
            publish(meals.groupBy((k, v) -> field(v, 0)).count(), p + "house-meals");
            publishWindows(meals.groupBy((k, v) -> field(v, 1), Grouped.as("keeper")).windowedBy(minutes(1, 10)).count(windowed("meals-of-keeper")), p + "keeper-minutes");
        }
    }
}
