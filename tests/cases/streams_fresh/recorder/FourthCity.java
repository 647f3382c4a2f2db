import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;

/** Applications of pharmacies, post offices, vets, chess clubs, wikis, tailors, customs, embassies, tolls, lifts, archives and kennels, each before and after a pull request. */
final class FourthCity extends PullParts {
    private FourthCity() { }

    /** fills: patient -> drug,units,shop; drugs: drug -> class. */
    static final class OneFilter {
        static void all(KStream<String, String> fills, KTable<String, String> drugs, String p) {
            publish(fills.groupByKey().count(), p + "patient-fills");
            publish(fills.selectKey((k, v) -> field(v, 0)).leftJoin(drugs, (v, kind) -> kind + "," + field(v, 1), Joined.as("drug"))
                .groupBy((k, v) -> field(v, 0), Grouped.as("class")).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("units-of-class", NUMBER)), p + "class-units");
            publishWindows(fills.groupBy((k, v) -> field(v, 2), Grouped.as("shop")).windowedBy(minutes(1, 10)).count(windowed("fills-of-shop")), p + "shop-minutes");
        }

        static void before(StreamsBuilder b, String p) {
            KTable<String, String> drugs = b.table(p + "drugs");
            all(b.<String, String>stream(p + "fills").filter((k, v) -> v.split(",").length == 3).filter((k, v) -> number(v, 1) > 0), drugs, p);
        }

        static void after(StreamsBuilder b, String p) {
            KTable<String, String> drugs = b.table(p + "drugs");
            all(b.<String, String>stream(p + "fills").filter((k, v) -> v.split(",").length == 3 && number(v, 1) > 0), drugs, p);
        }
    }

    /** parcels: parcel -> office,size,grams. */
    static final class SplitBySize {
        static KStream<String, String> offices(StreamsBuilder b, String p) {
            KStream<String, String> parcels = b.stream(p + "parcels");
            publish(parcels.groupBy((k, v) -> field(v, 0)).count(), p + "office-counts");
            return parcels;
        }

        static void small(KStream<String, String> parcels, String p) {
            publish(parcels.groupBy((k, v) -> field(v, 0), Grouped.as("small")).count(kept("small-of-office", NUMBER)), p + "small-counts");
        }

        static void large(KStream<String, String> parcels, String p) {
            publish(parcels.groupBy((k, v) -> field(v, 0), Grouped.as("large")).aggregate(() -> 0L, (k, v, a) -> a + number(v, 2), unnamed(NUMBER)), p + "large-grams");
            publishWindows(parcels.groupByKey().windowedBy(minutes(1, 10)).count(), p + "large-minutes");
        }

        static void before(StreamsBuilder b, String p) {
            KStream<String, String> parcels = offices(b, p);
            small(parcels.filter((k, v) -> field(v, 1).equals("small")), p);
            large(parcels.filter((k, v) -> field(v, 1).equals("large")), p);
        }

        static void after(StreamsBuilder b, String p) {
            offices(b, p).split().branch((k, v) -> field(v, 1).equals("small"), Branched.withConsumer(s -> small(s, p)))
                .branch((k, v) -> field(v, 1).equals("large"), Branched.withConsumer(s -> large(s, p))).noDefaultBranch();
        }
    }

    /** treatments: pet -> vet,kind,cents; pets: pet -> owner. */
    static final class SomeStepsNamed {
        static void before(StreamsBuilder b, String p) {
            KTable<String, String> pets = b.table(p + "pets");
            KStream<String, String> treatments = b.<String, String>stream(p + "treatments").filter((k, v) -> number(v, 2) > 0).mapValues(v -> v.toLowerCase());
            publish(treatments.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 2), unnamed(NUMBER)), p + "pet-cents");
            KStream<String, String> owned = treatments.leftJoin(pets, (v, owner) -> owner + "," + v);
            publish(owned.groupBy((k, v) -> field(v, 0)).count(), p + "owner-counts");
            publishWindows(owned.groupBy((k, v) -> field(v, 1), Grouped.as("vet")).windowedBy(minutes(1, 10)).count(windowed("treatments-of-vet")), p + "vet-minutes");
        }

        static void after(StreamsBuilder b, String p) {
            KTable<String, String> pets = b.table(p + "pets");
            KStream<String, String> treatments = b.<String, String>stream(p + "treatments", Consumed.as("treatments-input"))
                .filter((k, v) -> number(v, 2) > 0, Named.as("paid-for")).mapValues(v -> v.toLowerCase(), Named.as("lower-case"));
            publish(treatments.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 2), Named.as("cents-of-pet"), unnamed(NUMBER)), p + "pet-cents");
            KStream<String, String> owned = treatments.leftJoin(pets, (v, owner) -> owner + "," + v, Joined.as("owner-of-pet"));
            publish(owned.groupBy((k, v) -> field(v, 0)).count(Named.as("count-of-owner")), p + "owner-counts");
            publishWindows(owned.groupBy((k, v) -> field(v, 1), Grouped.as("vet")).windowedBy(minutes(1, 10)).count(windowed("treatments-of-vet")), p + "vet-minutes");
        }
    }

    /** games: game -> white,opening,moves; players: player -> club; ratings: player -> points. */
    static final class PartsInOtherOrder {
        static void openings(KStream<String, String> games, String p) { publish(games.groupBy((k, v) -> field(v, 1)).count(), p + "opening-counts"); }

        static void clubs(StreamsBuilder b, KStream<String, String> games, String p) {
            KTable<String, String> players = b.table(p + "players", kept("players", TEXT));
            publish(games.selectKey((k, v) -> field(v, 0)).leftJoin(players, (v, club) -> club + "," + v, Joined.as("player"))
                .groupBy((k, v) -> field(v, 0), Grouped.as("club")).count(kept("games-of-club", NUMBER)), p + "club-counts");
        }

        static void lately(KStream<String, String> games, String p) { publishWindows(games.groupByKey().windowedBy(minutes(1, 10)).count(), p + "game-minutes"); }

        static void moves(KStream<String, String> games, String p) {
            publish(games.groupBy((k, v) -> field(v, 1), Grouped.as("moves")).aggregate(() -> 0L, (k, v, a) -> a + number(v, 2), unnamed(NUMBER)), p + "opening-moves");
        }

        static void ratings(StreamsBuilder b, String p) {
            publish(b.<String, String>stream(p + "ratings").groupByKey().reduce((a, v) -> number(v, 0) > number(a, 0) ? v : a), p + "best-ratings");
        }

        static void before(StreamsBuilder b, String p) {
            KStream<String, String> games = b.<String, String>stream(p + "games").filter((k, v) -> number(v, 2) > 0);
            openings(games, p);
            clubs(b, games, p);
            lately(games, p);
            moves(games, p);
            ratings(b, p);
        }

        static void after(StreamsBuilder b, String p) {
            KStream<String, String> games = b.<String, String>stream(p + "games").filter((k, v) -> number(v, 2) > 0);
            moves(games, p);
            openings(games, p);
            lately(games, p);
            clubs(b, games, p);
            ratings(b, p);
        }
    }

    /** edits: page -> user,bytes; pages: page -> topic. */
    static final class SerdesGiven {
        static void before(StreamsBuilder b, String p) {
            KTable<String, String> pages = b.table(p + "pages");
            KStream<String, String> edits = b.<String, String>stream(p + "edits").filter((k, v) -> number(v, 1) != 0);
            edits.groupByKey().reduce((a, v) -> a + "+" + field(v, 0)).toStream().to(p + "page-users");
            KStream<String, String> placed = edits.leftJoin(pages, (v, topic) -> topic + "," + v);
            publish(placed.groupBy((k, v) -> field(v, 0)).count(), p + "topic-counts");
            publish(placed.groupBy((k, v) -> field(v, 1), Grouped.as("user")).aggregate(() -> 0L, (k, v, a) -> a + number(v, 2), kept("bytes-of-user", NUMBER)), p + "user-bytes");
        }

        /** Reads the inputs, and puts out, with serdes of its own. */
        static final class Inputs {
            final StreamsBuilder builder;
            final String prefix;
            Inputs(StreamsBuilder builder, String prefix) { this.builder = builder; this.prefix = prefix; }
            KTable<String, String> pages() { return builder.table(prefix + "pages", Consumed.with(TEXT, TEXT)); }
            KStream<String, String> edits() { return builder.stream(prefix + "edits", Consumed.with(TEXT, TEXT)).filter(Inputs::changes); }
            static boolean changes(String page, String edit) { return number(edit, 1) != 0; }
        }

        static String added(String users, String edit) { return users + "+" + field(edit, 0); }
        static String placed(String edit, String topic) { return topic + "," + edit; }

        static void after(StreamsBuilder b, String p) {
            Inputs inputs = new Inputs(b, p);
            KTable<String, String> pages = inputs.pages();
            KStream<String, String> edits = inputs.edits();
            edits.groupByKey(Grouped.with(TEXT, TEXT)).reduce(SerdesGiven::added, unnamed(TEXT)).toStream().to(p + "page-users", Produced.with(TEXT, TEXT));
            KStream<String, String> placed = edits.leftJoin(pages, SerdesGiven::placed, Joined.with(TEXT, TEXT, TEXT));
            publish(placed.groupBy((k, v) -> field(v, 0), Grouped.with(TEXT, TEXT)).count(unnamed(NUMBER)), p + "topic-counts");
            publish(placed.groupBy((k, v) -> field(v, 1), Grouped.with("user", TEXT, TEXT)).aggregate(() -> 0L, (k, v, a) -> a + number(v, 2), kept("bytes-of-user", NUMBER)), p + "user-bytes");
        }
    }

    /** seams: order -> cloth,tailor,minutes. */
    static final class GroupByForSelectKey {
        static void cloths(KGroupedStream<String, String> counted, KGroupedStream<String, String> summed, String p) {
            publish(counted.count(kept("seams-of-cloth", NUMBER)), p + "cloth-counts");
            publish(summed.aggregate(() -> 0L, (k, v, a) -> a + number(v, 2), unnamed(NUMBER)), p + "cloth-minutes");
        }

        static void tailors(KStream<String, String> seams, String p) {
            publishWindows(seams.groupBy((k, v) -> field(v, 1)).windowedBy(minutes(1, 10)).count(), p + "tailor-minutes");
            publish(seams.groupByKey().reduce((a, v) -> a + "+" + field(v, 1), kept("tailors-of-order", TEXT)), p + "order-tailors");
        }

        static void before(StreamsBuilder b, String p) {
            KStream<String, String> seams = b.<String, String>stream(p + "seams").filter((k, v) -> number(v, 2) > 0);
            KStream<String, String> cloths = seams.selectKey((k, v) -> field(v, 0));
            cloths(cloths.groupByKey(), cloths.groupByKey(), p);
            tailors(seams, p);
        }

        static void after(StreamsBuilder b, String p) {
            KStream<String, String> seams = b.<String, String>stream(p + "seams").filter((k, v) -> number(v, 2) > 0);
            cloths(seams.groupBy((k, v) -> field(v, 0)), seams.groupBy((k, v) -> field(v, 0)), p);
            tailors(seams, p);
        }
    }

    /** declared: lorry -> country,kind,euros. */
    static final class FilterBehindReduce {
        static KStream<String, String> declared(StreamsBuilder b, String p) {
            KStream<String, String> declared = b.stream(p + "declared");
            publish(declared.groupByKey().count(), p + "lorry-counts");
            publishWindows(declared.groupBy((k, v) -> field(v, 1)).windowedBy(minutes(1, 10)).count(), p + "kind-minutes");
            return declared;
        }

        static KTable<String, String> sums(KStream<String, String> declared) {
            return declared.map((k, v) -> KeyValue.pair(field(v, 0), field(v, 2))).groupByKey(Grouped.as("country"))
                .reduce((a, v) -> "" + (Long.parseLong(a) + Long.parseLong(v)), kept("euros-of-country", TEXT));
        }

        static void levels(KTable<String, String> sums, String p) {
            publish(sums, p + "country-euros");
            publish(sums.groupBy((k, v) -> KeyValue.pair(Long.parseLong(v) >= 1000 ? "high" : "low", k), Grouped.as("level")).count(kept("countries-of-level", NUMBER)), p + "levels");
        }

        static void before(StreamsBuilder b, String p) { levels(sums(declared(b, p).filter((k, v) -> number(v, 2) >= 100)), p); }
        static void after(StreamsBuilder b, String p) { levels(sums(declared(b, p)).filter((k, v) -> Long.parseLong(v) >= 100), p); }
    }

    /** requests: person -> embassy,days,country. */
    static final class EmbassiesCounted {
        static void all(StreamsBuilder b, String p, boolean embassies) {
            KStream<String, String> requests = b.<String, String>stream(p + "requests").filter((k, v) -> number(v, 1) > 0);
            publish(requests.groupByKey().reduce((a, v) -> a + "+" + field(v, 1)), p + "person-days");
            if (embassies) publish(requests.groupBy((k, v) -> field(v, 0)).count(), p + "embassy-counts");
            publish(requests.groupBy((k, v) -> field(v, 2), Grouped.as("country")).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("days-of-country", NUMBER)), p + "country-days");
            publishWindows(requests.groupBy((k, v) -> field(v, 0), Grouped.as("embassy")).windowedBy(minutes(1, 10)).count(), p + "embassy-minutes");
        }

        static void before(StreamsBuilder b, String p) { all(b, p, false); }
        static void after(StreamsBuilder b, String p) { all(b, p, true); }
    }

    /** passes: plate -> gate,cents; plates: plate -> class. */
    static final class LastSumsRemoved {
        static void all(StreamsBuilder b, String p, boolean gates) {
            KTable<String, String> plates = b.table(p + "plates");
            KStream<String, String> passes = b.<String, String>stream(p + "passes").filter((k, v) -> number(v, 1) > 0);
            publish(passes.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), unnamed(NUMBER)), p + "plate-cents");
            publish(passes.join(plates, (v, kind) -> kind + "," + v).groupBy((k, v) -> field(v, 0)).count(kept("passes-of-class", NUMBER)), p + "class-counts");
            publishWindows(passes.groupBy((k, v) -> field(v, 0)).windowedBy(minutes(1, 10)).count(), p + "gate-minutes");
            if (gates) publish(passes.groupBy((k, v) -> field(v, 0)).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), unnamed(NUMBER)), p + "gate-cents");
        }

        static void before(StreamsBuilder b, String p) { all(b, p, true); }
        static void after(StreamsBuilder b, String p) { all(b, p, false); }
    }

    /** rides: lift -> floor,persons. */
    static final class MinutesSuppressed {
        static KTable<Windowed<String>, Long> rides(StreamsBuilder b, String p) {
            KStream<String, String> rides = b.<String, String>stream(p + "rides").filter((k, v) -> number(v, 1) > 0);
            publish(rides.groupBy((k, v) -> field(v, 0)).count(), p + "floor-counts");
            return rides.groupByKey().windowedBy(minutes(1, 5)).count(windowed("rides-of-lift"));
        }

        static void busiest(KTable<Windowed<String>, Long> minutes, String p) {
            publishWindows(minutes, p + "lift-minutes");
            publish(minutes.toStream().map((w, n) -> KeyValue.pair(w.key(), at(w) + "," + n)).groupByKey(Grouped.with("busiest", TEXT, TEXT))
                .reduce((a, v) -> number(v, 1) > number(a, 1) ? v : a, kept("busiest-of-lift", TEXT)), p + "busiest");
        }

        static void before(StreamsBuilder b, String p) { busiest(rides(b, p), p); }

        static void after(StreamsBuilder b, String p) {
            busiest(rides(b, p).suppress(Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded()).withName("closed")), p);
        }
    }

    /** requests: reader -> shelf,days; shelves: shelf -> floor. */
    static final class WiderRequests {
        static void build(StreamsBuilder b, String p) {
            KTable<String, String> shelves = b.table(p + "shelves", kept("shelves", TEXT));
            KStream<String, String> requests = b.<String, String>stream(p + "requests").filter((k, v) -> number(v, 1) > 0).selectKey((k, v) -> field(v, 0))
                .repartition(Repartitioned.<String, String>as("shelf").withNumberOfPartitions(2));
            publish(requests.groupByKey().count(kept("requests-of-shelf", NUMBER)), p + "shelf-counts");
            publish(requests.leftJoin(shelves, (v, floor) -> floor + "," + v).groupBy((k, v) -> field(v, 0), Grouped.as("floor"))
                .aggregate(() -> 0L, (k, v, a) -> a + number(v, 2), unnamed(NUMBER)), p + "floor-days");
            publishWindows(requests.groupByKey().windowedBy(minutes(1, 10)).count(), p + "shelf-minutes");
        }
    }

    /** stays: dog -> kennel,nights. */
    static final class StaysForgotten {
        /** Adds the nights of a dog, and notes when; with a limit, it forgets dogs that were not seen for so many seconds. */
        static final class Nights extends ContextualProcessor<String, String, String, String> {
            final long limit;
            KeyValueStore<String, String> store;
            Nights(long limit) { this.limit = limit; }

            public void init(ProcessorContext<String, String> c) {
                super.init(c);
                store = c.getStateStore("nights-of-dog");
                if (limit > 0) c.schedule(Duration.ofSeconds(30), PunctuationType.STREAM_TIME, this::forget);
            }

            void forget(long now) {
                List<String> old = new ArrayList<>();
                try (KeyValueIterator<String, String> rows = store.all()) {
                    while (rows.hasNext()) {
                        KeyValue<String, String> row = rows.next();
                        if (now - number(row.value, 1) > limit * 1000) old.add(row.key);
                    }
                }
                old.forEach(store::delete);
            }

            public void process(Record<String, String> r) {
                String old = store.get(r.key());
                long nights = (old == null ? 0 : number(old, 0)) + number(r.value(), 1);
                store.put(r.key(), nights + "," + r.timestamp());
                context().forward(r.withValue(field(r.value(), 0) + "," + nights));
            }
        }

        static void all(StreamsBuilder b, String p, long limit) {
            b.addStateStore(Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore("nights-of-dog"), TEXT, TEXT));
            KStream<String, String> stays = b.<String, String>stream(p + "stays").filter((k, v) -> number(v, 1) > 0);
            publish(stays.groupBy((k, v) -> field(v, 0)).count(), p + "kennel-counts");
            KStream<String, String> summed = stays.process(() -> new Nights(limit), Named.as("nights"), "nights-of-dog");
            publish(summed, p + "dog-nights");
            publish(summed.groupBy((k, v) -> field(v, 0), Grouped.as("longest")).reduce((a, v) -> number(v, 1) > number(a, 1) ? v : a, kept("longest-of-kennel", TEXT)), p + "longest");
            publishWindows(stays.groupByKey().windowedBy(minutes(1, 10)).count(), p + "dog-minutes");
        }

        static void before(StreamsBuilder b, String p) { all(b, p, 0); }
        static void after(StreamsBuilder b, String p) { all(b, p, 60); }
    }
}
