import java.time.Duration;
import java.util.Map;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.state.Stores;

/** Applications of news, music, sports and cinemas, each before and after a pull request. */
final class LaterMedia extends PullParts {
    private LaterMedia() { }

    /** wire, blogs and radio: article -> section,title. */
    static final class FeedsDeclaredAnew {
        static KStream<String, String> blogs(StreamsBuilder b, String p) { return b.<String, String>stream(p + "blogs").filter((k, v) -> !v.startsWith("private")); }

        static void sections(KStream<String, String> all, String p) {
            publishWindows(all.groupBy((k, v) -> field(v, 0)).windowedBy(minutes(1, 10)).count(), p + "section-minutes");
            publish(all.groupByKey().reduce((a, v) -> v), p + "articles");
        }

        static void before(StreamsBuilder b, String p) {
            KStream<String, String> wire = b.stream(p + "wire");
            KStream<String, String> blogs = blogs(b, p);
            KStream<String, String> radio = b.stream(p + "radio");
            sections(wire.merge(blogs).merge(radio), p);
        }

        static void after(StreamsBuilder b, String p) {
            KStream<String, String> radio = b.stream(p + "radio");
            KStream<String, String> wire = b.stream(p + "wire");
            KStream<String, String> blogs = blogs(b, p);
            sections(radio.merge(wire).merge(blogs), p);
        }
    }

    /** views: reader -> section,article. */
    static final class LongerGap {
        static void visits(StreamsBuilder b, String p, int gap) {
            KStream<String, String> views = b.<String, String>stream(p + "views").filter((k, v) -> v.contains(","));
            publish(views.groupBy((k, v) -> field(v, 0)).count(), p + "section-counts");
            publishWindows(views.groupByKey().windowedBy(SessionWindows.ofInactivityGapAndGrace(Duration.ofSeconds(gap), Duration.ofSeconds(60))).count(session("visits")), p + "visits");
        }

        static void before(StreamsBuilder b, String p) { visits(b, p, 20); }
        static void after(StreamsBuilder b, String p) { visits(b, p, 45); }
    }

    /** plays: listener -> song,seconds; profiles: listener -> country. */
    static final class ProfilesToTable {
        static void countries(KTable<String, String> profiles, StreamsBuilder b, String p) {
            KStream<String, String> plays = b.<String, String>stream(p + "plays").leftJoin(profiles, (v, country) -> country + "," + v);
            publish(plays, p + "plays-with-country");
            publish(plays.groupBy((k, v) -> field(v, 0)).count(), p + "country-counts");
        }

        static void before(StreamsBuilder b, String p) { countries(b.table(p + "profiles", kept("profiles", TEXT)), b, p); }

        static void after(StreamsBuilder b, String p) {
            countries(b.<String, String>stream(p + "profiles").toTable(kept("profiles", TEXT)), b, p);
        }
    }

    /** streams: listener -> play,song. */
    static final class RepeatedBehindSong {
        static void known(StreamsBuilder b) { b.addStateStore(Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore("known-plays"), TEXT, TEXT)); }
        static KStream<String, String> once(KStream<String, String> s) { return s.process(() -> new FirstOnly("known-plays"), Named.as("once"), "known-plays"); }
        static void songs(KStream<String, String> perSong, String p) { publish(perSong.groupByKey(Grouped.as("song")).count(kept("plays-of-song", NUMBER)), p + "song-counts"); }

        static void before(StreamsBuilder b, String p) {
            known(b);
            songs(once(b.stream(p + "streams")).selectKey((k, v) -> field(v, 1)), p);
        }

        static void after(StreamsBuilder b, String p) {
            known(b);
            songs(once(b.<String, String>stream(p + "streams").selectKey((k, v) -> field(v, 1)).repartition(Repartitioned.as("by-song"))), p);
        }
    }

    /** listens and likes: song -> listener. */
    static final class LikesCogrouped {
        static void before(StreamsBuilder b, String p) {
            KTable<String, Long> listens = b.<String, String>stream(p + "listens").groupByKey().count(kept("listens", NUMBER));
            KTable<String, Long> likes = b.<String, String>stream(p + "likes").groupByKey().count(kept("likes", NUMBER));
            publish(listens.outerJoin(likes, (l, r) -> (l == null ? 0 : l) + (r == null ? 0 : 5 * r)), p + "song-points");
        }

        static void after(StreamsBuilder b, String p) {
            KGroupedStream<String, String> listens = b.<String, String>stream(p + "listens").groupByKey();
            KGroupedStream<String, String> likes = b.<String, String>stream(p + "likes").groupByKey();
            publish(listens.<Long>cogroup((k, v, a) -> a + 1).cogroup(likes, (k, v, a) -> a + 5).aggregate(() -> 0L, kept("listens", NUMBER)), p + "song-points");
        }
    }

    /** royalties: song -> artist,cents. */
    static final class ArtistsSummed {
        static void build(StreamsBuilder b, String p) {
            KStream<String, String> royalties = b.stream(p + "royalties", Consumed.with(TEXT, TEXT)).mapValues(v -> v.trim());
            publish(royalties.groupByKey(Grouped.with(TEXT, TEXT)).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("cents-of-song", NUMBER)), p + "song-cents");
            publish(royalties.groupBy((k, v) -> field(v, 0)).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("cents-of-artist", NUMBER)), p + "artist-cents");
        }
    }

    /** results: match -> league,winner. */
    static final class ResultsSplit {
        static void winners(KStream<String, String> results, String p) {
            publish(results.groupBy((k, v) -> field(v, 1)).count(), p + "wins");
            publish(results.groupBy((k, v) -> field(v, 0)).reduce((a, v) -> a + "+" + field(v, 1)), p + "leagues");
        }

        static void before(StreamsBuilder b, String p) {
            KStream<String, String> results = b.stream(p + "results");
            publish(results, p + "results-clean");
            winners(results, p);
        }

        static void after(StreamsBuilder b, String p) {
            KStream<String, String> results = b.stream(p + "results");
            Map<String, KStream<String, String>> leagues = results.split(Named.as("league-")).branch((k, v) -> v.startsWith("first"), Branched.as("first")).defaultBranch(Branched.as("other"));
            publish(leagues.get("league-first"), p + "results-first");
            publish(leagues.get("league-other"), p + "results-other");
            winners(results, p);
        }
    }

    /** goals and reviews: goal -> team,player and verdict. */
    static final class GoalsOuterJoin {
        static JoinWindows near() { return JoinWindows.ofTimeDifferenceAndGrace(Duration.ofSeconds(30), Duration.ofSeconds(5)); }

        static void teams(KStream<String, String> reviewed, String p) {
            publish(reviewed.filter((k, v) -> !v.startsWith("null")).groupBy((k, v) -> field(v, 0), Grouped.as("team")).count(kept("goals-of-team", NUMBER)), p + "team-goals");
            publish(reviewed.groupByKey().reduce((a, v) -> a + "/" + v), p + "verdicts");
        }

        static void before(StreamsBuilder b, String p) {
            teams(b.<String, String>stream(p + "goals").join(b.<String, String>stream(p + "reviews"), (goal, verdict) -> goal + "," + verdict, near()), p);
        }

        static void after(StreamsBuilder b, String p) {
            teams(b.<String, String>stream(p + "goals").outerJoin(b.<String, String>stream(p + "reviews"), (goal, verdict) -> goal + "," + verdict, near()), p);
        }
    }

    /** runs: runner -> race,points; clubs: runner -> club. */
    static final class ClubsStoreNamed {
        static void clubs(KTable<String, String> clubs, StreamsBuilder b, String p) {
            KStream<String, String> runs = b.<String, String>stream(p + "runs").leftJoin(clubs, (v, club) -> club + "," + v);
            publish(runs.groupBy((k, v) -> field(v, 0)).aggregate(() -> 0L, (k, v, a) -> a + number(v, 2), unnamed(NUMBER)), p + "club-points");
            publish(runs.groupBy((k, v) -> field(v, 1)).count(), p + "race-counts");
        }

        static void before(StreamsBuilder b, String p) { clubs(b.table(p + "clubs"), b, p); }
        static void after(StreamsBuilder b, String p) { clubs(b.table(p + "clubs", kept("clubs", TEXT)), b, p); }
    }

    /** seats: ticket -> hall,price; halls: hall -> cinema. */
    static final class SeatsPeeked {
        static void halls(KStream<String, String> seats, StreamsBuilder b, String p) {
            KTable<String, String> halls = b.table(p + "halls", kept("halls", TEXT));
            KStream<String, String> placed = seats.selectKey((k, v) -> field(v, 0)).leftJoin(halls, (v, cinema) -> cinema + "," + field(v, 1), Joined.as("hall-of-seat"));
            publish(placed.groupByKey().count(kept("seats-of-hall", NUMBER)), p + "hall-seats");
            publish(placed.groupBy((k, v) -> field(v, 0)).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("cents-of-cinema", NUMBER)), p + "cinema-cents");
        }

        static void before(StreamsBuilder b, String p) { halls(b.stream(p + "seats"), b, p); }

        static void after(StreamsBuilder b, String p) {
            halls(b.<String, String>stream(p + "seats").peek((k, v) -> System.getLogger("seats").log(System.Logger.Level.DEBUG, k)), b, p);
        }
    }
}
