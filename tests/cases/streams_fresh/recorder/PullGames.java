import java.util.List;
import java.util.regex.Pattern;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.*;

/** Applications of makers of games, each before and after a pull request. */
final class PullGames extends PullParts {
    private PullGames() { }

    /** scores: player -> points; levels: player -> level; chats: player -> text. */
    static final class NamedPartsExchanged {
        static void scores(StreamsBuilder b, String p) {
            publish(b.<String, String>stream(p + "scores").groupByKey().aggregate(() -> 0L, (k, v, a) -> a + Long.parseLong(v), kept("points", NUMBER)), p + "points");
        }
        static void levels(StreamsBuilder b, String p) {
            publish(b.<String, String>stream(p + "levels").groupBy((k, v) -> v, Grouped.as("by-level")).count(kept("players-of-level", NUMBER)), p + "level-counts");
        }
        static void chats(StreamsBuilder b, String p) {
            publishWindows(b.<String, String>stream(p + "chats").groupByKey().windowedBy(minutes(5, 0)).count(windowed("chats")), p + "chat-counts");
        }

        static void before(StreamsBuilder b, String p) { scores(b, p); levels(b, p); chats(b, p); }
        static void after(StreamsBuilder b, String p) { chats(b, p); levels(b, p); scores(b, p); }
    }

    /** kills: player -> weapon; players: player -> team. */
    static final class NamesForAll {
        static void before(StreamsBuilder b, String p) {
            KTable<String, String> players = b.table(p + "players");
            publish(b.<String, String>stream(p + "kills").join(players, (weapon, team) -> team + "," + weapon)
                .groupBy((k, v) -> field(v, 0)).aggregate(() -> "", (k, v, a) -> a + field(v, 1)), p + "team-kills");
        }

        static void after(StreamsBuilder b, String p) {
            KTable<String, String> players = b.table(p + "players", Consumed.as("players"), kept("players", TEXT));
            KTable<String, String> kills = b.<String, String>stream(p + "kills", Consumed.as("kills"))
                .join(players, (weapon, team) -> team + "," + weapon, Joined.as("with-team"))
                .groupBy((k, v) -> field(v, 0), Grouped.as("by-team")).aggregate(() -> "", (k, v, a) -> a + field(v, 1), Named.as("collect"), kept("team-kills", TEXT));
            publish(kills.toStream(Named.as("rows")), p + "team-kills");
        }
    }

    /** wins: player -> match,points. */
    static final class ValuesInPlaceOfMap {
        static void before(StreamsBuilder b, String p) {
            publish(b.<String, String>stream(p + "wins").map((k, v) -> KeyValue.pair(k, field(v, 1))).groupByKey(Grouped.as("player"))
                .aggregate(() -> 0L, (k, v, a) -> a + Long.parseLong(v), kept("win-points", NUMBER)), p + "win-points");
        }

        static void after(StreamsBuilder b, String p) {
            publish(b.<String, String>stream(p + "wins").mapValues(v -> field(v, 1)).groupByKey(Grouped.as("player"))
                .aggregate(() -> 0L, (k, v, a) -> a + Long.parseLong(v), kept("win-points", NUMBER)), p + "win-points");
        }
    }

    /** goals: match -> player,team. */
    static final class TeamForPlayer {
        static void goals(StreamsBuilder b, String p, int by) {
            publish(b.<String, String>stream(p + "goals").selectKey((k, v) -> field(v, by)).groupByKey(Grouped.as("scorer")).count(kept("goals", NUMBER)), p + "goal-counts");
        }

        static void before(StreamsBuilder b, String p) { goals(b, p, 0); }
        static void after(StreamsBuilder b, String p) { goals(b, p, 1); }
    }

    /** quests and buys: player -> text. */
    static final class CogroupForTwo {
        static void before(StreamsBuilder b, String p) {
            KTable<String, Long> quests = b.<String, String>stream(p + "quests").groupByKey().count(kept("quests", NUMBER));
            KTable<String, Long> buys = b.<String, String>stream(p + "buys").groupByKey().count(kept("buys", NUMBER));
            publish(quests.outerJoin(buys, (q, n) -> "" + ((q == null ? 0 : q) + (n == null ? 0 : 5 * n)), kept("activity", TEXT)), p + "activity");
        }

        static void after(StreamsBuilder b, String p) {
            KGroupedStream<String, String> quests = b.<String, String>stream(p + "quests").groupByKey();
            KGroupedStream<String, String> buys = b.<String, String>stream(p + "buys").groupByKey();
            publish(quests.<Long>cogroup((k, v, a) -> a + 1).cogroup(buys, (k, v, a) -> a + 5).aggregate(() -> 0L, kept("activity-points", NUMBER)), p + "activity");
        }
    }

    /** moves: player -> move; ranks: player -> rank. */
    static final class TablesForStream {
        static void before(StreamsBuilder b, String p) {
            KTable<String, String> ranks = b.table(p + "ranks", kept("ranks", TEXT));
            publish(b.<String, String>stream(p + "moves").join(ranks, PullParts::pair), p + "ranked-moves");
            publish(ranks.groupBy((k, v) -> KeyValue.pair(v, k), Grouped.with("rank", TEXT, TEXT)).count(kept("players-of-rank", NUMBER)), p + "rank-counts");
        }

        static void after(StreamsBuilder b, String p) {
            KTable<String, String> ranks = b.table(p + "ranks", kept("ranks", TEXT));
            KTable<String, String> moves = b.<String, String>stream(p + "moves").toTable(kept("last-moves", TEXT));
            publish(moves.join(ranks, PullParts::pair), p + "ranked-moves");
            publish(ranks.groupBy((k, v) -> KeyValue.pair(v, k), Grouped.with("rank", TEXT, TEXT)).count(kept("players-of-rank", NUMBER)), p + "rank-counts");
        }
    }

    /** scores: player -> points. */
    static final class TypoInStore {
        static void scores(StreamsBuilder b, String p, String store) {
            KTable<String, Long> best = b.<String, String>stream(p + "scores").groupByKey().aggregate(() -> 0L, (k, v, a) -> Math.max(a, Long.parseLong(v)), kept(store, NUMBER));
            publish(best, p + "best-scores");
            publish(best.groupBy((k, v) -> KeyValue.pair(v >= 100 ? "gold" : "silver", 1L), Grouped.with("medal", TEXT, NUMBER))
                .reduce(Long::sum, (sum, gone) -> sum - gone, kept("medals", NUMBER)), p + "medals");
        }

        static void before(StreamsBuilder b, String p) { scores(b, p, "plyer-best"); }
        static void after(StreamsBuilder b, String p) { scores(b, p, "player-best"); }
    }

    /** invites and joins: player -> guild. */
    static final class StoresInMemory {
        static void build(StreamsBuilder b, String p) {
            publish(b.<String, String>stream(p + "invites").join(b.<String, String>stream(p + "joins"), PullParts::pair, JoinWindows.ofTimeDifferenceWithNoGrace(MINUTE)), p + "accepted");
            publish(b.<String, String>stream(p + "joins-of-guilds").groupByKey().count(), p + "guild-counts");
        }
    }

    /** events of regions: player -> event. */
    static final class RegionsByPattern {
        static void events(KStream<String, String> events, String p) {
            publish(events.filter((k, v) -> !v.isEmpty()).groupByKey().aggregate(() -> "", (k, v, a) -> a + "." + v, kept("story", TEXT)), p + "stories");
        }

        static void before(StreamsBuilder b, String p) { events(b.stream(List.of(p + "events-eu", p + "events-us")), p); }
        static void after(StreamsBuilder b, String p) { events(b.stream(Pattern.compile(p + "events-[a-z]+")), p); }
    }
}
