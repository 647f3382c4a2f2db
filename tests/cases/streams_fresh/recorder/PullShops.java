import java.time.Duration;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.state.Stores;

/** Applications of shops, each before and after a pull request. */
final class PullShops extends PullParts {
    private PullShops() { }

    /** orders: order -> customer,article,amount. */
    static final class TotalsWithNames {
        static void before(StreamsBuilder b, String p) {
            KTable<String, String> customers = b.table(p + "customers", kept("customers", TEXT));
            KTable<String, Long> totals = b.<String, String>stream(p + "orders").filter((k, v) -> number(v, 2) > 0)
                .groupBy((k, v) -> field(v, 0), Grouped.as("by-customer")).aggregate(() -> 0L, (k, v, a) -> a + number(v, 2), kept("totals", NUMBER));
            publish(totals.join(customers, (t, c) -> field(c, 0) + ":" + t, kept("named-totals", TEXT)), p + "totals");
        }

        static boolean isPaid(String order, String value) { return number(value, 2) > 0; }
        static String customer(String order, String value) { return field(value, 0); }
        static Long add(String customer, String value, Long sum) { return sum + number(value, 2); }
        static String withName(Long total, String customer) { return field(customer, 0) + ":" + total; }
        static KTable<String, Long> totals(KStream<String, String> orders) {
            return orders.filter(TotalsWithNames::isPaid).groupBy(TotalsWithNames::customer, Grouped.as("by-customer"))
                .aggregate(() -> 0L, TotalsWithNames::add, kept("totals", NUMBER));
        }

        static void after(StreamsBuilder b, String p) {
            KTable<String, String> customers = b.table(p + "customers", kept("customers", TEXT));
            KTable<String, Long> totals = totals(b.stream(p + "orders"));
            publish(totals.join(customers, TotalsWithNames::withName, kept("named-totals", TEXT)), p + "totals");
        }
    }

    /** status: order -> status,warehouse. */
    static final class LatestStatus {
        static void counts(KTable<String, String> latest, String p) {
            publish(latest, p + "latest");
            publish(latest.groupBy((k, v) -> KeyValue.pair(field(v, 0), k), Grouped.with("by-status", TEXT, TEXT)).count(kept("orders-by-status", NUMBER)), p + "counts");
        }

        static void before(StreamsBuilder b, String p) {
            counts(b.<String, String>stream(p + "status").groupByKey().reduce((old, now) -> now, kept("latest-status", TEXT)), p);
        }

        static void after(StreamsBuilder b, String p) {
            counts(b.<String, String>stream(p + "status").toTable(kept("latest-status", TEXT)), p);
        }
    }

    /** baskets: customer -> account,article. */
    static final class TestOrders {
        static void baskets(KStream<String, String> rows, KTable<String, String> vouchers, String p) {
            KTable<String, String> baskets = rows.groupByKey().aggregate(() -> "", (k, v, a) -> a + "+" + field(v, 1));
            publish(baskets.leftJoin(vouchers, PullParts::pair), p + "basket-views");
        }

        static void before(StreamsBuilder b, String p) {
            KTable<String, String> vouchers = b.table(p + "vouchers");
            baskets(b.stream(p + "baskets"), vouchers, p);
        }

        static void after(StreamsBuilder b, String p) {
            KTable<String, String> vouchers = b.table(p + "vouchers");
            baskets(b.<String, String>stream(p + "baskets").filterNot((k, v) -> field(v, 0).equals("test")), vouchers, p);
        }
    }

    /** sales: shop -> article,amount. */
    static final class MinimumAmount {
        static void sales(StreamsBuilder b, String p, long minimum) {
            publish(b.<String, String>stream(p + "sales").filter((k, v) -> number(v, 1) >= minimum)
                .groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("revenue", NUMBER)), p + "revenue");
        }

        static void before(StreamsBuilder b, String p) { sales(b, p, 10); }
        static void after(StreamsBuilder b, String p) { sales(b, p, 20); }
    }

    /** payments: customer -> payment,amount. */
    static final class DuplicatesDropped {
        static void paid(KStream<String, String> payments, String p) {
            publish(payments.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("paid", NUMBER)), p + "paid");
        }

        static void before(StreamsBuilder b, String p) { paid(b.stream(p + "payments"), p); }

        static void after(StreamsBuilder b, String p) {
            b.addStateStore(Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore("seen-payments"), TEXT, TEXT));
            paid(b.<String, String>stream(p + "payments").process(() -> new FirstOnly("seen-payments"), Named.as("drop-duplicates"), "seen-payments"), p);
        }
    }

    /** sales: currency -> country,amount; rates: currency -> rate. */
    static final class OneCurrency {
        static void revenue(KStream<String, String> euros, String p) {
            KGroupedStream<String, String> countries = euros.groupBy((k, v) -> field(v, 0), Grouped.as("by-country"));
            publish(countries.aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("revenue", NUMBER)), p + "revenue");
            publishWindows(countries.windowedBy(minutes(5, 0)).count(), p + "sales-counts");
        }

        static void before(StreamsBuilder b, String p) {
            KTable<String, String> rates = b.table(p + "rates");
            revenue(b.<String, String>stream(p + "sales").join(rates, (v, rate) -> field(v, 0) + "," + number(v, 1) * Long.parseLong(rate)), p);
        }

        static void after(StreamsBuilder b, String p) { revenue(b.stream(p + "sales"), p); }
    }

    /** stock: article -> change. */
    static final class ExactlyOnce {
        static void build(StreamsBuilder b, String p) {
            KTable<String, Long> stock = b.<String, String>stream(p + "stock").groupByKey().aggregate(() -> 0L, (k, v, a) -> a + Long.parseLong(v), kept("stock", NUMBER));
            publish(stock, p + "levels");
            publish(stock.toStream().filter((k, v) -> v < 5).map((k, v) -> KeyValue.pair("" + k.charAt(0), 1L))
                .groupByKey(Grouped.with("by-shelf", TEXT, NUMBER)).reduce(Long::sum, kept("low", NUMBER)), p + "low-shelves");
        }
    }

    /** orders: customer -> amount. */
    static final class OrdersVersionTwo {
        static void spent(StreamsBuilder b, String p, String topic) {
            publish(b.<String, String>stream(p + topic, Consumed.with(TEXT, TEXT).withName("orders")).groupByKey(Grouped.as("customers"))
                .aggregate(() -> 0L, (k, v, a) -> a + Long.parseLong(v), Named.as("sum"), kept("spent", NUMBER)), p + "spent");
        }

        static void before(StreamsBuilder b, String p) { spent(b, p, "orders"); }
        static void after(StreamsBuilder b, String p) { spent(b, p, "orders.v2"); }
    }

    /** clicks and carts: visitor -> page. */
    static final class CartSessions {
        static KTable<Windowed<String>, Long> visits(StreamsBuilder b, String p) {
            return b.<String, String>stream(p + "clicks").merge(b.stream(p + "carts")).groupByKey()
                .windowedBy(SessionWindows.ofInactivityGapAndGrace(Duration.ofSeconds(30), Duration.ofSeconds(10))).count(session("visits"));
        }

        static void before(StreamsBuilder b, String p) { publishWindows(visits(b, p).filter((w, n) -> n != null), p + "visits"); }

        static void after(StreamsBuilder b, String p) {
            visits(b, p).toStream().peek((w, n) -> System.getLogger("visits").log(System.Logger.Level.DEBUG, w)).filter((w, n) -> n != null)
                .map((w, n) -> KeyValue.pair(at(w), "" + n)).to(p + "visits", Produced.with(Serdes.String(), Serdes.String()));
        }
    }
}
