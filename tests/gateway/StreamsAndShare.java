import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;

/** Keeps a streams-protocol group and a share group alive until stdin ends; prints READY. */
public class StreamsAndShare {
    public static void main(String[] args) throws Exception {
        String bootstrap = args[0], topic = args[1], streamsId = args[2], shareId = args[3];
        Properties p = new Properties();
        p.put("application.id", streamsId);
        p.put("bootstrap.servers", bootstrap);
        p.put("group.protocol", "streams");
        p.put("default.key.serde", Serdes.StringSerde.class.getName());
        p.put("default.value.serde", Serdes.StringSerde.class.getName());
        p.put("auto.offset.reset", "earliest");
        p.put("commit.interval.ms", "200");
        p.put("state.dir", args[4]);
        StreamsBuilder builder = new StreamsBuilder();
        builder.<String, String>stream(topic).foreach((k, v) -> { });
        KafkaStreams streams = new KafkaStreams(builder.build(), p);
        streams.start();
        Map<String, Object> config = Map.of(
            "bootstrap.servers", bootstrap,
            "group.id", shareId,
            "key.deserializer", StringDeserializer.class.getName(),
            "value.deserializer", StringDeserializer.class.getName());
        Thread shareThread = new Thread(() -> share(config, topic));
        shareThread.setDaemon(true);
        shareThread.start();
        while (streams.state() != KafkaStreams.State.RUNNING) Thread.sleep(50);
        Thread.sleep(1000);
        System.out.println("READY");
        while (System.in.read() != -1) { }
        streams.close(Duration.ofSeconds(10));
        System.exit(0);
    }

    private static void share(Map<String, Object> config, String topic) {
        try (KafkaShareConsumer<String, String> consumer = new KafkaShareConsumer<>(config)) {
            consumer.subscribe(List.of(topic));
            while (true) consumer.poll(Duration.ofMillis(200));
        }
    }
}
