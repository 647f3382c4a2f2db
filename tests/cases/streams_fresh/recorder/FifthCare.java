import java.time.Duration;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;

/**
 * Applications of dentists, vaccinators, laboratories, ambulances, kindergartens, swimming pools, driving schools, opticians and tennis clubs,
 * each before and after a pull request.
 */
final class FifthCare extends PullParts {
    private FifthCare() { }

    /** appointments: patient -> dentist,chair,minutes. */
    static final class FilterNot {
        static boolean isCancelled(String patient, String appointment) { return number(appointment, 2) == 0; }
        static String lowerCase(String appointment) { return appointment.toLowerCase(); }
        static String dentist(String patient, String appointment) { return field(appointment, 0); }
        static String chair(String patient, String appointment) { return field(appointment, 1); }
        static Long added(String dentist, String appointment, Long minutes) { return minutes + number(appointment, 2); }

        static void before(StreamsBuilder b, String p) {
            KStream<String, String> kept = b.<String, String>stream(p + "appointments").filter((k, v) -> number(v, 2) != 0).mapValues(v -> v.toLowerCase());
            publish(kept.groupByKey().count(), p + "patient-counts");
            publish(kept.groupBy((k, v) -> field(v, 0), Grouped.as("dentist")).aggregate(() -> 0L, (k, v, a) -> a + number(v, 2), kept("minutes-of-dentist", NUMBER)), p + "dentist-minutes");
            publishWindows(kept.groupBy((k, v) -> field(v, 1)).windowedBy(minutes(1, 10)).count(), p + "chair-minutes");
        }

        static void after(StreamsBuilder b, String p) {
            KStream<String, String> kept = b.<String, String>stream(p + "appointments").filterNot(FilterNot::isCancelled).mapValues(FilterNot::lowerCase);
            publish(kept.groupByKey().count(), p + "patient-counts");
            publish(kept.groupBy(FilterNot::dentist, Grouped.as("dentist")).aggregate(() -> 0L, FilterNot::added, kept("minutes-of-dentist", NUMBER)), p + "dentist-minutes");
            publishWindows(kept.groupBy(FilterNot::chair).windowedBy(minutes(1, 10)).count(), p + "chair-minutes");
        }
    }

    /** doses, boosters and travel: dose -> person,kind. */
    static final class TravelDosesToo {
        static KGroupedStream<String, String> persons(KStream<String, String> doses, String name) { return doses.groupBy((k, v) -> field(v, 0), Grouped.as(name)); }
        static String added(String person, String dose, String all) { return all + "+" + field(dose, 1); }

        static void all(StreamsBuilder b, String p, boolean travel) {
            KStream<String, String> doses = b.stream(p + "doses"), boosters = b.stream(p + "boosters");
            publish(doses.groupBy((k, v) -> field(v, 1)).count(), p + "kind-counts");
            CogroupedKStream<String, String> grouped = persons(doses, "doses").cogroup(TravelDosesToo::added);
            if (travel) grouped = grouped.cogroup(persons(b.stream(p + "travel"), "travel"), TravelDosesToo::added);
            publish(grouped.cogroup(persons(boosters, "boosters"), TravelDosesToo::added).aggregate(() -> "", kept("doses-of-person", TEXT)), p + "person-doses");
            publish(boosters.groupBy((k, v) -> field(v, 1), Grouped.as("booster-kind")).count(kept("boosters-of-kind", NUMBER)), p + "booster-counts");
        }

        static void before(StreamsBuilder b, String p) { all(b, p, false); }
        static void after(StreamsBuilder b, String p) { all(b, p, true); }
    }

    /** results: sample -> kind,value; samples: sample -> patient,tube. */
    static final class SamplesVersioned {
        static void results(StreamsBuilder b, KTable<String, String> samples, String p) {
            KStream<String, String> results = b.<String, String>stream(p + "results").leftJoin(samples, (v, sample) -> v + "," + (sample == null ? "nobody" : field(sample, 0)));
            publish(results, p + "placed");
            publish(results.groupBy((k, v) -> field(v, 2), Grouped.as("patient")).count(kept("results-of-patient", NUMBER)), p + "patient-counts");
            publish(results.groupBy((k, v) -> field(v, 0)).reduce((a, v) -> number(v, 1) > number(a, 1) ? v : a), p + "highest");
            publishWindows(results.groupByKey().windowedBy(minutes(1, 10)).count(), p + "sample-minutes");
        }

        static void before(StreamsBuilder b, String p) { results(b, b.table(p + "samples", kept("samples", TEXT)), p); }

        static void after(StreamsBuilder b, String p) {
            Materialized<String, String, KeyValueStore<Bytes, byte[]>> versions =
                Materialized.<String, String>as(Stores.persistentVersionedKeyValueStore("sample-versions", Duration.ofHours(2))).withKeySerde(TEXT).withValueSerde(TEXT);
            results(b, b.table(p + "samples", versions), p);
        }
    }

    /** calls: call -> district,status,minutes. */
    static final class UnitsPutOut {
        static KTable<String, Long> calls(StreamsBuilder b, String p) {
            KStream<String, String> calls = b.<String, String>stream(p + "calls").filter((k, v) -> v.split(",").length == 3);
            publish(calls.groupBy((k, v) -> field(v, 1)).count(), p + "status-counts");
            publish(calls.groupBy((k, v) -> field(v, 0), Grouped.as("district")).aggregate(() -> "0,0", (k, v, a) -> (number(a, 0) + 1) + "," + (number(a, 1) + number(v, 2)), kept("calls-of-district", TEXT)),
                p + "districts");
            return calls.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 2), unnamed(NUMBER));
        }

        static void before(StreamsBuilder b, String p) { publish(calls(b, p), p + "call-minutes"); }
        static void after(StreamsBuilder b, String p) { publish(calls(b, p).toStream().filter((k, v) -> v > 0).mapValues(v -> v + "min"), p + "call-minutes"); }
    }

    /** arrivals: child -> group,parent. */
    static final class EmittedWhenClosed {
        static TimeWindowedKStream<String, String> arrivals(StreamsBuilder b, String p) {
            KStream<String, String> arrivals = b.<String, String>stream(p + "arrivals").filter((k, v) -> v.contains(","));
            publish(arrivals.groupByKey().count(), p + "child-counts");
            return arrivals.groupBy((k, v) -> field(v, 0), Grouped.as("group")).windowedBy(minutes(1, 5));
        }

        static void busiest(KTable<Windowed<String>, Long> closed, String p) {
            publishWindows(closed, p + "group-minutes");
            publish(closed.toStream().map((w, n) -> KeyValue.pair(w.key(), at(w) + "," + n)).groupByKey(Grouped.with("busiest", TEXT, TEXT))
                .reduce((a, v) -> number(v, 1) > number(a, 1) ? v : a, kept("busiest-of-group", TEXT)), p + "busiest");
        }

        static void before(StreamsBuilder b, String p) {
            busiest(arrivals(b, p).count(windowed("arrivals-of-group")).suppress(Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded()).withName("closed")), p);
        }

        static void after(StreamsBuilder b, String p) { busiest(arrivals(b, p).emitStrategy(EmitStrategy.onWindowClose()).count(windowed("arrivals-of-group")), p); }
    }

    /** tickets: visitor -> pool,age,cents. */
    static final class SmallChildrenFree {
        static void all(KStream<String, String> tickets, KStream<String, String> paying, String p) {
            publish(paying.groupBy((k, v) -> field(v, 0), Grouped.as("pool")).aggregate(() -> 0L, (k, v, a) -> a + number(v, 2), kept("cents-of-pool", NUMBER)), p + "pool-cents");
            publishWindows(tickets.groupBy((k, v) -> field(v, 0)).windowedBy(minutes(1, 10)).count(), p + "pool-minutes");
        }

        static KStream<String, String> tickets(StreamsBuilder b, String p) {
            KStream<String, String> tickets = b.stream(p + "tickets");
            publish(tickets.groupByKey().reduce((a, v) -> a + "+" + field(v, 0)), p + "visitor-pools");
            return tickets;
        }

        static void before(StreamsBuilder b, String p) {
            KStream<String, String> tickets = tickets(b, p);
            all(tickets, tickets, p);
        }

        static void after(StreamsBuilder b, String p) {
            KStream<String, String> tickets = tickets(b, p);
            all(tickets, tickets.filter((k, v) -> number(v, 1) >= 6), p);
        }
    }

    /** lessons: student -> teacher,minutes; students: student -> city,licence. */
    static final class TableWithoutDetour {
        static String city(String student) { return student == null ? null : field(student, 0); }

        static KStream<String, String> lessons(StreamsBuilder b, String p) {
            KStream<String, String> lessons = b.<String, String>stream(p + "lessons").filter((k, v) -> number(v, 1) > 0);
            publish(lessons.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), unnamed(NUMBER)), p + "student-minutes");
            return lessons;
        }

        static void cities(KStream<String, String> lessons, KTable<String, String> cities, String p) {
            publish(lessons.leftJoin(cities, (v, city) -> city + "," + v, Joined.as("city-of-lesson")).groupBy((k, v) -> field(v, 0), Grouped.as("city")).count(kept("lessons-of-city", NUMBER)), p + "city-counts");
            publishWindows(lessons.groupBy((k, v) -> field(v, 0), Grouped.as("teacher")).windowedBy(minutes(1, 10)).count(windowed("lessons-of-teacher")), p + "teacher-minutes");
        }

        static void before(StreamsBuilder b, String p) {
            KStream<String, String> lessons = lessons(b, p);
            cities(lessons, b.<String, String>table(p + "students").toStream().mapValues(v -> city(v)).toTable(kept("city-of-student", TEXT)), p);
        }

        static void after(StreamsBuilder b, String p) {
            KStream<String, String> lessons = lessons(b, p);
            cities(lessons, b.<String, String>table(p + "students").mapValues(v -> city(v), kept("city-of-student", TEXT)), p);
        }
    }

    /** web, shop and fax: order -> glasses,branch,cents. */
    static final class FaxGone {
        static void orders(KStream<String, String> orders, String p) {
            KStream<String, String> paid = orders.filter((k, v) -> number(v, 2) > 0);
            publish(paid.groupBy((k, v) -> field(v, 1)).aggregate(() -> 0L, (k, v, a) -> a + number(v, 2), unnamed(NUMBER)), p + "branch-cents");
            publish(paid.groupBy((k, v) -> field(v, 0), Grouped.as("glasses")).count(kept("orders-of-glasses", NUMBER)), p + "glasses-counts");
            publishWindows(paid.groupByKey().windowedBy(minutes(1, 10)).count(windowed("rows-of-order")), p + "order-minutes");
        }

        static KStream<String, String> web(StreamsBuilder b, String p) {
            KStream<String, String> web = b.stream(p + "web");
            publish(web.groupByKey().count(), p + "web-counts");
            return web;
        }

        static void before(StreamsBuilder b, String p) { orders(web(b, p).merge(b.stream(p + "shop")).merge(b.stream(p + "fax")), p); }
        static void after(StreamsBuilder b, String p) { orders(web(b, p).merge(b.stream(p + "shop")), p); }
    }

    /** bookings and cancellations: member -> court,hours. */
    static final class MergeForCogroup {
        static void courts(KStream<String, String> bookings, String p) { publish(bookings.groupBy((k, v) -> field(v, 0)).count(), p + "court-counts"); }

        static void lately(KStream<String, String> bookings, KTable<String, Long> hours, String p) {
            publish(hours, p + "member-hours");
            publishWindows(bookings.groupBy((k, v) -> field(v, 0), Grouped.as("court")).windowedBy(minutes(1, 10)).count(windowed("bookings-of-court")), p + "court-minutes");
        }

        static void before(StreamsBuilder b, String p) {
            KStream<String, String> bookings = b.stream(p + "bookings"), cancellations = b.stream(p + "cancellations");
            courts(bookings, p);
            lately(bookings, bookings.groupByKey().<Long>cogroup((k, v, a) -> a + number(v, 1)).cogroup(cancellations.groupByKey(), (k, v, a) -> a - number(v, 1))
                .aggregate(() -> 0L, kept("hours-of-member", NUMBER)), p);
        }

        static void after(StreamsBuilder b, String p) {
            KStream<String, String> bookings = b.stream(p + "bookings"), cancellations = b.stream(p + "cancellations");
            courts(bookings, p);
            lately(bookings, bookings.merge(cancellations.mapValues(v -> field(v, 0) + ",-" + field(v, 1))).groupByKey()
                .aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("hours-of-member", NUMBER)), p);
        }
    }
}
