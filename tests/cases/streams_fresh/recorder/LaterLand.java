import java.util.List;
import java.util.regex.Pattern;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.*;

/** Applications of farms, weather services, power grids and waterworks, each before and after a pull request. */
final class LaterLand extends PullParts {
    private LaterLand() { }

    /** milkings: cow -> barn,litres. */
    static final class BranchesOfMilk {
        static void much(KStream<String, String> s, String p) { publishWindows(s.groupBy((k, v) -> field(v, 0)).windowedBy(minutes(1, 10)).count(), p + "good-minutes"); }
        static void little(KStream<String, String> s, String p) { publish(s.groupByKey().count(), p + "little-counts"); }
        static void barns(KStream<String, String> s, String p) {
            publish(s.groupBy((k, v) -> field(v, 0), Grouped.as("barn")).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("litres-of-barn", NUMBER)), p + "barn-litres");
        }

        static void before(StreamsBuilder b, String p) {
            KStream<String, String> milkings = b.stream(p + "milkings");
            barns(milkings, p);
            much(milkings.filter((k, v) -> number(v, 1) >= 10), p);
            little(milkings.filterNot((k, v) -> number(v, 1) >= 10), p);
        }

        static void after(StreamsBuilder b, String p) {
            KStream<String, String> milkings = b.stream(p + "milkings");
            barns(milkings, p);
            milkings.split().branch((k, v) -> number(v, 1) >= 10, Branched.withConsumer(s -> much(s, p)))
                .defaultBranch(Branched.withConsumer(s -> little(s, p)));
        }
    }

    /** soil: probe -> field,moisture. */
    static final class WiderSoil {
        static void build(StreamsBuilder b, String p) {
            KStream<String, String> soil = b.<String, String>stream(p + "soil").filter((k, v) -> number(v, 1) >= 0);
            KTable<String, String> fields = soil.groupBy((k, v) -> field(v, 0)).reduce((a, v) -> number(v, 1) < number(a, 1) ? v : a);
            publish(fields, p + "driest");
            publish(fields.toStream().filter((k, v) -> number(v, 1) < 10).mapValues(v -> "water"), p + "orders");
        }
    }

    /** readings: station -> region,degrees. */
    static final class OneStreamForAll {
        static void warmest(KStream<String, String> readings, String p) {
            publish(readings.groupByKey().aggregate(() -> -99L, (k, v, a) -> Math.max(a, number(v, 1)), unnamed(NUMBER)), p + "warmest");
        }

        static void regions(KStream<String, String> readings, String p) {
            publish(readings.groupBy((k, v) -> field(v, 0)).count(), p + "region-counts");
        }

        static void frost(KStream<String, String> readings, String p) {
            publishWindows(readings.filter((k, v) -> number(v, 1) < 0).groupByKey().windowedBy(minutes(1, 10)).count(), p + "frost-minutes");
        }

        static void before(StreamsBuilder b, String p) {
            warmest(b.stream(p + "readings"), p);
            regions(b.stream(p + "readings"), p);
            frost(b.stream(p + "readings"), p);
        }

        static void after(StreamsBuilder b, String p) {
            KStream<String, String> readings = b.stream(p + "readings");
            warmest(readings, p);
            regions(readings, p);
            frost(readings, p);
        }
    }

    /** gusts: mast -> area,speed. */
    static final class ShorterWindow {
        static void gusts(StreamsBuilder b, String p, int size) {
            KStream<String, String> gusts = b.<String, String>stream(p + "gusts").filter((k, v) -> number(v, 1) > 50);
            publish(gusts.groupByKey().count(), p + "mast-counts");
            publishWindows(gusts.groupBy((k, v) -> field(v, 0)).windowedBy(minutes(size, 30)).count(), p + "area-counts");
        }

        static void before(StreamsBuilder b, String p) { gusts(b, p, 10); }
        static void after(StreamsBuilder b, String p) { gusts(b, p, 5); }
    }

    /** rain: gauge -> station,millimetres; stations: station -> region. */
    static final class StationRepartitioned {
        static void regions(KTable<String, Long> sums, StreamsBuilder b, String p) {
            publish(sums, p + "station-sums");
            KTable<String, String> stations = b.table(p + "stations");
            KStream<String, String> wet = sums.toStream().leftJoin(stations, (sum, region) -> region + "," + sum);
            publish(wet.groupBy((k, v) -> field(v, 0)).reduce((a, v) -> number(v, 1) > number(a, 1) ? v : a), p + "wettest");
        }

        static void before(StreamsBuilder b, String p) {
            regions(b.<String, String>stream(p + "rain").groupBy((k, v) -> field(v, 0), Grouped.as("station"))
                .aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("rain-of-station", NUMBER)), b, p);
        }

        static void after(StreamsBuilder b, String p) {
            regions(b.<String, String>stream(p + "rain").selectKey((k, v) -> field(v, 0)).repartition(Repartitioned.as("station")).groupByKey()
                .aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("rain-of-station", NUMBER)), b, p);
        }
    }

    /** loads: substation -> area,megawatts; limits: area -> megawatts. */
    static final class LoadStoreRenamed {
        static void loads(StreamsBuilder b, String p, String store) {
            KTable<String, String> limits = b.table(p + "limits", kept("limits", TEXT));
            KTable<String, Long> loads = b.<String, String>stream(p + "loads").groupBy((k, v) -> field(v, 0)).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept(store, NUMBER));
            publish(loads.leftJoin(limits, PullParts::pair), p + "area-loads");
            publish(loads.toStream().filter((k, v) -> v > 100).groupByKey(Grouped.with("peaks", TEXT, NUMBER)).count(kept("peaks", NUMBER)), p + "peak-counts");
        }

        static void before(StreamsBuilder b, String p) { loads(b, p, "load"); }
        static void after(StreamsBuilder b, String p) { loads(b, p, "load-of-area"); }
    }

    /** faults: line -> area,minutes; areas: area -> operator. */
    static final class FaultsOptimised {
        static void build(StreamsBuilder b, String p) {
            KTable<String, String> areas = b.table(p + "areas");
            KStream<String, String> faults = b.<String, String>stream(p + "faults").selectKey((k, v) -> field(v, 0));
            publish(faults.groupByKey(Grouped.as("faults")).count(kept("faults-of-area", NUMBER)), p + "fault-counts");
            publish(faults.groupByKey(Grouped.as("minutes")).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("minutes-of-area", NUMBER)), p + "fault-minutes");
            publish(faults.join(areas, (v, operator) -> operator + "," + v, Joined.as("operator")), p + "operator-faults");
        }
    }

    /** meters: meter -> tariff,watts. */
    static final class DashboardRemoved {
        static void all(StreamsBuilder b, String p, boolean dashboard) {
            KStream<String, String> meters = b.<String, String>stream(p + "meters").filter((k, v) -> number(v, 1) >= 0);
            publish(meters.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), unnamed(NUMBER)), p + "meter-watts");
            if (dashboard) publishWindows(meters.groupBy((k, v) -> field(v, 0)).windowedBy(minutes(1, 10)).count(), p + "tariff-minutes");
            publish(meters.groupBy((k, v) -> field(v, 0)).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), unnamed(NUMBER)), p + "tariff-watts");
            publish(meters.groupBy((k, v) -> field(v, 0), Grouped.as("meters")).count(kept("readings-of-tariff", NUMBER)), p + "tariff-counts");
        }

        static void before(StreamsBuilder b, String p) { all(b, p, true); }
        static void after(StreamsBuilder b, String p) { all(b, p, false); }
    }

    /** gauges-*: gauge -> river,level. */
    static final class GaugesByPattern {
        static void levels(KStream<String, String> gauges, String p) {
            KStream<String, String> known = gauges.filter((k, v) -> number(v, 1) >= 0);
            publish(known.groupByKey().reduce((a, v) -> number(v, 1) > number(a, 1) ? v : a), p + "highest");
            publish(known.groupBy((k, v) -> field(v, 0)).count(), p + "river-counts");
        }

        static void before(StreamsBuilder b, String p) { levels(b.stream(List.of(p + "gauges-north", p + "gauges-south")), p); }
        static void after(StreamsBuilder b, String p) { levels(b.stream(Pattern.compile(p + "gauges-.*")), p); }
    }
}
