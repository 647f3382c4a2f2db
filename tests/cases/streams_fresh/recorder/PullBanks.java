import java.time.Duration;
import java.util.Map;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;

/** Applications of banks, each before and after a pull request. */
final class PullBanks extends PullParts {
    private PullBanks() { }

    /** bookings: account -> kind,amount. */
    static final class OneFilter {
        static void balance(KStream<String, String> bookings, String p) {
            publish(bookings.groupByKey(Grouped.as("account")).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("balance", NUMBER)), p + "balances");
        }

        static void before(StreamsBuilder b, String p) {
            balance(b.<String, String>stream(p + "bookings").filter((k, v) -> v != null).filterNot((k, v) -> field(v, 0).equals("test")).filter((k, v) -> number(v, 1) != 0), p);
        }

        static void after(StreamsBuilder b, String p) {
            balance(b.<String, String>stream(p + "bookings").filter((k, v) -> v != null && !field(v, 0).equals("test") && number(v, 1) != 0), p);
        }
    }

    /** transfers: account -> kind,amount. */
    static final class SplitForFilters {
        static void in(KStream<String, String> s, String p) { publish(s.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("incoming", NUMBER)), p + "incoming"); }
        static void out(KStream<String, String> s, String p) { publish(s.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("outgoing", NUMBER)), p + "outgoing"); }

        static void before(StreamsBuilder b, String p) {
            KStream<String, String> transfers = b.stream(p + "transfers");
            in(transfers.filter((k, v) -> field(v, 0).equals("in")), p);
            out(transfers.filterNot((k, v) -> field(v, 0).equals("in")), p);
        }

        static void after(StreamsBuilder b, String p) {
            Map<String, KStream<String, String>> ways = b.<String, String>stream(p + "transfers").split(Named.as("way-"))
                .branch((k, v) -> field(v, 0).equals("in"), Branched.as("in")).defaultBranch(Branched.as("out"));
            in(ways.get("way-in"), p);
            out(ways.get("way-out"), p);
        }
    }

    /** logins: user -> country. */
    static final class ForeachRemoved {
        static void build(StreamsBuilder b, String p, boolean logged) {
            KStream<String, String> logins = b.stream(p + "logins");
            KTable<String, Long> counts = logins.groupByKey().count();
            publish(counts, p + "login-counts");
            publish(logins.groupBy((k, v) -> v).count(), p + "country-counts");
            if (logged) counts.toStream().foreach((k, v) -> { if (v > 100) System.getLogger("logins").log(System.Logger.Level.WARNING, k); });
        }

        static void before(StreamsBuilder b, String p) { build(b, p, true); }
        static void after(StreamsBuilder b, String p) { build(b, p, false); }
    }

    /** quotes: paper -> price. */
    static final class LongerGrace {
        static void quotes(StreamsBuilder b, String p, int grace) {
            publishWindows(b.<String, String>stream(p + "quotes").groupByKey().windowedBy(minutes(1, grace)).count(windowed("quotes-per-minute"))
                .suppress(Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded()).withName("closed-minutes")), p + "quote-counts");
        }

        static void before(StreamsBuilder b, String p) { quotes(b, p, 0); }
        static void after(StreamsBuilder b, String p) { quotes(b, p, 60); }
    }

    /** cards: card -> amount. */
    static final class LargeOnly {
        static KTable<String, Long> spent(StreamsBuilder b, String p) {
            return b.<String, String>stream(p + "cards").groupByKey().aggregate(() -> 0L, (k, v, a) -> a + Long.parseLong(v), kept("spent", NUMBER));
        }

        static void before(StreamsBuilder b, String p) { publish(spent(b, p), p + "spent"); }

        static void after(StreamsBuilder b, String p) {
            KStream<String, Long> spent = spent(b, p).toStream();
            publish(spent.filter((k, v) -> v >= 100), p + "spent");
            publish(spent.filter((k, v) -> v >= 1000).mapValues(v -> "limit " + v), p + "limits");
        }
    }

    /** trades: trader -> paper,pieces. */
    static final class VolumeAbove {
        static void before(StreamsBuilder b, String p) {
            KStream<String, String> trades = b.stream(p + "trades");
            publish(trades.groupByKey().count(), p + "trade-counts");
        }

        static void after(StreamsBuilder b, String p) {
            KStream<String, String> trades = b.stream(p + "trades");
            publish(trades.groupBy((k, v) -> field(v, 0)).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), unnamed(NUMBER)), p + "volumes");
            publish(trades.groupByKey().count(), p + "trade-counts");
        }
    }

    /** checks: account -> result. */
    static final class ToDisk {
        static void before(StreamsBuilder b, String p) {
            publish(b.<String, String>stream(p + "checks").groupByKey()
                .reduce((a, v) -> a + v, Materialized.<String, String>as(Stores.inMemoryKeyValueStore("checks-of-account"))), p + "check-histories");
        }

        static void after(StreamsBuilder b, String p) {
            publish(b.<String, String>stream(p + "checks").groupByKey()
                .reduce((a, v) -> a + v, Materialized.<String, String, KeyValueStore<Bytes, byte[]>>as("checks-of-account").withCachingEnabled()), p + "check-histories");
        }
    }

    /** accounts: account -> owner,branch; loans: account -> sum. */
    static final class Optimised {
        static void build(StreamsBuilder b, String p) {
            KTable<String, String> accounts = b.table(p + "accounts");
            KStream<String, String> loans = b.<String, String>stream(p + "loans").join(accounts, (sum, account) -> account + "," + sum).selectKey((k, v) -> field(v, 1));
            publish(loans.groupByKey().count(), p + "loan-counts");
            publish(loans.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 2), unnamed(NUMBER)), p + "loan-sums");
        }
    }

    /** messages: account -> channel,text. */
    static final class OutputSplit {
        static KStream<String, String> numbered(StreamsBuilder b, String p) {
            b.addStateStore(Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore("last-message"), TEXT, TEXT));
            return b.<String, String>stream(p + "messages").process(() -> new WithFormer("last-message"), Named.as("with-former"), "last-message");
        }

        static void before(StreamsBuilder b, String p) { publish(numbered(b, p), p + "outbox"); }

        static void after(StreamsBuilder b, String p) {
            numbered(b, p).split().branch((k, v) -> v.contains("mail,"), Branched.withConsumer(s -> publish(s, p + "outbox-mail")))
                .defaultBranch(Branched.withConsumer(s -> publish(s, p + "outbox")));
        }
    }

    /** orders and fills: order -> pieces. */
    static final class UnfilledToo {
        static void matched(KStream<String, String> matched, String p) {
            publish(matched.groupByKey().aggregate(() -> "", (k, v, a) -> a + "/" + v), p + "order-states");
        }

        static JoinWindows near() { return JoinWindows.ofTimeDifferenceAndGrace(Duration.ofSeconds(30), Duration.ofSeconds(5)); }

        static void before(StreamsBuilder b, String p) {
            matched(b.<String, String>stream(p + "orders").join(b.<String, String>stream(p + "fills"), PullParts::pair, near()), p);
        }

        static void after(StreamsBuilder b, String p) {
            matched(b.<String, String>stream(p + "orders").leftJoin(b.<String, String>stream(p + "fills"), PullParts::pair, near()), p);
        }
    }
}
