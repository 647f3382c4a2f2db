import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.processor.api.ContextualFixedKeyProcessor;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.FixedKeyRecord;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.RocksDBConfigSetter;
import org.apache.kafka.streams.state.Stores;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.CompactionStyle;
import org.rocksdb.Options;

/**
 * Applications of piano tuners, locksmiths, shipyards, quarries, watchmakers, brickyards, carpet weavers, umbrella makers, paint mixers,
 * glass blowers, potters, bookbinders and sculptors, each before and after a pull request.
 */
final class SixthCrafts extends PullParts {
    private SixthCrafts() { }

    /** tunings: tuning -> piano,cents; pianos: piano -> hall. */
    static final class GlobalTableForStore {
        /** Keeps each row of a topic. */
        static final class Keep extends ContextualProcessor<String, String, Void, Void> {
            public void process(Record<String, String> r) { context().<KeyValueStore<String, String>>getStateStore("pianos").put(r.key(), r.value()); }
        }

        /** Puts the hall of the piano in front. */
        static final class WithHall extends ContextualFixedKeyProcessor<String, String, String> {
            public void process(FixedKeyRecord<String, String> r) {
                String hall = context().<KeyValueStore<String, String>>getStateStore("pianos").get(field(r.value(), 0));
                context().forward(r.withValue(hall + "," + r.value()));
            }
        }

        static KStream<String, String> tunings(StreamsBuilder b, String p) {
            KStream<String, String> tunings = b.<String, String>stream(p + "tunings").filter((k, v) -> number(v, 1) > 0);
            publish(tunings.groupBy((k, v) -> field(v, 0)).count(), p + "piano-counts");
            return tunings;
        }

        static void halls(KStream<String, String> placed, String p) {
            publish(placed.groupBy((k, v) -> field(v, 0)).aggregate(() -> 0L, (k, v, a) -> a + number(v, 2), unnamed(NUMBER)), p + "hall-cents");
            publishWindows(placed.groupBy((k, v) -> field(v, 0), Grouped.as("hall")).windowedBy(minutes(1, 10)).count(windowed("tunings-of-hall")), p + "hall-minutes");
        }

        static void before(StreamsBuilder b, String p) {
            b.addGlobalStore(Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore("pianos"), TEXT, TEXT), p + "pianos", Consumed.with(TEXT, TEXT), () -> new Keep());
            halls(tunings(b, p).processValues(() -> new WithHall()), p);
        }

        static void after(StreamsBuilder b, String p) {
            GlobalKTable<String, String> pianos = b.globalTable(p + "pianos", kept("pianos", TEXT));
            halls(tunings(b, p).leftJoin(pianos, (k, v) -> field(v, 0), (v, hall) -> hall + "," + v), p);
        }
    }

    /** cut and lost: lock -> keys,customer. */
    static final class OneProcessor {
        /** Counts the keys of a lock and puts their number in front. */
        static final class Counted extends ContextualProcessor<String, String, String, String> {
            final long sign;
            Counted(long sign) { this.sign = sign; }
            public void process(Record<String, String> r) {
                KeyValueStore<String, Long> keys = context().getStateStore("keys-of-lock");
                Long known = keys.get(r.key());
                long now = (known == null ? 0 : known) + sign * number(r.value(), 0);
                keys.put(r.key(), now);
                context().forward(r.withValue(now + "," + field(r.value(), 1)));
            }
        }

        static void store(StreamsBuilder b) { b.addStateStore(Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore("keys-of-lock"), TEXT, NUMBER)); }

        static void locks(KStream<String, String> counted, String p) {
            publish(counted, p + "lock-keys");
            publish(counted.groupBy((k, v) -> field(v, 1)).count(), p + "customer-counts");
            publishWindows(counted.groupBy((k, v) -> field(v, 1), Grouped.as("customer")).windowedBy(minutes(1, 10)).count(windowed("rows-of-customer")), p + "customer-minutes");
        }

        static void before(StreamsBuilder b, String p) {
            store(b);
            KStream<String, String> cut = b.stream(p + "cut"), lost = b.stream(p + "lost");
            locks(cut.process(() -> new Counted(1), "keys-of-lock").merge(lost.process(() -> new Counted(-1), "keys-of-lock")), p);
        }

        static void after(StreamsBuilder b, String p) {
            store(b);
            KStream<String, String> cut = b.stream(p + "cut"), lost = b.stream(p + "lost");
            locks(cut.merge(lost.mapValues(v -> "-" + v)).process(() -> new Counted(1), "keys-of-lock"), p);
        }
    }

    /** hulls: hull -> yard,kind,tons. */
    static final class ReduceForAggregate {
        static KGroupedTable<String, Long> yards(StreamsBuilder b, String p) {
            KTable<String, String> hulls = b.table(p + "hulls", kept("hulls", TEXT));
            publish(hulls.groupBy((k, v) -> KeyValue.pair(field(v, 1), k)).count(), p + "kind-counts");
            return hulls.groupBy((k, v) -> KeyValue.pair(field(v, 0), number(v, 2)), Grouped.with("yard", TEXT, NUMBER));
        }

        static void tons(KTable<String, Long> tons, String p) {
            publish(tons, p + "yard-tons");
            publish(tons.groupBy((k, n) -> KeyValue.pair(n >= 1000 ? "large" : "small", k)).count(), p + "size-counts");
        }

        static void before(StreamsBuilder b, String p) { tons(yards(b, p).aggregate(() -> 0L, (k, n, a) -> a + n, (k, n, a) -> a - n, kept("tons-of-yard", NUMBER)), p); }
        static void after(StreamsBuilder b, String p) { tons(yards(b, p).reduce(Long::sum, (a, n) -> a - n, kept("tons-of-yard", NUMBER)), p); }
    }

    /** blasts: blast -> face,stone,tons. */
    static final class GroupingsNamed {
        static void all(StreamsBuilder b, String p, Function<String, Grouped<String, String>> grouped) {
            KStream<String, String> blasts = b.<String, String>stream(p + "blasts").filter((k, v) -> number(v, 2) > 0);
            publish(blasts.groupBy((k, v) -> field(v, 0), grouped.apply("face")).aggregate(() -> 0L, (k, v, a) -> a + number(v, 2), unnamed(NUMBER)), p + "face-tons");
            publish(blasts.groupBy((k, v) -> field(v, 1), grouped.apply("stone")).reduce((a, v) -> number(v, 2) > number(a, 2) ? v : a), p + "largest");
            publishWindows(blasts.groupBy((k, v) -> field(v, 0), grouped.apply("lately")).windowedBy(minutes(1, 10)).count(), p + "face-minutes");
        }

        static void before(StreamsBuilder b, String p) { all(b, p, name -> Grouped.with(TEXT, TEXT)); }
        static void after(StreamsBuilder b, String p) { all(b, p, name -> Grouped.with(name, TEXT, TEXT)); }
    }

    /** repairs: watch -> kind,maker,cents. */
    static final class BranchesInAMap {
        static KStream<String, String> repairs(StreamsBuilder b, String p) {
            KStream<String, String> repairs = b.<String, String>stream(p + "repairs").filter((k, v) -> number(v, 2) > 0);
            publish(repairs.groupBy((k, v) -> field(v, 1)).count(), p + "maker-counts");
            return repairs;
        }

        static boolean quartz(String watch, String repair) { return field(repair, 0).equals("quartz"); }
        static boolean pocket(String watch, String repair) { return field(repair, 0).equals("pocket"); }
        static KTable<String, Long> cents(KStream<String, String> repairs) { return repairs.groupBy((k, v) -> field(v, 1)).aggregate(() -> 0L, (k, v, a) -> a + number(v, 2), unnamed(NUMBER)); }
        static KTable<String, String> dearest(KStream<String, String> repairs) {
            return repairs.groupBy((k, v) -> field(v, 1), Grouped.as("pocket-maker")).reduce((a, v) -> number(v, 2) > number(a, 2) ? v : a, kept("dearest-pocket", TEXT));
        }
        static KTable<String, Long> rows(KStream<String, String> repairs) { return repairs.groupByKey().count(); }

        static void before(StreamsBuilder b, String p) {
            repairs(b, p).split()
                .branch(BranchesInAMap::quartz, Branched.withConsumer(s -> publish(cents(s), p + "quartz-cents")))
                .branch(BranchesInAMap::pocket, Branched.withConsumer(s -> publish(dearest(s), p + "dearest-pocket")))
                .defaultBranch(Branched.withConsumer(s -> publish(rows(s), p + "other-counts")));
        }

        static void after(StreamsBuilder b, String p) {
            Map<String, KStream<String, String>> kinds = repairs(b, p).split(Named.as("repairs-"))
                .branch(BranchesInAMap::quartz, Branched.as("quartz"))
                .branch(BranchesInAMap::pocket, Branched.as("pocket"))
                .defaultBranch(Branched.as("other"));
            publish(cents(kinds.get("repairs-quartz")), p + "quartz-cents");
            publish(dearest(kinds.get("repairs-pocket")), p + "dearest-pocket");
            publish(rows(kinds.get("repairs-other")), p + "other-counts");
        }
    }

    /** loads: lorry -> kind:bricks|kind:bricks. */
    static final class FlatMapValues {
        static List<String> kinds(String load) { return Arrays.stream(load.split("\\|")).map(s -> s.replace(':', ',')).toList(); }

        static KStream<String, String> loads(StreamsBuilder b, String p) {
            KStream<String, String> loads = b.<String, String>stream(p + "loads").filter((k, v) -> v.contains(":"));
            publish(loads.groupByKey().count(), p + "load-counts");
            return loads;
        }

        static void bricks(KStream<String, String> bricks, String p) {
            publish(bricks.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("bricks-of-lorry", NUMBER)), p + "lorry-bricks");
            publish(bricks.groupBy((k, v) -> field(v, 0), Grouped.as("kind")).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("bricks-of-kind", NUMBER)), p + "kind-bricks");
        }

        static void before(StreamsBuilder b, String p) { bricks(loads(b, p).flatMap((k, v) -> kinds(v).stream().map(s -> KeyValue.pair(k, s)).toList()), p); }
        static void after(StreamsBuilder b, String p) { bricks(loads(b, p).flatMapValues(v -> kinds(v)), p); }
    }

    /** knots: loom -> knots; weavers: loom -> weaver,pattern. */
    static final class ViewNotKept {
        static void weavers(KTable<String, String> working, KTable<String, String> weavers, String p) {
            publish(working, p + "working");
            publish(working.groupBy((k, v) -> KeyValue.pair(field(v, 0), v), Grouped.as("weaver")).aggregate(() -> 0L, (k, v, a) -> a + number(v, 2), (k, v, a) -> a - number(v, 2), kept("knots-of-weaver", NUMBER)), p + "weaver-knots");
            publish(weavers.groupBy((k, v) -> KeyValue.pair(field(v, 1), k)).count(), p + "pattern-counts");
        }

        static void before(StreamsBuilder b, String p) {
            KTable<String, String> knots = b.table(p + "knots", kept("knots", TEXT)), weavers = b.table(p + "weavers", kept("weavers", TEXT));
            weavers(weavers.join(knots, (v, n) -> v + "," + n, kept("working-looms", TEXT)), weavers, p);
        }

        static void after(StreamsBuilder b, String p) {
            KTable<String, String> knots = b.table(p + "knots", kept("knots", TEXT)), weavers = b.table(p + "weavers", kept("weavers", TEXT));
            weavers(weavers.join(knots, (v, n) -> v + "," + n), weavers, p);
        }
    }

    /** repairs: umbrella -> stand,cents; stands: stand -> town. */
    static final class ValuesInJoiner {
        static KTable<String, String> stands(StreamsBuilder b, String p) { return b.table(p + "stands", kept("stands", TEXT)); }

        static KStream<String, String> byStand(StreamsBuilder b, String p) {
            KStream<String, String> repairs = b.<String, String>stream(p + "repairs").filter((k, v) -> number(v, 1) > 0);
            publish(repairs.groupByKey().count(), p + "umbrella-counts");
            return repairs.selectKey((k, v) -> field(v, 0));
        }

        static void towns(KStream<String, String> placed, String p) {
            publish(placed.groupBy((k, v) -> field(v, 0), Grouped.as("town")).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("cents-of-town", NUMBER)), p + "town-cents");
            publish(placed.groupByKey().reduce((a, v) -> number(v, 1) > number(a, 1) ? v : a), p + "dearest");
            publishWindows(placed.groupBy((k, v) -> field(v, 0)).windowedBy(minutes(1, 10)).count(), p + "town-minutes");
        }

        static void before(StreamsBuilder b, String p) {
            KTable<String, String> stands = stands(b, p);
            towns(byStand(b, p).leftJoin(stands, (v, town) -> v + "," + town, Joined.as("town-of-repair")).mapValues(v -> field(v, 2) + "," + field(v, 1)), p);
        }

        static void after(StreamsBuilder b, String p) {
            KTable<String, String> stands = stands(b, p);
            towns(byStand(b, p).leftJoin(stands, (v, town) -> town + "," + field(v, 1), Joined.as("town-of-repair")), p);
        }
    }

    /** mixes: tone -> litres,customer; recipes: tone -> pigment. */
    static final class RecipesKeptLonger {
        static void all(StreamsBuilder b, String p, Duration kept) {
            KTable<String, String> recipes = b.table(p + "recipes", Materialized.<String, String>as(Stores.persistentVersionedKeyValueStore("recipes", kept)).withKeySerde(TEXT).withValueSerde(TEXT));
            KStream<String, String> mixes = b.stream(p + "mixes");
            publish(mixes.groupBy((k, v) -> field(v, 1)).count(), p + "customer-counts");
            KStream<String, String> mixed = mixes.leftJoin(recipes, (v, pigment) -> pigment + "," + v);
            publish(mixed, p + "mixed");
            publish(mixed.groupBy((k, v) -> field(v, 0), Grouped.as("pigment")).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("litres-of-pigment", NUMBER)), p + "pigment-litres");
        }

        static void before(StreamsBuilder b, String p) { all(b, p, Duration.ofMinutes(2)); }
        static void after(StreamsBuilder b, String p) { all(b, p, Duration.ofMinutes(30)); }
    }

    /** pieces: piece -> blower,oven,grams; ovens: oven -> degrees. */
    static final class Tuned {
        /** A filter for look-ups, larger blocks, and compaction by levels. */
        public static final class ForLookUps implements RocksDBConfigSetter {
            private final BloomFilter filter = new BloomFilter();
            public ForLookUps() { }
            public void setConfig(String store, Options options, Map<String, Object> configs) {
                BlockBasedTableConfig table = (BlockBasedTableConfig) options.tableFormatConfig();
                table.setFilterPolicy(filter).setBlockSize(16 * 1024L);
                options.setTableFormatConfig(table);
                options.setCompactionStyle(CompactionStyle.LEVEL);
            }
            public void close(String store, Options options) { filter.close(); }
        }

        static void build(StreamsBuilder b, String p) {
            KTable<String, String> ovens = b.table(p + "ovens");
            KStream<String, String> pieces = b.<String, String>stream(p + "pieces").filter((k, v) -> number(v, 2) > 0);
            publish(pieces.groupBy((k, v) -> field(v, 0)).count(), p + "blower-counts");
            publish(pieces.selectKey((k, v) -> field(v, 1)).leftJoin(ovens, (v, degrees) -> degrees + "," + v, Joined.as("oven")).groupByKey()
                .aggregate(() -> "", (k, v, a) -> a + "+" + field(v, 0), kept("degrees-of-oven", TEXT)), p + "oven-degrees");
            publishWindows(pieces.groupBy((k, v) -> field(v, 0)).windowedBy(minutes(1, 10)).count(), p + "blower-minutes");
        }
    }

    /** pieces: piece -> potter,glaze,hours; between: glaze -> piece,hours. */
    static final class BetweenTopicRenamed {
        static void all(StreamsBuilder b, String p, String between) {
            KStream<String, String> pieces = b.<String, String>stream(p + "pieces").filter((k, v) -> number(v, 2) > 0);
            publish(pieces.groupBy((k, v) -> field(v, 0)).count(), p + "potter-counts");
            pieces.map((k, v) -> KeyValue.pair(field(v, 1), k + "," + field(v, 2))).to(p + between, Produced.with(TEXT, TEXT));
            KStream<String, String> glazed = b.stream(p + between, Consumed.with(TEXT, TEXT));
            publish(glazed.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("hours-of-glaze", NUMBER)), p + "glaze-hours");
            publishWindows(glazed.groupByKey().windowedBy(minutes(1, 10)).count(), p + "glaze-minutes");
        }

        static void before(StreamsBuilder b, String p) { all(b, p, "glazed"); }
        static void after(StreamsBuilder b, String p) { all(b, p, "pieces-by-glaze"); }
    }

    /** volumes: volume -> binder,cloth,pages; binders: binder -> town. */
    static final class HeadersGivenUp {
        static void build(StreamsBuilder b, String p) {
            KTable<String, String> binders = b.table(p + "binders", kept("binders", TEXT));
            KStream<String, String> volumes = b.<String, String>stream(p + "volumes").filter((k, v) -> number(v, 2) > 0);
            publish(volumes.groupBy((k, v) -> field(v, 1)).reduce((a, v) -> number(v, 2) > number(a, 2) ? v : a), p + "thickest");
            publish(volumes.selectKey((k, v) -> field(v, 0)).leftJoin(binders, (v, town) -> town + "," + v, Joined.as("town")).groupBy((k, v) -> field(v, 0), Grouped.as("town-pages"))
                .aggregate(() -> 0L, (k, v, a) -> a + number(v, 3), kept("pages-of-town", NUMBER)), p + "town-pages");
        }
    }

    /** blocks: block -> quarry,kilos; orders: order -> block,sculptor. */
    static final class SourceTopicsToo {
        static void build(StreamsBuilder b, String p) {
            KTable<String, String> blocks = b.table(p + "blocks", kept("blocks", TEXT)), sculptors = b.table(p + "sculptors");
            KStream<String, String> orders = b.stream(p + "orders");
            KStream<String, String> placed = orders.selectKey((k, v) -> field(v, 0)).leftJoin(blocks, (v, block) -> v + "," + block);
            publish(placed, p + "placed");
            publish(placed.groupBy((k, v) -> field(v, 1), Grouped.as("sculptor")).aggregate(() -> 0L, (k, v, a) -> a + number(v, 3), kept("kilos-of-sculptor", NUMBER)).leftJoin(sculptors, (n, town) -> n + "," + town), p + "sculptor-kilos");
            publish(blocks.groupBy((k, v) -> KeyValue.pair(field(v, 0), k)).count(), p + "quarry-counts");
        }
    }
}
