import java.time.Duration;
import java.util.List;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.state.KeyValueStore;

/** Applications of advertisers, each before and after a pull request. */
final class PullAds extends PullParts {
    private PullAds() { }

    /** clicks and views: campaign -> visitor. */
    static final class PartsExchanged {
        static void clicks(StreamsBuilder b, String p) { publish(b.<String, String>stream(p + "clicks").groupByKey().count(), p + "click-counts"); }
        static void views(StreamsBuilder b, String p) { publish(b.<String, String>stream(p + "views").groupByKey().count(), p + "view-counts"); }

        static void before(StreamsBuilder b, String p) { clicks(b, p); views(b, p); }
        static void after(StreamsBuilder b, String p) { views(b, p); clicks(b, p); }
    }

    /** bids: bid -> campaign,cents. */
    static final class MapToGroupBy {
        static void before(StreamsBuilder b, String p) {
            publish(b.<String, String>stream(p + "bids").map((k, v) -> KeyValue.pair(field(v, 0), v)).groupByKey()
                .aggregate(() -> 0L, (k, v, a) -> Math.max(a, number(v, 1)), unnamed(NUMBER)), p + "highest-bids");
        }

        static void after(StreamsBuilder b, String p) {
            publish(b.<String, String>stream(p + "bids").groupBy((k, v) -> field(v, 0))
                .aggregate(() -> 0L, (k, v, a) -> Math.max(a, number(v, 1)), unnamed(NUMBER)), p + "highest-bids");
        }
    }

    /** web, app and tv: user -> page. */
    static final class TopicsInList {
        static void users(KStream<String, String> all, String p) {
            publish(all.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + 1, Named.as("count-views"), kept("views-of-user", NUMBER)), p + "user-views");
        }

        static void before(StreamsBuilder b, String p) {
            users(b.<String, String>stream(p + "web").merge(b.stream(p + "app")).merge(b.stream(p + "tv")), p);
        }

        static void after(StreamsBuilder b, String p) { users(b.stream(List.of(p + "web", p + "app", p + "tv")), p); }
    }

    /** views and clicks: visitor -> ad. */
    static final class WiderAttribution {
        static void attributed(StreamsBuilder b, String p, int seconds) {
            publish(b.<String, String>stream(p + "views").join(b.<String, String>stream(p + "clicks"), (view, click) -> view + ">" + click,
                JoinWindows.ofTimeDifferenceWithNoGrace(Duration.ofSeconds(seconds)), StreamJoined.with(TEXT, TEXT, TEXT).withName("attribution").withStoreName("attribution")), p + "attributed");
        }

        static void before(StreamsBuilder b, String p) { attributed(b, p, 10); }
        static void after(StreamsBuilder b, String p) { attributed(b, p, 60); }
    }

    /** spend: account -> campaign,cents. */
    static final class PerCampaign {
        static Aggregator<String, String, Long> add() { return (k, v, a) -> a + number(v, 1); }

        static void before(StreamsBuilder b, String p) {
            publish(b.<String, String>stream(p + "spend").groupByKey().aggregate(() -> 0L, add(), kept("spend", NUMBER)), p + "spend-sums");
        }

        static void after(StreamsBuilder b, String p) {
            publish(b.<String, String>stream(p + "spend").selectKey((k, v) -> k + "/" + field(v, 0), Named.as("campaign-of-account"))
                .groupByKey(Grouped.as("campaigns")).aggregate(() -> 0L, add(), kept("spend", NUMBER)), p + "spend-sums");
        }
    }

    /** clicks: ad -> visitor. */
    static final class ClicksPerMinute {
        static void before(StreamsBuilder b, String p) {
            publish(b.<String, String>stream(p + "clicks").groupByKey().count(kept("clicks", NUMBER)), p + "click-counts");
        }

        static void after(StreamsBuilder b, String p) {
            publishWindows(b.<String, String>stream(p + "clicks").groupByKey().windowedBy(minutes(1, 0)).count(windowed("clicks")), p + "click-counts");
        }
    }

    /** budgets: campaign -> change. */
    static final class LoggingEnabled {
        static void left(StreamsBuilder b, String p, Materialized<String, Long, KeyValueStore<Bytes, byte[]>> how) {
            publish(b.<String, String>stream(p + "budgets").groupByKey().aggregate(() -> 1000L, (k, v, a) -> a - Long.parseLong(v), how), p + "budgets-left");
        }

        static void before(StreamsBuilder b, String p) { left(b, p, kept("left", NUMBER).withLoggingDisabled()); }
        static void after(StreamsBuilder b, String p) { left(b, p, kept("left", NUMBER)); }
    }

    /** pages: visitor -> page. */
    static final class SessionsForMinutes {
        static void before(StreamsBuilder b, String p) {
            publishWindows(b.<String, String>stream(p + "pages").groupByKey(Grouped.as("visitor")).windowedBy(minutes(1, 10)).count(Named.as("pages"), windowed("page-views")), p + "page-counts");
        }

        static void after(StreamsBuilder b, String p) {
            publishWindows(b.<String, String>stream(p + "pages").groupByKey(Grouped.as("visitor"))
                .windowedBy(SessionWindows.ofInactivityGapAndGrace(Duration.ofSeconds(40), Duration.ofSeconds(10))).count(Named.as("pages"), session("page-views")), p + "page-counts");
        }
    }

    /** events: device -> kind,cents. */
    static final class Handlers {
        static void build(StreamsBuilder b, String p) {
            publish(b.<String, String>stream(p + "events").filter((k, v) -> v.startsWith("buy")).groupByKey()
                .aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("bought", NUMBER)), p + "bought");
        }
    }

    /** raw: visitor -> ad,cents. */
    static final class DeadLetters {
        static boolean broken(String value) { return value.split(",").length < 2; }

        static void before(StreamsBuilder b, String p) {
            KStream<String, String> good = b.<String, String>stream(p + "raw").filterNot((k, v) -> broken(v));
            publish(good.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), unnamed(NUMBER)), p + "costs");
        }

        static void after(StreamsBuilder b, String p) {
            KStream<String, String> raw = b.stream(p + "raw");
            raw.filter((k, v) -> broken(v)).to(p + "raw-dead-letters");
            publish(raw.filterNot((k, v) -> broken(v)).groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), unnamed(NUMBER)), p + "costs");
        }
    }
}
