import java.time.Duration;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.processor.api.ContextualFixedKeyProcessor;
import org.apache.kafka.streams.processor.api.FixedKeyRecord;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.TimestampedKeyValueStore;
import org.apache.kafka.streams.state.ValueAndTimestamp;

/** Applications of cheese dairies, greenhouses, blood banks, wine cellars, seed banks, beekeepers, solar roofs and choirs, each before and after a pull request. */
final class FourthCraft extends PullParts {
    private FourthCraft() { }

    /** wheels: wheel -> cave,grams; turns: wheel -> person,times. */
    static final class FilterBehindStream {
        static boolean isHeavy(String wheel, String value) { return number(value, 1) >= 1000; }

        static void all(StreamsBuilder b, KTable<String, String> wheels, KStream<String, String> heavy, String p) {
            publish(heavy, p + "heavy");
            publish(heavy.filter((k, v) -> v != null).groupBy((k, v) -> field(v, 0), Grouped.as("cave")).count(kept("heavy-of-cave", NUMBER)), p + "cave-counts");
            KStream<String, String> turns = b.<String, String>stream(p + "turns").leftJoin(wheels, (v, wheel) -> v + "," + (wheel == null ? "none" : field(wheel, 0)));
            publish(turns.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), unnamed(NUMBER)), p + "wheel-turns");
            publish(turns.groupBy((k, v) -> field(v, 2)).count(), p + "cave-turns");
        }

        static void before(StreamsBuilder b, String p) {
            KTable<String, String> wheels = b.table(p + "wheels", kept("wheels", TEXT));
            all(b, wheels, wheels.filter(FilterBehindStream::isHeavy).toStream(), p);
        }

        static void after(StreamsBuilder b, String p) {
            KTable<String, String> wheels = b.table(p + "wheels", kept("wheels", TEXT));
            all(b, wheels, wheels.toStream().filter((k, v) -> v != null && isHeavy(k, v)), p);
        }
    }

    /** readings: zone -> sensor,degrees; wishes: zone -> person,degrees. */
    static final class JoinTurnedRound {
        static final JoinWindows NEAR = JoinWindows.ofTimeDifferenceAndGrace(Duration.ofSeconds(40), Duration.ofSeconds(10));

        static void gaps(KStream<String, String> both, KStream<String, String> readings, String p) {
            publish(both, p + "gaps");
            publish(both.groupByKey().count(kept("gaps-of-zone", NUMBER)), p + "zone-gaps");
            publish(readings.groupBy((k, v) -> field(v, 0)).reduce((a, v) -> number(v, 1) > number(a, 1) ? v : a), p + "warmest");
        }

        static String gap(String reading, String wish) { return field(reading, 0) + ":" + (number(wish, 1) - number(reading, 1)); }

        static void before(StreamsBuilder b, String p) {
            KStream<String, String> readings = b.stream(p + "readings"), wishes = b.stream(p + "wishes");
            gaps(readings.join(wishes, JoinTurnedRound::gap, NEAR, StreamJoined.with(TEXT, TEXT, TEXT)), readings, p);
        }

        static void after(StreamsBuilder b, String p) {
            KStream<String, String> readings = b.stream(p + "readings"), wishes = b.stream(p + "wishes");
            gaps(wishes.join(readings, (wish, reading) -> gap(reading, wish), NEAR, StreamJoined.with(TEXT, TEXT, TEXT)), readings, p);
        }
    }

    /** donations: donor -> group,millilitres; uses: bag -> group,millilitres,ward. */
    static final class UsesCogrouped {
        static KGroupedStream<String, String> donated(KStream<String, String> donations, String p) {
            publish(donations.groupByKey().count(), p + "donor-counts");
            return donations.groupBy((k, v) -> field(v, 0), Grouped.as("donated"));
        }

        static void wards(KStream<String, String> uses, String p) {
            publish(uses.groupBy((k, v) -> field(v, 0), Grouped.as("used")).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("used-of-group", NUMBER)), p + "used");
            publishWindows(uses.groupBy((k, v) -> field(v, 2), Grouped.as("ward")).windowedBy(minutes(1, 10)).count(windowed("uses-of-ward")), p + "ward-minutes");
        }

        static void before(StreamsBuilder b, String p) {
            KStream<String, String> donations = b.stream(p + "donations"), uses = b.stream(p + "uses");
            publish(donated(donations, p).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("stock-of-group", NUMBER)), p + "stock");
            wards(uses, p);
        }

        static void after(StreamsBuilder b, String p) {
            KStream<String, String> donations = b.stream(p + "donations"), uses = b.stream(p + "uses");
            publish(donated(donations, p).<Long>cogroup((k, v, a) -> a + number(v, 1))
                .cogroup(uses.groupBy((k, v) -> field(v, 0), Grouped.as("taken")), (k, v, a) -> a - number(v, 1)).aggregate(() -> 0L, kept("stock-of-group", NUMBER)), p + "stock");
            wards(uses, p);
        }
    }

    /** bottles: bottle -> cellar,grape,cents; cellars: cellar -> keeper. */
    static final class InMemoryBySetting {
        static void build(StreamsBuilder b, String p) {
            KTable<String, String> cellars = b.table(p + "cellars");
            KStream<String, String> bottles = b.<String, String>stream(p + "bottles").filter((k, v) -> number(v, 2) > 0);
            publish(bottles.groupBy((k, v) -> field(v, 1)).aggregate(() -> 0L, (k, v, a) -> a + number(v, 2), unnamed(NUMBER)), p + "grape-cents");
            KStream<String, String> stored = bottles.selectKey((k, v) -> field(v, 0)).leftJoin(cellars, (v, keeper) -> keeper + "," + v);
            publish(stored.groupBy((k, v) -> field(v, 0), Grouped.as("keeper")).count(kept("bottles-of-keeper", NUMBER)), p + "keeper-counts");
            publishWindows(bottles.groupByKey().windowedBy(minutes(1, 10)).count(), p + "bottle-minutes");
        }
    }

    /** lots: lot -> species,grams; species: species -> family. */
    static final class RepartitionForOwnTopic {
        static void all(StreamsBuilder b, KStream<String, String> lots, KStream<String, String> sorted, String p) {
            KTable<String, String> species = b.table(p + "species", kept("species", TEXT));
            publish(sorted.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), unnamed(NUMBER)), p + "species-grams");
            publish(sorted.leftJoin(species, (v, family) -> family + "," + v).groupBy((k, v) -> field(v, 0), Grouped.as("family")).count(kept("lots-of-family", NUMBER)), p + "family-counts");
            publishWindows(lots.groupByKey().windowedBy(minutes(1, 10)).count(windowed("rows-of-lot")), p + "lot-minutes");
        }

        static void before(StreamsBuilder b, String p) {
            KStream<String, String> lots = b.<String, String>stream(p + "lots").filter((k, v) -> number(v, 1) > 0);
            lots.selectKey((k, v) -> field(v, 0)).to(p + "lots-by-species", Produced.with(TEXT, TEXT));
            all(b, lots, b.stream(p + "lots-by-species"), p);
        }

        static void after(StreamsBuilder b, String p) {
            KStream<String, String> lots = b.<String, String>stream(p + "lots").filter((k, v) -> number(v, 1) > 0);
            all(b, lots, lots.selectKey((k, v) -> field(v, 0)).repartition(Repartitioned.as("lots-by-species")), p);
        }
    }

    /** hives: hive -> kilos,degrees,site. */
    static final class ProcessorSplit {
        static final String[] FIELDS = {"kilos", "degrees"};

        /** Puts out how the fields that it is asked for differ from what it knows of the hive; each field has a store. */
        static final class Compare extends ContextualFixedKeyProcessor<String, String, String> {
            final int[] fields;
            Compare(int... fields) { this.fields = fields; }
            public void process(FixedKeyRecord<String, String> r) {
                for (int i : fields) {
                    KeyValueStore<String, Long> last = context().getStateStore("last-" + FIELDS[i]);
                    Long old = last.get(r.key());
                    last.put(r.key(), number(r.value(), i));
                    if (old != null) context().forward(r.withValue(FIELDS[i] + "," + (number(r.value(), i) - old)));
                }
            }
        }

        static KStream<String, String> hives(StreamsBuilder b, String p) {
            for (String field : FIELDS) b.addStateStore(Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore("last-" + field), TEXT, NUMBER));
            KStream<String, String> hives = b.stream(p + "hives");
            publish(hives.groupBy((k, v) -> field(v, 2)).count(), p + "site-counts");
            return hives;
        }

        static void changes(KStream<String, String> changes, String p) {
            publish(changes, p + "changes");
            publish(changes.groupBy((k, v) -> field(v, 0), Grouped.as("kind")).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("sum-of-kind", NUMBER)), p + "kind-sums");
            publish(changes.filter((k, v) -> number(v, 1) < 0).groupByKey().count(kept("losses-of-hive", NUMBER)), p + "losses");
        }

        static void before(StreamsBuilder b, String p) {
            changes(hives(b, p).processValues(() -> new Compare(0, 1), Named.as("compare"), "last-kilos", "last-degrees"), p);
        }

        static void after(StreamsBuilder b, String p) {
            KStream<String, String> hives = hives(b, p);
            changes(hives.processValues(() -> new Compare(0), Named.as("compare-kilos"), "last-kilos")
                .merge(hives.processValues(() -> new Compare(1), Named.as("compare-degrees"), "last-degrees")), p);
        }
    }

    /** watts: panel -> roof,watts; limits: panel -> watts. */
    static final class LimitFromTable {
        /** Passes on what is more than ever before of the panel; with limits, it says whether it is more than the panel's. */
        static final class Peak extends ContextualFixedKeyProcessor<String, String, String> {
            final boolean limited;
            Peak(boolean limited) { this.limited = limited; }
            public void process(FixedKeyRecord<String, String> r) {
                KeyValueStore<String, Long> peaks = context().getStateStore("peak-of-panel");
                Long old = peaks.get(r.key());
                long watts = number(r.value(), 1);
                if (old != null && old >= watts) return;
                peaks.put(r.key(), watts);
                context().forward(r.withValue(r.value() + "," + (limited ? level(r.key(), watts) : "peak")));
            }

            String level(String panel, long watts) {
                TimestampedKeyValueStore<String, String> limits = context().getStateStore("limits");
                ValueAndTimestamp<String> limit = limits.get(panel);
                return limit != null && watts > Long.parseLong(limit.value()) ? "over" : "peak";
            }
        }

        static void all(StreamsBuilder b, String p, boolean limited) {
            KTable<String, String> limits = b.table(p + "limits", kept("limits", TEXT));
            publish(limits, p + "limit-rows");
            b.addStateStore(Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore("peak-of-panel"), TEXT, NUMBER));
            KStream<String, String> watts = b.stream(p + "watts");
            publish(watts.groupBy((k, v) -> field(v, 0)).count(), p + "roof-counts");
            String[] stores = limited ? new String[] {"peak-of-panel", "limits"} : new String[] {"peak-of-panel"};
            KStream<String, String> peaks = watts.processValues(() -> new Peak(limited), Named.as("peaks"), stores);
            publish(peaks, p + "peaks");
            publish(peaks.groupBy((k, v) -> field(v, 0), Grouped.as("roof")).reduce((a, v) -> number(v, 1) > number(a, 1) ? v : a), p + "roof-peaks");
        }

        static void before(StreamsBuilder b, String p) { all(b, p, false); }
        static void after(StreamsBuilder b, String p) { all(b, p, true); }
    }

    /** signups: singer -> region,voice. */
    static final class OutputsByRegion {
        static KStream<String, String> signups(StreamsBuilder b, String p) {
            return b.<String, String>stream(p + "signups").filter((k, v) -> v.contains(",")).mapValues(v -> v.toLowerCase());
        }

        static void voices(KStream<String, String> signups, String p) {
            publish(signups.groupBy((k, v) -> field(v, 1)).count(), p + "voice-counts");
            publish(signups.groupByKey().reduce((a, v) -> a + "+" + field(v, 0)), p + "singer-regions");
            publishWindows(signups.groupBy((k, v) -> field(v, 0), Grouped.as("region")).windowedBy(minutes(1, 10)).count(windowed("signups-of-region")), p + "region-minutes");
        }

        static void before(StreamsBuilder b, String p) {
            KStream<String, String> signups = signups(b, p);
            signups.to(p + "singers", Produced.with(TEXT, TEXT));
            voices(signups, p);
        }

        static void after(StreamsBuilder b, String p) {
            KStream<String, String> signups = signups(b, p);
            signups.to((k, v, context) -> p + "singers-" + field(v, 0), Produced.with(TEXT, TEXT));
            voices(signups, p);
        }
    }
}
