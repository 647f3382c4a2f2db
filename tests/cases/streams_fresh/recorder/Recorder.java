import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.streams.*;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;

/**
 * Runs upgrades against a broker: `BOOTSTRAP FOLDER [NAME...]`.
 *
 * Each case four times, side by side: the upgrade, the old version restarted unchanged, the new
 * version over everything, and the new version over the later records alone. FOLDER/NAME gets
 * before/ and after/ of the upgrade and runs.json: for each run what either start put out, and the
 * exception that ended it.
 */
public final class Recorder {
    static final ObjectMapper JSON = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);
    static final long HOUR = 3_600_000, START = System.currentTimeMillis() / HOUR * HOUR - HOUR;
    static final List<String> TELLING = List.of("cleanup.policy", "delete.retention.ms", "message.timestamp.type", "min.compaction.lag.ms",
        "retention.bytes", "retention.ms", "segment.bytes", "segment.ms");
    static final long LONGEST = Long.getLong("longest", 60_000);
    static String bootstrap;
    static Admin admin;
    static KafkaProducer<String, String> producer;

    /** What one run did. */
    static final class Run {
        public final List<List<String>> outputs = new ArrayList<>();
        public String error;
        public String message;
        /** What the old version did when it was started again at the end; null where that was not asked. */
        public Run rollback;
    }

    static Map<String, Object> client() { return new LinkedHashMap<>(Map.of("bootstrap.servers", bootstrap)); }

    /** One application on topics of its own. */
    static final class World {
        final Case c;
        final String prefix;
        final Path state;
        Run run = new Run();
        final Map<TopicPartition, Long> read = new TreeMap<>(Comparator.comparing(TopicPartition::toString));

        World(Case c, String prefix, Map<String, Integer> inputs) throws Exception {
            this.c = c;
            this.prefix = prefix;
            state = Files.createTempDirectory("streams");
            create(inputs);
            create(c.written);
        }

        void create(Map<String, Integer> topics) throws Exception {
            admin.createTopics(topics.entrySet().stream().map(e -> new NewTopic(prefix + e.getKey(), e.getValue(), (short) 1)).toList()).all().get();
            for (String name : topics.keySet()) known(prefix + name);
        }

        /** Waits until the broker that is asked knows a topic that was just made. */
        static void known(String topic) throws Exception {
            for (int left = 100; ; left--) {
                try {
                    admin.describeTopics(List.of(topic)).allTopicNames().get();
                    return;
                } catch (ExecutionException e) {
                    if (left == 0) throw e;
                    Thread.sleep(100);
                }
            }
        }

        void grow() throws Exception {
            Set<String> there = admin.listTopics().names().get();
            for (Map.Entry<String, Integer> e : c.partitionsAfter.entrySet()) {
                if (there.contains(prefix + e.getKey())) admin.createPartitions(Map.of(prefix + e.getKey(), NewPartitions.increaseTo(e.getValue()))).all().get();
                else create(Map.of(e.getKey(), e.getValue()));
            }
        }

        void write(List<Case.Row> rows) throws Exception {
            Map<String, Integer> numbers = new LinkedHashMap<>();
            for (Case.Row r : rows) {
                // Counted anew: a producer that has seen the topic smaller writes to the old partitions for minutes.
                if (!numbers.containsKey(r.topic())) numbers.put(r.topic(), admin.describeTopics(List.of(prefix + r.topic())).allTopicNames().get().get(prefix + r.topic()).partitions().size());
                int partition = Utils.toPositive(Utils.murmur2(r.key().getBytes(StandardCharsets.UTF_8))) % numbers.get(r.topic());
                producer.send(new ProducerRecord<>(prefix + r.topic(), partition, START + (long) (r.at() * 1000), r.key(), r.value())).get();
            }
        }

        Properties settings(boolean after, String id) {
            Properties p = new Properties();
            p.putAll(client());
            p.put("default.key.serde", Serdes.StringSerde.class.getName());
            p.put("default.value.serde", Serdes.StringSerde.class.getName());
            p.put("state.dir", state.toString());
            p.put("commit.interval.ms", "100");
            p.put("statestore.cache.max.bytes", "0");
            p.put("metadata.max.age.ms", "1000");
            p.put("application.id", id);
            p.putAll(after ? c.settingsAfter : c.settings);
            return p;
        }

        static Topology build(Case.Build build, String prefix, Properties p) {
            StreamsBuilder b = new StreamsBuilder(new TopologyConfig(new StreamsConfig(p)));
            build.on(b, prefix);
            return b.build(p);
        }

        /** Starts one version, waits until it has committed all that is there, stops it. */
        boolean start(boolean after, String id) throws Exception {
            Properties p = settings(after, id);
            AtomicReference<Throwable> failed = new AtomicReference<>();
            KafkaStreams streams = null;
            try {
                Topology topology = build(after ? c.after : c.before, prefix, p);
                streams = new KafkaStreams(topology, p);
                streams.setUncaughtExceptionHandler(e -> { failed.compareAndSet(null, e); return StreamThreadExceptionResponse.SHUTDOWN_CLIENT; });
                streams.start();
                await(streams, topology, id, "streams".equals(p.get("group.protocol")), failed);
            } catch (RuntimeException e) {
                failed.compareAndSet(null, e);
            } finally {
                if (streams != null) streams.close(CloseOptions.groupMembershipOperation(CloseOptions.GroupMembershipOperation.LEAVE_GROUP).withTimeout(Duration.ofSeconds(20)));
            }
            run.outputs.add(outputs());
            Throwable e = failed.get();
            if (e != null) {
                run.error = e.getClass().getName();
                StringBuilder said = new StringBuilder();
                for (Throwable t = e; t != null; t = t.getCause()) said.append(said.isEmpty() ? "" : " <- ").append(t);
                run.message = said.toString();
            }
            return e == null;
        }

        void await(KafkaStreams streams, Topology topology, String id, boolean newer, AtomicReference<Throwable> failed) throws Exception {
            long until = System.currentTimeMillis() + LONGEST;
            int settled = 0;
            while (failed.get() == null) {
                if (System.currentTimeMillis() > until) throw new IllegalStateException("not done after " + LONGEST + " ms, " + streams.state());
                settled = streams.state() == KafkaStreams.State.RUNNING && done(topology, id, newer) ? settled + 1 : 0;
                if (settled > 2) return;
                Thread.sleep(200);
            }
        }

        boolean done(Topology topology, String id, boolean newer) throws Exception {
            Set<String> all = admin.listTopics().names().get(), wanted = new TreeSet<>();
            for (TopologyDescription.Subtopology part : topology.describe().subtopologies())
                for (TopologyDescription.Node node : part.nodes())
                    if (node instanceof TopologyDescription.Source s) {
                        if (s.topicPattern() != null) all.stream().filter(s.topicPattern().asMatchPredicate()).forEach(wanted::add);
                        else for (String t : s.topicSet()) wanted.add(t.startsWith(prefix) ? t : id + "-" + t);
                    }
            if (!all.containsAll(wanted)) return false;
            Map<TopicPartition, OffsetAndMetadata> committed = newer
                ? admin.listStreamsGroupOffsets(Map.of(id, new ListStreamsGroupOffsetsSpec())).partitionsToOffsetAndMetadata(id).get()
                : admin.listConsumerGroupOffsets(id).partitionsToOffsetAndMetadata().get();
            for (Map.Entry<TopicPartition, Long> e : offsets(wanted, OffsetSpec.latest()).entrySet()) {
                OffsetAndMetadata at = committed.get(e.getKey());
                if (e.getValue() > 0 && (at == null || at.offset() < e.getValue())) return false;
            }
            return true;
        }

        List<String> outputs() throws Exception {
            Set<String> topics = admin.listTopics().names().get().stream()
                .filter(t -> t.startsWith(prefix) && !t.startsWith(prefix + "app") && !c.read.contains(t.substring(prefix.length()))).collect(Collectors.toSet());
            Map<TopicPartition, Long> ends = offsets(topics, OffsetSpec.latest());
            List<String> found = new ArrayList<>();
            Map<String, Object> p = client();
            p.put("auto.offset.reset", "earliest");
            try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(p, new StringDeserializer(), new StringDeserializer())) {
                consumer.assign(ends.keySet());
                ends.keySet().forEach(t -> consumer.seek(t, read.getOrDefault(t, 0L)));
                while (ends.entrySet().stream().anyMatch(e -> consumer.position(e.getKey()) < e.getValue()))
                    consumer.poll(Duration.ofMillis(200)).forEach(r -> found.add(r.topic().substring(prefix.length()) + " " + r.key() + "=" + r.value()));
            }
            read.putAll(ends);
            return found;
        }

        void erase() throws Exception {
            try (Stream<Path> files = Files.walk(state)) {
                for (Path f : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(f);
            }
        }
    }

    static Map<TopicPartition, Long> offsets(Set<String> topics, OffsetSpec spec) throws Exception {
        Map<TopicPartition, OffsetSpec> asked = new LinkedHashMap<>();
        for (String topic : topics) World.known(topic);
        admin.describeTopics(topics).allTopicNames().get().values().forEach(d -> d.partitions().forEach(i -> asked.put(new TopicPartition(d.name(), i.partition()), spec)));
        Map<TopicPartition, Long> found = new LinkedHashMap<>();
        admin.listOffsets(asked).all().get().forEach((t, o) -> found.put(t, o.offset()));
        return found;
    }

    static void describe(World w, Path folder, boolean after, String id) throws Exception {
        Files.createDirectories(folder);
        Properties p = w.settings(after, id);
        Map<String, Integer> inputs = new TreeMap<>();
        w.c.partitions.forEach((t, n) -> inputs.put(w.prefix + t, n));
        if (after) w.c.partitionsAfter.forEach((t, n) -> inputs.put(w.prefix + t, n));
        inputs.keySet().removeIf(t -> t.endsWith("side") || t.endsWith("more"));
        Map<String, String> config = new LinkedHashMap<>(Map.of("application.id", id));
        config.putAll(after ? w.c.settingsAfter : w.c.settings);
        JSON.writeValue(folder.resolve("input_topics.json").toFile(), inputs);
        JSON.writeValue(folder.resolve("config.json").toFile(), config);
        try {
            Files.writeString(folder.resolve("describe.txt"), World.build(after ? w.c.after : w.c.before, w.prefix, p).describe().toString());
        } catch (RuntimeException refused) {  // what builds the topology is asked to refuse it
            p.remove("ensure.explicit.internal.resource.naming");
            Files.writeString(folder.resolve("describe.txt"), World.build(after ? w.c.after : w.c.before, w.prefix, p).describe().toString());
        }
    }

    static void internal(String id, Path folder) throws Exception {
        Set<String> names = admin.listTopics().names().get().stream().filter(t -> t.startsWith(id + "-")).collect(Collectors.toCollection(TreeSet::new));
        Map<TopicPartition, Long> begin = offsets(names, OffsetSpec.earliest()), end = offsets(names, OffsetSpec.latest());
        List<Object> found = new ArrayList<>();
        for (String name : names) {
            Config config = admin.describeConfigs(List.of(new ConfigResource(ConfigResource.Type.TOPIC, name))).all().get().values().iterator().next();
            Map<String, String> set = new TreeMap<>(), effective = new TreeMap<>();
            for (ConfigEntry e : config.entries()) {
                if (e.source() == ConfigEntry.ConfigSource.DYNAMIC_TOPIC_CONFIG) set.put(e.name(), e.value());
                if (TELLING.contains(e.name())) effective.put(e.name(), e.value());
            }
            int n = (int) end.keySet().stream().filter(t -> t.topic().equals(name)).count();
            List<Long> from = new ArrayList<>(), to = new ArrayList<>();
            for (int i = 0; i < n; i++) { from.add(begin.get(new TopicPartition(name, i))); to.add(end.get(new TopicPartition(name, i))); }
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("name", name); one.put("partitions", n); one.put("configs_set_on_topic", set); one.put("configs_effective", effective);
            one.put("begin_offsets", from); one.put("end_offsets", to);
            found.add(one);
        }
        JSON.writeValue(folder.resolve("internal_topics.json").toFile(), found);
    }

    /** The upgrade itself; it leaves the evidence. */
    static Run upgrade(Case c, String prefix, Path folder) throws Exception {
        World w = new World(c, prefix, c.partitions);
        String id = prefix + "app", then = c.renamed ? prefix + "app2" : id;
        describe(w, folder.resolve("before"), false, id);
        describe(w, folder.resolve("after"), true, then);
        w.write(c.first);
        if (!w.start(false, id)) throw new IllegalStateException(c.name + ": the old version did not run: " + w.run.message);
        internal(id, folder.resolve("before"));
        if (c.wiped) w.erase();
        w.grow();
        w.write(c.then);
        w.start(true, then);
        Run run = w.run;
        if (c.rolledBack) run.rollback = rollback(w, id);
        return run;
    }

    /** The first records once more, a minute after the last: they touch what either version remembers. */
    static List<Case.Row> again(Case c) {
        double last = Stream.concat(c.first.stream(), c.then.stream()).mapToDouble(Case.Row::at).max().orElseThrow();
        return c.first.stream().map(r -> new Case.Row(r.topic(), r.key(), r.value(), last + 60 + r.at())).toList();
    }

    /** The old version on what the new one left. */
    static Run rollback(World w, String id) throws Exception {
        w.run = new Run();
        w.write(again(w.c));
        w.start(false, id);
        return w.run;
    }

    static Run unchanged(Case c, String prefix) throws Exception {
        World w = new World(c, prefix, c.partitions);
        w.write(c.first);
        w.start(false, prefix + "app");
        w.write(c.then.stream().filter(r -> c.partitions.containsKey(r.topic())).toList());
        w.start(false, prefix + "app");
        Run run = w.run;
        if (c.rolledBack) run.rollback = rollback(w, prefix + "app");
        return run;
    }

    static Run replayed(Case c, String prefix, boolean all) throws Exception {
        Map<String, Integer> inputs = new LinkedHashMap<>(c.partitions);
        inputs.putAll(c.partitionsAfter);
        World w = new World(c, prefix, inputs);
        if (all) {
            w.write(c.first);
            w.start(true, prefix + "app");
        }
        w.write(c.then);
        w.start(true, prefix + "app");
        return w.run;
    }

    /** What the topics of a case begin with, before the letter of the run. */
    static String mark(Case c) { return String.format("f%02d", Cases.ALL.indexOf(c) + 1); }

    static void record(Case c, Path folder, ExecutorService pool) throws Exception {
        String mark = mark(c);
        Map<String, Callable<Run>> todo = new LinkedHashMap<>();
        todo.put("upgrade", () -> upgrade(c, mark + "u_", folder));
        todo.put("unchanged", () -> unchanged(c, mark + "o_"));
        todo.put("new_over_everything", () -> replayed(c, mark + "a_", true));
        todo.put("new_over_later_only", () -> replayed(c, mark + "l_", false));
        Map<String, Future<Run>> running = new LinkedHashMap<>();
        todo.forEach((name, run) -> running.put(name, pool.submit(run)));
        Map<String, Object> found = new LinkedHashMap<>();
        found.put("change", c.change);
        found.put("wiped", c.wiped);
        for (Map.Entry<String, Future<Run>> e : running.entrySet()) found.put(e.getKey(), e.getValue().get());
        JSON.writeValue(folder.resolve("runs.json").toFile(), found);
        System.out.println("done " + c.name);
    }

    public static void main(String[] args) throws Exception {
        bootstrap = args[0];
        admin = Admin.create(client());
        producer = new KafkaProducer<>(client(), new StringSerializer(), new StringSerializer());
        List<String> wanted = List.of(args).subList(2, args.length);
        ExecutorService pool = Executors.newCachedThreadPool(), cases = Executors.newFixedThreadPool(Integer.getInteger("cases", 2));
        MoreCases.load();
        PullCases.load();
        KindCases.load();
        LaterCases.load();
        ThirdCases.load();
        FourthCases.load();
        FifthCases.load();
        SixthCases.load();
        List<Future<?>> all = new ArrayList<>();
        for (Case c : Cases.ALL) {
            if (!wanted.isEmpty() && !wanted.contains(c.name)) continue;
            all.add(cases.submit(() -> {
                try {
                    record(c, Path.of(args[1], c.name), pool);
                } catch (Exception e) {
                    System.out.println("lost " + c.name + ": " + e);
                }
            }));
        }
        for (Future<?> f : all) f.get();
        System.exit(0);
    }
}
