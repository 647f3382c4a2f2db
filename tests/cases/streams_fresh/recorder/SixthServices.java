import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.processor.api.ContextualFixedKeyProcessor;
import org.apache.kafka.streams.processor.api.FixedKeyRecord;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.TimestampedKeyValueStore;
import org.apache.kafka.streams.state.ValueAndTimestamp;

/**
 * Applications of parliaments, notaries, lighthouses, trams, volcanologists, barbers, speed cameras, removal firms, newsletters, backups, buses
 * and help desks, each before and after a pull request.
 */
final class SixthServices extends PullParts {
    private SixthServices() { }

    /** votes: member -> party,motion,choice. */
    static final class GroupedOnce {
        static KStream<String, String> votes(StreamsBuilder b, String p) {
            KStream<String, String> votes = b.<String, String>stream(p + "votes").filter((k, v) -> !field(v, 2).equals("absent"));
            publish(votes.groupBy((k, v) -> field(v, 1)).count(), p + "motion-counts");
            return votes;
        }

        static String party(String member, String vote) { return field(vote, 0); }

        static void parties(KGroupedStream<String, String> counted, KGroupedStream<String, String> last, String p) {
            publish(counted.count(kept("votes-of-party", NUMBER)), p + "party-votes");
            publish(last.reduce((a, v) -> v, kept("last-vote-of-party", TEXT)), p + "party-last");
        }

        static void before(StreamsBuilder b, String p) {
            KStream<String, String> votes = votes(b, p);
            parties(votes.groupBy(GroupedOnce::party, Grouped.as("party-votes")), votes.groupBy(GroupedOnce::party, Grouped.as("party-last")), p);
        }

        static void after(StreamsBuilder b, String p) {
            KGroupedStream<String, String> parties = votes(b, p).groupBy(GroupedOnce::party, Grouped.as("party"));
            parties(parties, parties, p);
        }
    }

    /** deeds: deed -> notary,kind,euros. */
    static final class CentsForEuros {
        static void all(StreamsBuilder b, String p, long factor) {
            KStream<String, String> deeds = b.<String, String>stream(p + "deeds").filter((k, v) -> number(v, 2) > 0);
            publish(deeds.groupBy((k, v) -> field(v, 1)).count(), p + "kind-counts");
            KStream<String, String> fees = deeds.mapValues(v -> field(v, 0) + "," + factor * number(v, 2));
            publish(fees.groupBy((k, v) -> field(v, 0)).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), unnamed(NUMBER)), p + "notary-fees");
            publish(fees.groupBy((k, v) -> field(v, 0), Grouped.as("highest")).reduce((a, v) -> number(v, 1) > number(a, 1) ? v : a, kept("highest-of-notary", TEXT)), p + "highest");
        }

        static void before(StreamsBuilder b, String p) { all(b, p, 1); }
        static void after(StreamsBuilder b, String p) { all(b, p, 100); }
    }

    /** signals: ship -> light,kind; lights: light -> coast. */
    static final class UnknownCoast {
        static void all(StreamsBuilder b, String p, String unknown) {
            KTable<String, String> lights = b.table(p + "lights", kept("lights", TEXT));
            KStream<String, String> signals = b.stream(p + "signals");
            publish(signals.groupByKey().reduce((a, v) -> a + "+" + field(v, 0)), p + "ship-lights");
            KStream<String, String> placed = signals.selectKey((k, v) -> field(v, 0)).leftJoin(lights, (v, coast) -> (coast == null ? unknown : coast) + "," + v, Joined.as("coast-of-light"));
            publish(placed.groupBy((k, v) -> field(v, 0), Grouped.as("coast")).count(kept("signals-of-coast", NUMBER)), p + "coast-counts");
            publishWindows(placed.groupBy((k, v) -> field(v, 0)).windowedBy(minutes(1, 10)).count(), p + "coast-minutes");
        }

        static void before(StreamsBuilder b, String p) { all(b, p, "unknown"); }
        static void after(StreamsBuilder b, String p) { all(b, p, "uncharted"); }
    }

    /** doors: door -> tram,line,change of passengers. */
    static final class EmptyDeleted {
        static void all(StreamsBuilder b, String p, Aggregator<String, String, String> aboard) {
            KStream<String, String> doors = b.stream(p + "doors");
            publish(doors.groupByKey().count(), p + "door-counts");
            KTable<String, String> trams = doors.groupBy((k, v) -> field(v, 0), Grouped.as("tram")).aggregate(() -> "-,0", aboard, kept("aboard-of-tram", TEXT));
            publish(trams, p + "aboard");
            publish(trams.groupBy((k, v) -> KeyValue.pair(field(v, 0), k), Grouped.as("line")).count(kept("trams-of-line", NUMBER)), p + "line-trams");
        }

        static String added(String tram, String door, String aboard) { return field(door, 1) + "," + (number(aboard, 1) + number(door, 2)); }
        static String addedOrNull(String tram, String door, String aboard) { return number(aboard, 1) + number(door, 2) == 0 ? null : added(tram, door, aboard); }

        static void before(StreamsBuilder b, String p) { all(b, p, EmptyDeleted::added); }
        static void after(StreamsBuilder b, String p) { all(b, p, EmptyDeleted::addedOrNull); }
    }

    /** tremors: sensor -> volcano,strength. */
    static final class WindowsKeptLonger {
        static void all(StreamsBuilder b, String p, Duration retention) {
            KStream<String, String> tremors = b.<String, String>stream(p + "tremors").filter((k, v) -> number(v, 1) > 0);
            publish(tremors.groupByKey().count(), p + "sensor-counts");
            publishWindows(tremors.groupBy((k, v) -> field(v, 0), Grouped.as("volcano")).windowedBy(minutes(1, 10)).count(windowed("tremors-of-volcano").withRetention(retention)), p + "volcano-minutes");
            publish(tremors.groupBy((k, v) -> field(v, 0)).reduce((a, v) -> number(v, 1) > number(a, 1) ? v : a), p + "strongest");
        }

        static void before(StreamsBuilder b, String p) { all(b, p, Duration.ofMinutes(2)); }
        static void after(StreamsBuilder b, String p) { all(b, p, Duration.ofMinutes(30)); }
    }

    /** cuts: customer -> barber,cents. */
    static final class LeastRecentlyUsed {
        static void all(StreamsBuilder b, String p, Materialized<String, Long, KeyValueStore<Bytes, byte[]>> cents) {
            KStream<String, String> cuts = b.<String, String>stream(p + "cuts").filter((k, v) -> number(v, 1) > 0);
            publish(cuts.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), cents), p + "customer-cents");
            publish(cuts.groupBy((k, v) -> field(v, 0)).count(), p + "barber-counts");
            publishWindows(cuts.groupBy((k, v) -> field(v, 0), Grouped.as("barber")).windowedBy(minutes(1, 10)).count(windowed("cuts-of-barber")), p + "barber-minutes");
        }

        static void before(StreamsBuilder b, String p) { all(b, p, kept("cents-of-customer", NUMBER)); }
        static void after(StreamsBuilder b, String p) { all(b, p, Materialized.<String, Long>as(Stores.lruMap("cents-of-customer", 4)).withKeySerde(TEXT).withValueSerde(NUMBER)); }
    }

    /** passages: plate -> camera,speed. */
    static final class SeenForAMinute {
        /** Passes the first record of a plate at a camera on. */
        static final class First extends ContextualFixedKeyProcessor<String, String, String> {
            public void process(FixedKeyRecord<String, String> r) {
                KeyValueStore<String, String> seen = context().getStateStore("seen-plates");
                if (seen.putIfAbsent(r.key(), field(r.value(), 0)) == null) context().forward(r);
            }
        }

        /** Passes the first record of a plate within a minute on. */
        static final class FirstWithinAMinute extends ContextualFixedKeyProcessor<String, String, String> {
            public void process(FixedKeyRecord<String, String> r) {
                TimestampedKeyValueStore<String, String> seen = context().getStateStore("seen-plates");
                ValueAndTimestamp<String> last = seen.get(r.key());
                if (last != null && r.timestamp() - last.timestamp() < 60_000) return;
                seen.put(r.key(), ValueAndTimestamp.make(field(r.value(), 0), r.timestamp()));
                context().forward(r);
            }
        }

        static KStream<String, String> passages(StreamsBuilder b, String p) {
            KStream<String, String> passages = b.<String, String>stream(p + "passages").filter((k, v) -> number(v, 1) > 0);
            publish(passages.groupBy((k, v) -> field(v, 0)).reduce((a, v) -> number(v, 1) > number(a, 1) ? v : a), p + "fastest");
            return passages;
        }

        static void cameras(KStream<String, String> first, String p) {
            publish(first.groupBy((k, v) -> field(v, 0), Grouped.as("camera")).count(kept("plates-of-camera", NUMBER)), p + "camera-plates");
            publishWindows(first.groupBy((k, v) -> field(v, 0)).windowedBy(minutes(1, 10)).count(), p + "camera-minutes");
        }

        static void before(StreamsBuilder b, String p) {
            b.addStateStore(Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore("seen-plates"), TEXT, TEXT));
            cameras(passages(b, p).processValues(() -> new First(), Named.as("first-passage"), "seen-plates"), p);
        }

        static void after(StreamsBuilder b, String p) {
            b.addStateStore(Stores.timestampedKeyValueStoreBuilder(Stores.persistentTimestampedKeyValueStore("seen-plates"), TEXT, TEXT));
            cameras(passages(b, p).processValues(() -> new FirstWithinAMinute(), Named.as("first-passage"), "seen-plates"), p);
        }
    }

    /** jobs: job -> van,town; invoices: job -> cents. */
    static final class NotInvoicedToo {
        static final JoinWindows NEAR = JoinWindows.ofTimeDifferenceAndGrace(Duration.ofSeconds(30), Duration.ofSeconds(10));
        static final StreamJoined<String, String, String> INVOICED = StreamJoined.with(TEXT, TEXT, TEXT).withName("invoiced").withStoreName("invoiced");

        static KStream<String, String> jobs(StreamsBuilder b, String p) {
            KStream<String, String> jobs = b.stream(p + "jobs");
            publish(jobs.groupBy((k, v) -> field(v, 1)).count(), p + "town-counts");
            return jobs;
        }

        static String invoiced(String job, String cents) { return job + "," + (cents == null ? "0" : cents); }

        static void vans(KStream<String, String> invoiced, String p) {
            publish(invoiced, p + "invoiced");
            publish(invoiced.groupBy((k, v) -> field(v, 0), Grouped.as("van")).aggregate(() -> 0L, (k, v, a) -> a + number(v, 2), kept("cents-of-van", NUMBER)), p + "van-cents");
            publish(invoiced.groupByKey().count(kept("invoices-of-job", NUMBER)), p + "job-counts");
        }

        static void before(StreamsBuilder b, String p) { vans(jobs(b, p).join(b.<String, String>stream(p + "invoices"), NotInvoicedToo::invoiced, NEAR, INVOICED), p); }
        static void after(StreamsBuilder b, String p) { vans(jobs(b, p).leftJoin(b.<String, String>stream(p + "invoices"), NotInvoicedToo::invoiced, NEAR, INVOICED), p); }
    }

    /** openings: reader -> letter,seconds. */
    static final class HandlerRemoved {
        static void build(StreamsBuilder b, String p) {
            KStream<String, String> openings = b.<String, String>stream(p + "openings").mapValues(v -> field(v, 0) + "," + number(v, 1));
            publish(openings.groupByKey().reduce((a, v) -> a + "+" + field(v, 0)), p + "reader-letters");
            publish(openings.groupBy((k, v) -> field(v, 0), Grouped.as("letter")).aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("seconds-of-letter", NUMBER)), p + "letter-seconds");
            publishWindows(openings.groupBy((k, v) -> field(v, 0)).windowedBy(minutes(1, 10)).count(), p + "letter-minutes");
        }
    }

    /** runs: run -> host,pool,megabytes; pools: pool -> site. */
    static final class ApplicationRenamed {
        static void build(StreamsBuilder b, String p) {
            KTable<String, String> pools = b.table(p + "pools", kept("pools", TEXT));
            KStream<String, String> runs = b.<String, String>stream(p + "runs").filter((k, v) -> number(v, 2) > 0);
            publish(runs.groupBy((k, v) -> field(v, 0)).count(), p + "host-counts");
            publish(runs.selectKey((k, v) -> field(v, 1)).leftJoin(pools, (v, site) -> site + "," + v, Joined.as("site")).groupBy((k, v) -> field(v, 0), Grouped.as("site-megabytes"))
                .aggregate(() -> 0L, (k, v, a) -> a + number(v, 3), kept("megabytes-of-site", NUMBER)), p + "site-megabytes");
        }
    }

    /** positions: bus -> line,delay. */
    static final class PartitionerOfItsOwn {
        static void all(StreamsBuilder b, String p, Repartitioned<String, String> byLine) {
            KStream<String, String> positions = b.<String, String>stream(p + "positions").filter((k, v) -> number(v, 1) >= 0);
            publish(positions.groupByKey().reduce((a, v) -> number(v, 1) > number(a, 1) ? v : a), p + "bus-delays");
            KStream<String, String> lines = positions.selectKey((k, v) -> field(v, 0)).repartition(byLine.withNumberOfPartitions(2));
            publish(lines.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("delay-of-line", NUMBER)), p + "line-delays");
            publishWindows(lines.groupByKey().windowedBy(minutes(1, 10)).count(windowed("positions-of-line")), p + "line-minutes");
        }

        static void before(StreamsBuilder b, String p) { all(b, p, Repartitioned.as("by-line")); }

        /** Night lines, whose names begin with n, have a partition of their own. */
        static void after(StreamsBuilder b, String p) {
            all(b, p, Repartitioned.<String, String>as("by-line").withStreamPartitioner((topic, line, v, n) -> Optional.of(Set.of(line.startsWith("n") ? n - 1 : 0))));
        }
    }

    /** tickets: customer -> agent,minutes. */
    static final class RepartitionRemoved {
        static KStream<String, String> tickets(StreamsBuilder b, String p) {
            KStream<String, String> tickets = b.<String, String>stream(p + "tickets").filter((k, v) -> number(v, 1) > 0);
            publish(tickets.groupBy((k, v) -> field(v, 0)).count(), p + "agent-counts");
            return tickets;
        }

        static void customers(KStream<String, String> tickets, String p) {
            publish(tickets.groupByKey().aggregate(() -> 0L, (k, v, a) -> a + number(v, 1), kept("minutes-of-customer", NUMBER)), p + "customer-minutes");
            publishWindows(tickets.groupByKey().windowedBy(minutes(1, 10)).count(windowed("tickets-of-customer")), p + "customer-windows");
        }

        static void before(StreamsBuilder b, String p) { customers(tickets(b, p).repartition(Repartitioned.<String, String>as("spread").withNumberOfPartitions(3)), p); }
        static void after(StreamsBuilder b, String p) { customers(tickets(b, p), p); }
    }
}
