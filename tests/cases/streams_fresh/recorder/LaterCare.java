import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.WindowStore;

/** Applications of hospitals, schools, libraries and insurers, each before and after a pull request. */
final class LaterCare extends PullParts {
    private LaterCare() { }

    /** Of a windowed operator without a name. */
    static Materialized<String, Long, WindowStore<Bytes, byte[]>> unnamedWindows() {
        return Materialized.<String, Long, WindowStore<Bytes, byte[]>>with(TEXT, NUMBER);
    }

    /** admissions: patient -> ward,age; wards: ward -> floor. */
    static final class MethodsOfWards {
        static void before(StreamsBuilder b, String p) {
            KTable<String, String> wards = b.table(p + "wards");
            KStream<String, String> placed = b.<String, String>stream(p + "admissions").filter((k, v) -> v.contains(",")).selectKey((k, v) -> field(v, 0))
                .join(wards, (v, floor) -> floor + "," + field(v, 1));
            publish(placed.groupByKey().count(), p + "ward-counts");
            publishWindows(placed.groupBy((k, v) -> field(v, 0)).windowedBy(minutes(1, 10)).count(), p + "floor-counts");
        }

        static void logged(String floor, String patients) { System.getLogger("floors").log(System.Logger.Level.DEBUG, floor); }
        static boolean complete(String patient, String admission) { return admission.contains(","); }
        static String first(String key, String value) { return field(value, 0); }
        static String onFloor(String admission, String floor) { return floor + "," + field(admission, 1); }

        static KStream<String, String> placed(StreamsBuilder b, String p, KTable<String, String> wards) {
            return b.<String, String>stream(p + "admissions").filter(MethodsOfWards::complete).selectKey(MethodsOfWards::first).join(wards, MethodsOfWards::onFloor);
        }

        static KTable<Windowed<String>, Long> perFloor(KStream<String, String> placed) {
            return placed.groupBy(MethodsOfWards::first).windowedBy(minutes(1, 10)).count();
        }

        static void after(StreamsBuilder b, String p) {
            KTable<String, String> wards = b.table(p + "wards");
            KStream<String, String> placed = placed(b, p, wards);
            publish(placed.groupByKey().count(), p + "ward-counts");
            perFloor(placed).toStream().map((w, v) -> KeyValue.pair(at(w), "" + v)).peek(MethodsOfWards::logged).to(p + "floor-counts", Produced.with(TEXT, TEXT));
        }
    }

    /** patients: patient -> ward,name; beds: patient -> bed. */
    static final class WaitingToo {
        static void wards(KTable<String, String> placed, KTable<String, String> beds, String p) {
            publish(placed.groupBy((k, v) -> KeyValue.pair(field(v, 0), k)).count(), p + "ward-counts");
            publish(beds.groupBy((k, v) -> KeyValue.pair(v.substring(0, 1), k)).aggregate(() -> "", (k, v, a) -> a + "+" + v, (k, v, a) -> a + "-" + v), p + "floors");
        }

        static void before(StreamsBuilder b, String p) {
            KTable<String, String> patients = b.table(p + "patients");
            KTable<String, String> beds = b.table(p + "beds");
            wards(patients.join(beds, PullParts::pair), beds, p);
        }

        static void after(StreamsBuilder b, String p) {
            KTable<String, String> patients = b.table(p + "patients");
            KTable<String, String> beds = b.table(p + "beds");
            wards(patients.leftJoin(beds, PullParts::pair), beds, p);
        }
    }

    /** vitals: patient -> measurement,pulse; rooms: patient -> room. */
    static final class RepeatedVitals {
        static void rooms(KStream<String, String> vitals, StreamsBuilder b, String p) {
            KTable<String, String> rooms = b.table(p + "rooms");
            KStream<String, String> placed = vitals.leftJoin(rooms, (v, room) -> room + "," + field(v, 1));
            publish(vitals.groupByKey().count(), p + "vital-counts");
            publish(placed.groupBy((k, v) -> field(v, 0)).aggregate(() -> 0L, (k, v, a) -> Math.max(a, number(v, 1)), unnamed(NUMBER)), p + "highest-pulses");
        }

        static void before(StreamsBuilder b, String p) { rooms(b.stream(p + "vitals"), b, p); }

        static void after(StreamsBuilder b, String p) {
            b.addStateStore(Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore("known-measurements"), TEXT, TEXT));
            rooms(b.<String, String>stream(p + "vitals").process(() -> new FirstOnly("known-measurements"), Named.as("drop-repeated"), "known-measurements").mapValues(v -> v), b, p);
        }
    }

    /** shifts: nurse -> ward,hours. */
    static final class NamesDemanded {
        static void build(StreamsBuilder b, String p) {
            KStream<String, String> shifts = b.<String, String>stream(p + "shifts").filter((k, v) -> number(v, 1) > 0);
            publish(shifts.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("hours-of-nurse", NUMBER)), p + "nurse-hours");
            publish(shifts.groupBy((k, v) -> field(v, 0), Grouped.as("ward")).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("hours-of-ward", NUMBER)), p + "ward-hours");
            publishWindows(shifts.groupBy((k, v) -> field(v, 0), Grouped.as("ward-again")).windowedBy(minutes(1, 10)).count(), p + "ward-minutes");
        }
    }

    /** marks: pupil -> class,subject,mark. */
    static final class StepsNamed {
        static void before(StreamsBuilder b, String p) {
            KStream<String, String> marks = b.<String, String>stream(p + "marks").filter((k, v) -> v.split(",").length == 3).mapValues(v -> v.toLowerCase());
            publish(marks.groupBy((k, v) -> field(v, 0)).count(), p + "class-counts");
            publish(marks.filterNot((k, v) -> v.endsWith("0")).selectKey((k, v) -> field(v, 1)).groupByKey().aggregate(() -> 0L, (k, v, a) -> Math.max(a, number(v, 2)), unnamed(NUMBER)), p + "best-marks");
        }

        static void after(StreamsBuilder b, String p) {
            KStream<String, String> marks = b.<String, String>stream(p + "marks", Consumed.as("marks-input"))
                .filter((k, v) -> v.split(",").length == 3, Named.as("complete")).mapValues(v -> v.toLowerCase(), Named.as("lower-case"));
            publish(marks.groupBy((k, v) -> field(v, 0)).count(Named.as("count-of-class")), p + "class-counts");
            publish(marks.filterNot((k, v) -> v.endsWith("0"), Named.as("without-zero")).selectKey((k, v) -> field(v, 1), Named.as("by-subject"))
                .groupByKey().aggregate(() -> 0L, (k, v, a) -> Math.max(a, number(v, 2)), Named.as("best-of-subject"), unnamed(NUMBER)), p + "best-marks");
        }
    }

    /** absences: pupil -> class,reason. */
    static final class ReportsSuppressed {
        static KTable<Windowed<String>, Long> perClass(KStream<String, String> absences) {
            return absences.groupBy((k, v) -> field(v, 0)).windowedBy(minutes(1, 0)).count(unnamedWindows());
        }

        static void reasons(KStream<String, String> absences, String p) {
            publish(absences.groupBy((k, v) -> field(v, 1)).count(), p + "reason-counts");
            publish(absences.groupByKey().reduce((a, v) -> a + "+" + field(v, 1)), p + "reasons");
        }

        static void before(StreamsBuilder b, String p) {
            KStream<String, String> absences = b.stream(p + "absences");
            publishWindows(perClass(absences), p + "class-minutes");
            reasons(absences, p);
        }

        static void after(StreamsBuilder b, String p) {
            KStream<String, String> absences = b.stream(p + "absences");
            publishWindows(perClass(absences).suppress(Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded())), p + "class-minutes");
            reasons(absences, p);
        }
    }

    /** meals: pupil -> dish; classes: pupil -> class. */
    static final class Canteen {
        static void build(StreamsBuilder b, String p) {
            KTable<String, String> classes = b.table(p + "classes");
            KStream<String, String> meals = b.<String, String>stream(p + "meals").join(classes, (dish, name) -> name + "," + dish);
            publish(meals.groupBy((k, v) -> field(v, 0)).count(), p + "class-meals");
            publish(meals.groupBy((k, v) -> field(v, 1)).count(), p + "dish-counts");
        }
    }

    /** loans: loan -> book,member,days. */
    static final class LoansMappedOnce {
        static void loans(KStream<String, String> loans, String p) {
            publish(loans.groupBy((k, v) -> field(v, 1)).count(), p + "member-counts");
            publish(loans.groupBy((k, v) -> field(v, 0)).aggregate(() -> 0L, (k, v, a) -> a + number(v, 2), unnamed(NUMBER)), p + "book-days");
        }

        static void before(StreamsBuilder b, String p) {
            loans(b.<String, String>stream(p + "loans").mapValues(v -> v.toLowerCase()).mapValues(v -> v.replace("?", "0")).filter((k, v) -> number(v, 2) > 0), p);
        }

        static void after(StreamsBuilder b, String p) {
            loans(b.<String, String>stream(p + "loans").mapValues(v -> v.toLowerCase().replace("?", "0")).filter((k, v) -> number(v, 2) > 0), p);
        }
    }

    /** holdings: copy -> book,shelf; books: book -> author,title. */
    static final class TitlesOfCopies {
        static void authors(KTable<String, String> books, String p) {
            publish(books.groupBy((k, v) -> KeyValue.pair(field(v, 0), k)).count(), p + "author-counts");
        }

        static void shelves(KTable<String, String> holdings, String p) {
            publish(holdings.groupBy((k, v) -> KeyValue.pair(field(v, 1), k)).count(), p + "shelf-counts");
        }

        static void before(StreamsBuilder b, String p) {
            KTable<String, String> holdings = b.table(p + "holdings");
            KTable<String, String> books = b.table(p + "books");
            authors(books, p);
            shelves(holdings, p);
        }

        static void after(StreamsBuilder b, String p) {
            KTable<String, String> holdings = b.table(p + "holdings");
            KTable<String, String> books = b.table(p + "books");
            authors(books, p);
            publish(holdings.join(books, v -> field(v, 0), (copy, book) -> field(copy, 1) + ":" + field(book, 1)), p + "titles");
            shelves(holdings, p);
        }
    }

    /** loans: book -> member; catalogue: book -> subject. */
    static final class CatalogueVersionTwo {
        static void loans(StreamsBuilder b, String p, String catalogue) {
            KTable<String, String> books = b.table(p + catalogue);
            KStream<String, String> loans = b.<String, String>stream(p + "loans").leftJoin(books, (member, subject) -> subject + "," + member);
            publish(loans, p + "loans-with-subject");
            publish(loans.groupBy((k, v) -> field(v, 0), Grouped.as("subject")).count(kept("loans-of-subject", NUMBER)), p + "subject-counts");
        }

        static void before(StreamsBuilder b, String p) { loans(b, p, "catalogue"); }
        static void after(StreamsBuilder b, String p) { loans(b, p, "catalogue.v2"); }
    }

    /** claims: claim -> policy,amount. */
    static final class MapByProcessor {
        static void sums(KStream<String, String> perPolicy, String p) {
            publish(perPolicy.groupByKey().reduce((a, v) -> "" + (Long.parseLong(a) + Long.parseLong(v))), p + "policy-sums");
            publishWindows(perPolicy.groupByKey().windowedBy(minutes(1, 10)).count(), p + "policy-minutes");
        }

        static final class ByPolicy extends ContextualProcessor<String, String, String, String> {
            public void process(Record<String, String> r) { context().forward(r.withKey(field(r.value(), 0)).withValue(field(r.value(), 1))); }
        }

        static void before(StreamsBuilder b, String p) {
            sums(b.<String, String>stream(p + "claims").filter((k, v) -> !v.endsWith(",0")).map((k, v) -> KeyValue.pair(field(v, 0), field(v, 1))), p);
        }

        static void after(StreamsBuilder b, String p) {
            sums(b.<String, String>stream(p + "claims").filter((k, v) -> !v.endsWith(",0")).process(ByPolicy::new), p);
        }
    }

    /** damages: damage -> policy,amount; policies: policy -> region. */
    static final class PoliciesGlobal {
        static void regions(KStream<String, String> damages, String p) {
            publish(damages.groupBy((k, v) -> field(v, 0)).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), unnamed(NUMBER)), p + "region-sums");
            publish(damages.groupBy((k, v) -> field(v, 0), Grouped.as("region")).count(kept("damages-of-region", NUMBER)), p + "region-counts");
        }

        static void before(StreamsBuilder b, String p) {
            KTable<String, String> policies = b.table(p + "policies", kept("policies", TEXT));
            regions(b.<String, String>stream(p + "damages").selectKey((k, v) -> field(v, 0)).join(policies, (v, region) -> region + "," + field(v, 1)), p);
        }

        static void after(StreamsBuilder b, String p) {
            GlobalKTable<String, String> policies = b.globalTable(p + "policies", kept("policies", TEXT));
            regions(b.<String, String>stream(p + "damages").join(policies, (k, v) -> field(v, 0), (v, region) -> region + "," + field(v, 1)), p);
        }
    }
}
