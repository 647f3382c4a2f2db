import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.WindowStore;

/** Applications of printers, crosswords, petitions, surveys, private networks, server racks, feature flags and films, each before and after a pull request. */
final class FifthOnline extends PullParts {
    private FifthOnline() { }

    /** jobs: job -> printer,room,pages. */
    static final class KeyInToStream {
        static KTable<Windowed<String>, String> largest(KStream<String, String> jobs) {
            return jobs.groupBy((k, v) -> field(v, 1)).windowedBy(minutes(1, 10)).reduce((a, v) -> number(v, 2) > number(a, 2) ? v : a, Materialized.<String, String, WindowStore<Bytes, byte[]>>with(TEXT, TEXT));
        }

        static KStream<String, String> jobs(StreamsBuilder b, String p) {
            KStream<String, String> jobs = b.<String, String>stream(p + "jobs").filter((k, v) -> number(v, 2) > 0);
            publish(jobs.groupBy((k, v) -> field(v, 0), Grouped.as("printer")).aggregate(() -> 0L, (k, v, a) -> a + number(v, 2), kept("pages-of-printer", NUMBER)), p + "printer-pages");
            return jobs;
        }

        static void rooms(KStream<String, String> jobs, String p) { publish(jobs.groupBy((k, v) -> field(v, 1)).count(), p + "room-counts"); }

        static void before(StreamsBuilder b, String p) {
            KStream<String, String> jobs = jobs(b, p);
            largest(jobs).toStream().map((w, v) -> KeyValue.pair(at(w), v)).to(p + "largest", Produced.with(TEXT, TEXT));
            rooms(jobs, p);
        }

        static void after(StreamsBuilder b, String p) {
            KStream<String, String> jobs = jobs(b, p);
            largest(jobs).toStream((w, v) -> at(w)).to(p + "largest", Produced.with(TEXT, TEXT));
            rooms(jobs, p);
        }
    }

    /** solved: player -> puzzle,seconds. */
    static final class StoreByName {
        static void all(StreamsBuilder b, String p, Materialized<String, String, KeyValueStore<Bytes, byte[]>> best) {
            KStream<String, String> solved = b.<String, String>stream(p + "solved").filter((k, v) -> number(v, 1) > 0);
            publish(solved.groupBy((k, v) -> field(v, 0)).count(), p + "puzzle-counts");
            KTable<String, String> fastest = solved.groupByKey().reduce((a, v) -> number(v, 1) < number(a, 1) ? v : a, best);
            publish(fastest, p + "fastest");
            publish(fastest.groupBy((k, v) -> KeyValue.pair(field(v, 0), k), Grouped.as("puzzle")).count(kept("players-of-puzzle", NUMBER)), p + "puzzle-players");
            publishWindows(solved.groupByKey().windowedBy(minutes(1, 10)).count(), p + "player-minutes");
        }

        static void before(StreamsBuilder b, String p) {
            all(b, p, Materialized.<String, String>as(Stores.persistentKeyValueStore("best-of-player")).withKeySerde(TEXT).withValueSerde(TEXT));
        }

        static void after(StreamsBuilder b, String p) { all(b, p, kept("best-of-player", TEXT)); }
    }

    /** signatures: person -> petition,city. */
    static final class OutputsAtTheEnd {
        static KTable<String, Long> petitions(KStream<String, String> signatures) { return signatures.groupBy((k, v) -> field(v, 0)).count(); }
        static KTable<String, Long> cities(KStream<String, String> signatures) { return signatures.groupBy((k, v) -> field(v, 1), Grouped.as("city")).count(kept("signatures-of-city", NUMBER)); }
        static KTable<String, String> persons(KStream<String, String> signatures) { return signatures.groupByKey().reduce((a, v) -> a + "+" + field(v, 0)); }
        static KTable<Windowed<String>, Long> lately(KStream<String, String> signatures) { return signatures.groupBy((k, v) -> field(v, 0)).windowedBy(minutes(1, 10)).count(); }

        static void before(StreamsBuilder b, String p) {
            KStream<String, String> signatures = b.<String, String>stream(p + "signatures").filter((k, v) -> v.contains(","));
            publish(petitions(signatures), p + "petition-counts");
            publish(cities(signatures), p + "city-counts");
            publish(persons(signatures), p + "person-petitions");
            publishWindows(lately(signatures), p + "petition-minutes");
        }

        static void after(StreamsBuilder b, String p) {
            KStream<String, String> signatures = b.<String, String>stream(p + "signatures").filter((k, v) -> v.contains(","));
            KTable<String, Long> petitions = petitions(signatures), cities = cities(signatures);
            KTable<String, String> persons = persons(signatures);
            KTable<Windowed<String>, Long> lately = lately(signatures);
            publish(petitions, p + "petition-counts");
            publish(cities, p + "city-counts");
            publish(persons, p + "person-petitions");
            publishWindows(lately, p + "petition-minutes");
        }
    }

    /** answers: person -> question,points; panel: person -> region. */
    static final class PanelOnly {
        static KTable<String, String> panel(StreamsBuilder b, String p) { return b.table(p + "panel"); }

        static void regions(KStream<String, String> answers, KStream<String, String> placed, String p) {
            publish(placed.groupBy((k, v) -> field(v, 0), Grouped.as("region")).aggregate(() -> 0L, (k, v, a) -> a + number(v, 2), kept("points-of-region", NUMBER)), p + "region-points");
            publish(placed.groupBy((k, v) -> field(v, 1)).count(), p + "question-counts");
            publishWindows(answers.groupByKey().windowedBy(minutes(1, 10)).count(), p + "person-minutes");
        }

        static void before(StreamsBuilder b, String p) {
            KTable<String, String> panel = panel(b, p);
            KStream<String, String> answers = b.<String, String>stream(p + "answers").filter((k, v) -> number(v, 1) >= 0);
            regions(answers, answers.leftJoin(panel, (v, region) -> region + "," + v), p);
        }

        static void after(StreamsBuilder b, String p) {
            KTable<String, String> panel = panel(b, p);
            KStream<String, String> answers = b.<String, String>stream(p + "answers").filter((k, v) -> number(v, 1) >= 0);
            regions(answers, answers.join(panel, (v, region) -> region + "," + v), p);
        }
    }

    /** logins: user -> country,device. */
    static final class SelfJoinOptimised {
        static void build(StreamsBuilder b, String p) {
            KStream<String, String> logins = b.stream(p + "logins");
            publish(logins.groupBy((k, v) -> field(v, 0)).count(), p + "country-counts");
            KStream<String, String> alarms = logins.join(logins, (one, two) -> field(one, 0) + "," + field(two, 0), JoinWindows.ofTimeDifferenceAndGrace(Duration.ofSeconds(40), Duration.ofSeconds(10)), StreamJoined.with(TEXT, TEXT, TEXT))
                .filter((k, v) -> field(v, 0).compareTo(field(v, 1)) < 0);
            publish(alarms, p + "alarms");
            publish(alarms.groupByKey().count(kept("alarms-of-user", NUMBER)), p + "user-alarms");
            publishWindows(logins.groupBy((k, v) -> field(v, 1)).windowedBy(minutes(1, 10)).count(), p + "device-minutes");
        }
    }

    /** readings: sensor -> rack,watts. */
    static final class FourPartitions {
        static void all(StreamsBuilder b, String p, int partitions) {
            KStream<String, String> readings = b.<String, String>stream(p + "readings").filter((k, v) -> number(v, 1) > 0);
            publish(readings.groupByKey().reduce((a, v) -> number(v, 1) > number(a, 1) ? v : a), p + "sensor-peaks");
            KStream<String, String> racks = readings.selectKey((k, v) -> field(v, 0)).repartition(Repartitioned.<String, String>as("by-rack").withNumberOfPartitions(partitions));
            publish(racks.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("watts-of-rack", NUMBER)), p + "rack-watts");
            publishWindows(racks.groupByKey().windowedBy(minutes(1, 10)).count(windowed("readings-of-rack")), p + "rack-minutes");
        }

        static void before(StreamsBuilder b, String p) { all(b, p, 2); }
        static void after(StreamsBuilder b, String p) { all(b, p, 4); }
    }

    /** toggles: flag -> team,percent. */
    static final class BrokenStop {
        /** A text of two fields or more; another can't be read. */
        static final Serde<String> FIELDS = Serdes.serdeFrom(TEXT.serializer(), (topic, data) -> {
            String text = new String(data, StandardCharsets.UTF_8);
            if (!text.contains(",")) throw new SerializationException("no fields: " + text);
            return text;
        });

        static void build(StreamsBuilder b, String p) {
            KStream<String, String> toggles = b.stream(p + "toggles", Consumed.with(TEXT, FIELDS));
            publish(toggles.groupByKey(Grouped.with(TEXT, TEXT)).reduce((a, v) -> a + "+" + field(v, 1), unnamed(TEXT)), p + "flag-percents");
            publish(toggles.groupBy((k, v) -> field(v, 0), Grouped.with("team", TEXT, TEXT)).count(kept("toggles-of-team", NUMBER)), p + "team-counts");
            publishWindows(toggles.groupByKey(Grouped.with(TEXT, TEXT)).windowedBy(minutes(1, 10)).count(), p + "flag-minutes");
        }
    }

    /** views: viewer -> film,seconds; films: film -> studio. */
    static final class ServersKnown {
        static void build(StreamsBuilder b, String p) {
            KTable<String, String> films = b.table(p + "films", kept("films", TEXT));
            KStream<String, String> views = b.<String, String>stream(p + "views").filter((k, v) -> number(v, 1) > 0);
            publish(views.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), unnamed(NUMBER)), p + "viewer-seconds");
            publish(views.selectKey((k, v) -> field(v, 0)).leftJoin(films, (v, studio) -> studio + "," + v, Joined.as("studio")).groupBy((k, v) -> field(v, 0), Grouped.as("views-of-studio"))
                .count(kept("views-of-studio", NUMBER)), p + "studio-counts");
            publishWindows(views.groupBy((k, v) -> field(v, 0)).windowedBy(minutes(1, 10)).count(), p + "film-minutes");
        }
    }
}
