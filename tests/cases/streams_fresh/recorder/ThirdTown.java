import java.time.Duration;
import java.util.Map;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.processor.api.ContextualFixedKeyProcessor;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.FixedKeyRecord;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.TimestampedKeyValueStore;
import org.apache.kafka.streams.state.ValueAndTimestamp;

/** Applications of restaurants, car parks, courts, museums, fire brigades, elections, theatres, taxes and gyms, each before and after a pull request. */
final class ThirdTown extends PullParts {
    private ThirdTown() { }

    /** orders: order -> table,dish,cents; dishes: dish -> course. */
    static final class KitchenMethods {
        static void before(StreamsBuilder b, String p) {
            KTable<String, String> dishes = b.table(p + "dishes");
            KStream<String, String> orders = b.<String, String>stream(p + "orders").filter((k, v) -> v.split(",").length == 3);
            publish(orders.groupBy((k, v) -> field(v, 0)).aggregate(() -> 0L, (k, v, a) -> a + number(v, 2), kept("cents-of-table", NUMBER)), p + "bills");
            KStream<String, String> served = orders.selectKey((k, v) -> field(v, 1)).leftJoin(dishes, (v, course) -> course + "," + field(v, 2), Joined.as("dish"));
            publishWindows(served.groupBy((k, v) -> field(v, 0)).windowedBy(minutes(1, 10)).count(windowed("dishes-of-course")), p + "course-minutes");
        }

        static boolean complete(String order, String value) { return value.split(",").length == 3; }
        static String first(String key, String value) { return field(value, 0); }
        static String dish(String order, String value) { return field(value, 1); }
        static Long added(String table, String order, Long cents) { return cents + number(order, 2); }
        static String withCourse(String order, String course) { return course + "," + field(order, 2); }

        static void bills(KStream<String, String> orders, String p) {
            publish(orders.groupBy(KitchenMethods::first).aggregate(() -> 0L, KitchenMethods::added, kept("cents-of-table", NUMBER)), p + "bills");
        }

        static void courses(StreamsBuilder b, KStream<String, String> orders, String p) {
            KTable<String, String> dishes = b.table(p + "dishes");
            KStream<String, String> served = orders.selectKey(KitchenMethods::dish).leftJoin(dishes, KitchenMethods::withCourse, Joined.as("dish"));
            publishWindows(served.groupBy(KitchenMethods::first).windowedBy(minutes(1, 10)).count(windowed("dishes-of-course")), p + "course-minutes");
        }

        static void after(StreamsBuilder b, String p) {
            KStream<String, String> orders = b.<String, String>stream(p + "orders").filter(KitchenMethods::complete);
            bills(orders, p);
            courses(b, orders, p);
        }
    }

    /** entries: car -> garage,hours; garages: garage -> district. */
    static final class EntriesMappedOnce {
        static void garages(KStream<String, String> entries, KTable<String, String> garages, String p) {
            KTable<String, Long> sums = entries.groupBy((k, v) -> field(v, 0), Grouped.as("garage")).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("minutes-of-garage", NUMBER));
            publish(sums, p + "garage-minutes");
            publish(sums.toStream().leftJoin(garages, (sum, district) -> district + "," + sum).groupBy((k, v) -> field(v, 0), Grouped.as("district"))
                .reduce((a, v) -> number(v, 1) > number(a, 1) ? v : a, kept("fullest", TEXT)), p + "fullest");
        }

        static String minutes(String entry) { return field(entry, 0) + "," + 60 * number(entry, 1); }

        static void before(StreamsBuilder b, String p) {
            KTable<String, String> garages = b.table(p + "garages");
            KStream<String, String> entries = b.stream(p + "entries");
            publish(entries.groupByKey().count(), p + "car-counts");
            garages(entries.mapValues(v -> v.toLowerCase()).mapValues(EntriesMappedOnce::minutes), garages, p);
        }

        static void after(StreamsBuilder b, String p) {
            KTable<String, String> garages = b.table(p + "garages");
            KStream<String, String> entries = b.stream(p + "entries");
            publish(entries.groupByKey().count(), p + "car-counts");
            garages(entries.mapValues(v -> minutes(v.toLowerCase())), garages, p);
        }
    }

    /** hearings: file -> court,judge. */
    static final class HearingsByProcessor {
        /** Appends the judge to what it knows of the file. */
        static final class Append extends ContextualProcessor<String, String, String, String> {
            public void process(Record<String, String> r) {
                TimestampedKeyValueStore<String, String> store = context().getStateStore("judges-of-file");
                ValueAndTimestamp<String> old = store.get(r.key());
                String judges = (old == null ? "" : old.value()) + "+" + field(r.value(), 1);
                store.put(r.key(), ValueAndTimestamp.make(judges, r.timestamp()));
                context().forward(r.withValue(judges));
            }
        }

        static KStream<String, String> counted(StreamsBuilder b, String p) {
            KStream<String, String> hearings = b.<String, String>stream(p + "hearings").filter((k, v) -> v.contains(","));
            publish(hearings.groupBy((k, v) -> field(v, 0)).count(), p + "court-counts");
            publishWindows(hearings.groupBy((k, v) -> field(v, 1), Grouped.as("judge")).windowedBy(minutes(1, 10)).count(), p + "judge-minutes");
            return hearings;
        }

        static void before(StreamsBuilder b, String p) {
            publish(counted(b, p).groupByKey().aggregate(() -> "", (k, v, a) -> a + "+" + field(v, 1), kept("judges-of-file", TEXT)), p + "judges");
        }

        static void after(StreamsBuilder b, String p) {
            b.addStateStore(Stores.timestampedKeyValueStoreBuilder(Stores.persistentTimestampedKeyValueStore("judges-of-file"), TEXT, TEXT));
            publish(counted(b, p).process(Append::new, "judges-of-file"), p + "judges");
        }
    }

    /** visits: ticket -> room,minutes; rooms: room -> floor. */
    static final class VisitsByProcessor {
        /** Adds the minutes to those of the room. */
        static final class Add extends ContextualFixedKeyProcessor<String, String, Long> {
            public void process(FixedKeyRecord<String, String> r) {
                KeyValueStore<String, Long> store = context().getStateStore("minutes-of-room");
                Long old = store.get(r.key());
                store.put(r.key(), (old == null ? 0 : old) + number(r.value(), 1));
                context().forward(r.withValue(store.get(r.key())));
            }
        }

        static void floors(KStream<String, Long> sums, StreamsBuilder b, String p) {
            publish(sums, p + "room-minutes");
            publish(sums.leftJoin(b.table(p + "rooms", kept("rooms", TEXT)), (sum, floor) -> floor + "," + sum).groupBy((k, v) -> field(v, 0), Grouped.as("floor"))
                .count(kept("changes-of-floor", NUMBER)), p + "floor-changes");
        }

        static void before(StreamsBuilder b, String p) {
            floors(b.<String, String>stream(p + "visits").groupBy((k, v) -> field(v, 0), Grouped.as("room"))
                .aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("minutes-of-room", NUMBER)).toStream(), b, p);
        }

        static void after(StreamsBuilder b, String p) {
            b.addStateStore(Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore("minutes-of-room"), TEXT, NUMBER));
            floors(b.<String, String>stream(p + "visits").selectKey((k, v) -> field(v, 0)).repartition(Repartitioned.as("room")).processValues(Add::new, "minutes-of-room"), b, p);
        }
    }

    /** alarms: alarm -> district,kind; engines: engine -> station; trips: engine -> alarm; drills: brigade -> kind. */
    static final class PartsInOtherOrder {
        static void alarms(StreamsBuilder b, String p) {
            publish(b.<String, String>stream(p + "alarms").groupBy((k, v) -> field(v, 0)).count(kept("alarms-of-district", NUMBER)), p + "district-alarms");
        }

        static void trips(StreamsBuilder b, String p) {
            KTable<String, String> engines = b.table(p + "engines", kept("engines", TEXT));
            publish(b.<String, String>stream(p + "trips").leftJoin(engines, (alarm, station) -> station + "," + alarm)
                .groupBy((k, v) -> field(v, 0)).reduce((a, v) -> a + "+" + field(v, 1), kept("trips-of-station", TEXT)), p + "station-trips");
        }

        static void drills(StreamsBuilder b, String p) {
            publishWindows(b.<String, String>stream(p + "drills").groupByKey().windowedBy(minutes(1, 10)).count(windowed("drills-of-brigade")), p + "drill-minutes");
        }

        static void before(StreamsBuilder b, String p) {
            alarms(b, p);
            trips(b, p);
            drills(b, p);
        }

        static void after(StreamsBuilder b, String p) {
            drills(b, p);
            trips(b, p);
            alarms(b, p);
        }
    }

    /** votes: voter -> district,party,kind. */
    static final class SplitByKind {
        static void mail(KStream<String, String> votes, String p) {
            publish(votes.groupBy((k, v) -> field(v, 1), Grouped.as("mail")).count(kept("mail-of-party", NUMBER)), p + "mail-counts");
        }

        static void booth(KStream<String, String> votes, String p) {
            publish(votes.groupByKey().aggregate(() -> "", (k, v, a) -> a + "+" + field(v, 0), kept("booths-of-voter", TEXT)), p + "voters");
            publishWindows(votes.groupBy((k, v) -> field(v, 1), Grouped.as("booth")).windowedBy(minutes(1, 10)).count(windowed("booth-of-party")), p + "booth-minutes");
        }

        static KStream<String, String> turnout(StreamsBuilder b, String p) {
            KStream<String, String> votes = b.<String, String>stream(p + "votes").filterNot((k, v) -> v.endsWith("void"));
            publish(votes.groupBy((k, v) -> field(v, 0)).count(), p + "turnout");
            return votes;
        }

        static void before(StreamsBuilder b, String p) {
            KStream<String, String> votes = turnout(b, p);
            mail(votes.filter((k, v) -> v.endsWith("mail")), p);
            booth(votes.filter((k, v) -> v.endsWith("booth")), p);
        }

        static void after(StreamsBuilder b, String p) {
            Map<String, KStream<String, String>> kinds = turnout(b, p).split(Named.as("kind-")).branch((k, v) -> v.endsWith("mail"), Branched.as("mail"))
                .branch((k, v) -> v.endsWith("booth"), Branched.as("booth")).noDefaultBranch();
            mail(kinds.get("kind-mail"), p);
            booth(kinds.get("kind-booth"), p);
        }
    }

    /** seats: visitor -> hall,cents; snacks: visitor -> snack,cents. */
    static final class EveningsForMinutes {
        static CogroupedKStream<String, Long> spent(KStream<String, String> seats, KStream<String, String> snacks) {
            return seats.groupByKey().<Long>cogroup((k, v, a) -> a + number(v, 1)).cogroup(snacks.groupByKey(), (k, v, a) -> a + number(v, 1));
        }

        static void halls(KStream<String, String> seats, KStream<String, String> snacks, String p) {
            publish(seats.groupBy((k, v) -> field(v, 0)).count(), p + "hall-counts");
            publish(snacks.groupBy((k, v) -> field(v, 0), Grouped.as("snack")).count(kept("sales-of-snack", NUMBER)), p + "snack-counts");
        }

        static void before(StreamsBuilder b, String p) {
            KStream<String, String> seats = b.stream(p + "seats"), snacks = b.stream(p + "snacks");
            publishWindows(spent(seats, snacks).windowedBy(minutes(1, 10)).aggregate(() -> 0L, windowed("spent-per-minute")), p + "spent");
            halls(seats, snacks, p);
        }

        static void after(StreamsBuilder b, String p) {
            KStream<String, String> seats = b.stream(p + "seats"), snacks = b.stream(p + "snacks");
            publishWindows(spent(seats, snacks).windowedBy(SessionWindows.ofInactivityGapAndGrace(Duration.ofSeconds(40), Duration.ofSeconds(20)))
                .aggregate(() -> 0L, (k, l, r) -> l + r, session("spent-per-evening")), p + "spent");
            halls(seats, snacks, p);
        }
    }

    /** returns: taxpayer -> district,cents; taxpayers: taxpayer -> group. */
    static final class ReturnsNotOptimised {
        static void build(StreamsBuilder b, String p) {
            KTable<String, String> taxpayers = b.table(p + "taxpayers");
            KStream<String, String> returns = b.<String, String>stream(p + "returns").leftJoin(taxpayers, (v, group) -> v + "," + group);
            publish(returns, p + "returns-with-group");
            KStream<String, String> districts = returns.selectKey((k, v) -> field(v, 0));
            publish(districts.groupByKey().count(kept("returns-of-district", NUMBER)), p + "district-counts");
            publish(districts.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), unnamed(NUMBER)), p + "district-cents");
        }
    }

    /** checkins: member -> place,minutes; members: member -> plan. */
    static final class WiderCheckins {
        static void build(StreamsBuilder b, String p) {
            KTable<String, String> members = b.table(p + "members", kept("members", TEXT));
            KStream<String, String> checkins = b.<String, String>stream(p + "checkins").join(members, (v, plan) -> plan + "," + v);
            publish(checkins.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 2), kept("minutes-of-member", NUMBER)), p + "member-minutes");
            publish(checkins.groupBy((k, v) -> field(v, 0), Grouped.as("plan")).count(kept("checkins-of-plan", NUMBER)), p + "plan-counts");
        }
    }
}
