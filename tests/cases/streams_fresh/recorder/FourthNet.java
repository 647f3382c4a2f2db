import java.time.Duration;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.state.Stores;

/**
 * Applications of radios, lotteries, podcasts, ski lifts, dating, marathons, certificates, patents, casinos, quizzes, engineers on call, names of
 * hosts, translators and moderators, each before and after a pull request.
 */
final class FourthNet extends PullParts {
    private FourthNet() { }

    /** studio, web and phone: listener -> song,seconds. */
    static final class MergeTurnedRound {
        static void plays(KStream<String, String> plays, String p) {
            KStream<String, String> known = plays.filter((k, v) -> number(v, 1) > 0);
            publish(known.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), unnamed(NUMBER)), p + "listener-seconds");
            publish(known.groupBy((k, v) -> field(v, 0)).count(kept("plays-of-song", NUMBER)), p + "song-counts");
            publishWindows(known.groupBy((k, v) -> field(v, 0), Grouped.as("lately")).windowedBy(minutes(1, 10)).count(), p + "song-minutes");
        }

        static void before(StreamsBuilder b, String p) {
            KStream<String, String> studio = b.stream(p + "studio");
            publish(studio.groupByKey().count(), p + "studio-counts");
            plays(studio.merge(b.stream(p + "web")).merge(b.stream(p + "phone")), p);
        }

        static void after(StreamsBuilder b, String p) {
            KStream<String, String> studio = b.stream(p + "studio");
            publish(studio.groupByKey().count(), p + "studio-counts");
            plays(b.<String, String>stream(p + "phone").merge(b.stream(p + "web")).merge(studio), p);
        }
    }

    /** tickets: ticket -> shop,game,cents. */
    static final class GeneratedNameGiven {
        static void all(StreamsBuilder b, String p, boolean given) {
            KStream<String, String> tickets = b.<String, String>stream(p + "tickets").filter((k, v) -> number(v, 2) > 0);
            KGroupedStream<String, String> grouped = tickets.groupByKey();
            publish(given ? grouped.count(kept("KSTREAM-AGGREGATE-STATE-STORE-0000000002", NUMBER)) : grouped.count(), p + "ticket-counts");
            publish(tickets.groupBy((k, v) -> field(v, 0)).aggregate(() -> 0L, (k, v, a) -> a + number(v, 2), unnamed(NUMBER)), p + "shop-cents");
            publish(tickets.groupBy((k, v) -> field(v, 1), Grouped.as("game")).reduce((a, v) -> number(v, 2) > number(a, 2) ? v : a, kept("dearest-of-game", TEXT)), p + "dearest");
            publishWindows(tickets.groupBy((k, v) -> field(v, 1)).windowedBy(minutes(1, 10)).count(), p + "game-minutes");
        }

        static void before(StreamsBuilder b, String p) { all(b, p, false); }
        static void after(StreamsBuilder b, String p) { all(b, p, true); }
    }

    /** plays: listener -> show,seconds; shows: show -> host. */
    static final class OwnNames {
        static void before(StreamsBuilder b, String p) {
            KTable<String, String> shows = b.table(p + "shows");
            KStream<String, String> plays = b.<String, String>stream(p + "plays").filter((k, v) -> number(v, 1) > 0);
            publish(plays.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), unnamed(NUMBER)), p + "listener-seconds");
            publish(plays.selectKey((k, v) -> field(v, 0)).leftJoin(shows, (v, host) -> host + "," + v).groupBy((k, v) -> field(v, 0)).count(), p + "host-counts");
            publishWindows(plays.groupBy((k, v) -> field(v, 0)).windowedBy(minutes(1, 10)).count(), p + "show-minutes");
        }

        static void after(StreamsBuilder b, String p) {
            KTable<String, String> shows = b.table(p + "shows", kept("shows", TEXT));
            KStream<String, String> plays = b.<String, String>stream(p + "plays").filter((k, v) -> number(v, 1) > 0);
            publish(plays.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("seconds-of-listener", NUMBER)), p + "listener-seconds");
            publish(plays.selectKey((k, v) -> field(v, 0)).leftJoin(shows, (v, host) -> host + "," + v, Joined.as("show-of-play"))
                .groupBy((k, v) -> field(v, 0), Grouped.as("by-host")).count(kept("plays-of-host", NUMBER)), p + "host-counts");
            publishWindows(plays.groupBy((k, v) -> field(v, 0), Grouped.as("by-show")).windowedBy(minutes(1, 10)).count(windowed("plays-of-show")), p + "show-minutes");
        }
    }

    /** rides: pass -> lift,metres. */
    static final class LongerGrace {
        static void all(StreamsBuilder b, String p, int grace) {
            KStream<String, String> rides = b.<String, String>stream(p + "rides").filter((k, v) -> number(v, 1) > 0);
            publish(rides.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("metres-of-pass", NUMBER)), p + "pass-metres");
            publishWindows(rides.groupBy((k, v) -> field(v, 0)).windowedBy(minutes(1, grace)).count(), p + "lift-minutes");
            publish(rides.groupBy((k, v) -> field(v, 0), Grouped.as("steepest")).reduce((a, v) -> number(v, 1) > number(a, 1) ? v : a), p + "steepest");
        }

        static void before(StreamsBuilder b, String p) { all(b, p, 5); }
        static void after(StreamsBuilder b, String p) { all(b, p, 60); }
    }

    /** likes: person -> other,kind. */
    static final class PairsInOrder {
        static void all(StreamsBuilder b, String p, KeyValueMapper<String, String, String> pair) {
            KStream<String, String> likes = b.<String, String>stream(p + "likes").filter((k, v) -> !field(v, 0).equals(k));
            publish(likes.groupBy((k, v) -> field(v, 1)).count(), p + "kind-counts");
            publish(likes.groupBy(pair, Grouped.as("pair")).count(kept("likes-of-pair", NUMBER)), p + "pair-counts");
            publishWindows(likes.groupByKey().windowedBy(minutes(1, 10)).count(), p + "person-minutes");
        }

        static String ordered(String person, String like) {
            String other = field(like, 0);
            return person.compareTo(other) < 0 ? person + "+" + other : other + "+" + person;
        }

        static void before(StreamsBuilder b, String p) { all(b, p, (k, v) -> k + "+" + field(v, 0)); }
        static void after(StreamsBuilder b, String p) { all(b, p, PairsInOrder::ordered); }
    }

    /** splits: runner -> point,seconds,club. */
    static final class BestForSum {
        static void all(StreamsBuilder b, String p, Aggregator<String, String, Long> adds) {
            KStream<String, String> splits = b.<String, String>stream(p + "splits").filter((k, v) -> number(v, 1) > 0);
            publish(splits.groupByKey().aggregate(() -> 0L, adds, kept("seconds-of-runner", NUMBER)), p + "runner-seconds");
            publish(splits.groupBy((k, v) -> field(v, 2)).count(), p + "club-counts");
            publishWindows(splits.groupBy((k, v) -> field(v, 0), Grouped.as("point")).windowedBy(minutes(1, 10)).count(windowed("runners-of-point")), p + "point-minutes");
        }

        static void before(StreamsBuilder b, String p) { all(b, p, (k, v, a) -> a + number(v, 1)); }
        static void after(StreamsBuilder b, String p) { all(b, p, (k, v, a) -> a == 0 ? number(v, 1) : Math.min(a, number(v, 1))); }
    }

    /** renewals: host -> serial,issuer. */
    static final class RepeatsDropped {
        static KStream<String, String> renewals(StreamsBuilder b, String p) {
            KStream<String, String> renewals = b.<String, String>stream(p + "renewals").filter((k, v) -> v.contains(","));
            publish(renewals.groupByKey().count(), p + "host-counts");
            return renewals;
        }

        static void issuers(KStream<String, String> renewals, String p) {
            publish(renewals.groupBy((k, v) -> field(v, 1), Grouped.as("issuer")).count(kept("renewals-of-issuer", NUMBER)), p + "issuer-counts");
            publish(renewals.groupByKey().aggregate(() -> "", (k, v, a) -> a + "+" + field(v, 0), kept("serials-of-host", TEXT)), p + "host-serials");
            publishWindows(renewals.groupBy((k, v) -> field(v, 1), Grouped.as("lately")).windowedBy(minutes(1, 10)).count(windowed("lately-of-issuer")), p + "issuer-minutes");
        }

        static void before(StreamsBuilder b, String p) { issuers(renewals(b, p), p); }

        static void after(StreamsBuilder b, String p) {
            b.addStateStore(Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore("known-serials"), TEXT, TEXT));
            issuers(renewals(b, p).process(() -> new FirstOnly("known-serials"), Named.as("first-only"), "known-serials"), p);
        }
    }

    /** patents: patent -> office,kind; offices: office -> country. */
    static final class OfficesJoined {
        static void all(StreamsBuilder b, String p, boolean joined) {
            KTable<String, String> patents = b.table(p + "patents", kept("patents", TEXT)), offices = b.table(p + "offices", kept("offices", TEXT));
            publish(patents.groupBy((k, v) -> KeyValue.pair(field(v, 1), k)).count(), p + "kind-counts");
            publish(offices.groupBy((k, v) -> KeyValue.pair(v, k), Grouped.as("country")).aggregate(() -> "", (k, v, a) -> a + "+" + v, (k, v, a) -> a + "-" + v, kept("offices-of-country", TEXT)), p + "country-offices");
            if (!joined) return;
            KTable<String, String> placed = patents.join(offices, v -> field(v, 0), (v, country) -> country + "," + v, TableJoined.as("office-of-patent"), kept("placed-patents", TEXT));
            publish(placed, p + "placed");
            publish(placed.groupBy((k, v) -> KeyValue.pair(field(v, 0), k), Grouped.as("placed")).count(kept("patents-of-country", NUMBER)), p + "country-patents");
        }

        static void before(StreamsBuilder b, String p) { all(b, p, false); }
        static void after(StreamsBuilder b, String p) { all(b, p, true); }
    }

    /** bets: player -> game,cents. */
    static final class SessionsForHops {
        static KStream<String, String> bets(StreamsBuilder b, String p) {
            KStream<String, String> bets = b.<String, String>stream(p + "bets").filter((k, v) -> number(v, 1) > 0);
            publish(bets.groupBy((k, v) -> field(v, 0)).count(), p + "game-counts");
            return bets;
        }

        static void sums(KStream<String, String> bets, String p) {
            publish(bets.groupBy((k, v) -> field(v, 0), Grouped.as("game")).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("cents-of-game", NUMBER)), p + "game-cents");
        }

        static void before(StreamsBuilder b, String p) {
            KStream<String, String> bets = bets(b, p);
            publishWindows(bets.groupByKey().windowedBy(minutes(1, 10).advanceBy(Duration.ofSeconds(30))).count(), p + "bouts");
            sums(bets, p);
        }

        static void after(StreamsBuilder b, String p) {
            KStream<String, String> bets = bets(b, p);
            publishWindows(bets.groupByKey().windowedBy(SessionWindows.ofInactivityGapAndGrace(Duration.ofSeconds(30), Duration.ofSeconds(10))).count(), p + "bouts");
            sums(bets, p);
        }
    }

    /** answers: player -> team,points. */
    static final class SlidingForTumbling {
        static KStream<String, String> answers(StreamsBuilder b, String p) {
            KStream<String, String> answers = b.<String, String>stream(p + "answers").filter((k, v) -> number(v, 1) >= 0);
            publish(answers.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), unnamed(NUMBER)), p + "player-points");
            return answers;
        }

        static void teams(KTable<Windowed<String>, Long> lately, KStream<String, String> answers, String p) {
            publishWindows(lately, p + "team-minutes");
            publish(answers.groupBy((k, v) -> field(v, 0)).count(), p + "team-counts");
        }

        static void before(StreamsBuilder b, String p) {
            KStream<String, String> answers = answers(b, p);
            teams(answers.groupBy((k, v) -> field(v, 0), Grouped.as("team")).windowedBy(minutes(1, 10)).count(windowed("answers-of-team")), answers, p);
        }

        static void after(StreamsBuilder b, String p) {
            KStream<String, String> answers = answers(b, p);
            teams(answers.groupBy((k, v) -> field(v, 0), Grouped.as("team")).windowedBy(SlidingWindows.ofTimeDifferenceAndGrace(MINUTE, Duration.ofSeconds(10)))
                .count(windowed("answers-of-team")), answers, p);
        }
    }

    /** pages: engineer -> service,minutes. */
    static final class AtLeastOnce {
        static void build(StreamsBuilder b, String p) {
            KStream<String, String> pages = b.<String, String>stream(p + "pages").filter((k, v) -> number(v, 1) > 0);
            publish(pages.groupByKey().reduce((a, v) -> a + "+" + field(v, 0)), p + "engineer-services");
            publish(pages.groupBy((k, v) -> field(v, 0)).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), unnamed(NUMBER)), p + "service-minutes");
            publishWindows(pages.groupBy((k, v) -> field(v, 0), Grouped.as("service")).windowedBy(minutes(1, 10)).count(windowed("pages-of-service")), p + "service-windows");
        }
    }

    /** queries: host -> zone,milliseconds; hosts: host -> owner; zones: zone -> registrar. */
    static final class SourceTopicsReused {
        static void build(StreamsBuilder b, String p) {
            KTable<String, String> hosts = b.table(p + "hosts"), zones = b.table(p + "zones", kept("zones", TEXT));
            KStream<String, String> queries = b.<String, String>stream(p + "queries").leftJoin(hosts, (v, owner) -> v + "," + owner);
            publish(queries.groupBy((k, v) -> field(v, 2)).count(), p + "owner-counts");
            publish(queries.selectKey((k, v) -> field(v, 0)).leftJoin(zones, (v, registrar) -> registrar + "," + field(v, 1), Joined.as("zone"))
                .groupBy((k, v) -> field(v, 0), Grouped.as("registrar")).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("time-of-registrar", NUMBER)), p + "registrar-time");
        }
    }

    /** jobs: job -> language,words. */
    static final class ClassicProtocol {
        static void build(StreamsBuilder b, String p) {
            KStream<String, String> jobs = b.<String, String>stream(p + "jobs").filter((k, v) -> number(v, 1) > 0);
            publish(jobs.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), unnamed(NUMBER)), p + "job-words");
            publish(jobs.groupBy((k, v) -> field(v, 0), Grouped.as("language")).count(kept("jobs-of-language", NUMBER)), p + "language-counts");
            publishWindows(jobs.groupBy((k, v) -> field(v, 0)).windowedBy(minutes(1, 10)).count(), p + "language-minutes");
        }
    }

    /** posts: person -> room,score. */
    static final class BrokenSkipped {
        static void build(StreamsBuilder b, String p) {
            KStream<String, String> posts = b.stream(p + "posts");
            publish(posts.groupByKey().count(), p + "person-counts");
            publish(posts.groupBy((k, v) -> field(v, 0), Grouped.as("room")).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("score-of-room", NUMBER)), p + "room-scores");
            publishWindows(posts.groupBy((k, v) -> field(v, 0)).windowedBy(minutes(1, 10)).count(), p + "room-minutes");
        }
    }
}
