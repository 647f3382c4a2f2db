import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.TreeMap;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.Topology;

/**
 * One recorded upgrade for a rehearsal: `BOOTSTRAP CASE PREFIX` lets the old version process the first
 * records, adds the later ones, and prints its state directory and the new version's settings.
 */
public final class Rehearsal {
    /** Adds all groups to Cases.ALL. */
    static void load() {
        MoreCases.load();
        PullCases.load();
        KindCases.load();
        LaterCases.load();
        ThirdCases.load();
        FourthCases.load();
        FifthCases.load();
        SixthCases.load();
    }

    static Case named(String name) {
        load();
        return Cases.ALL.stream().filter(c -> c.name.equals(name)).findFirst().orElseThrow();
    }

    /** The new version of the case and with the prefix that are system properties. */
    public static Topology after(Properties settings) {
        return Recorder.World.build(named(System.getProperty("case")).after, System.getProperty("prefix"), settings);
    }

    public static void main(String[] args) throws Exception {
        Recorder.bootstrap = args[0];
        Recorder.admin = Admin.create(Recorder.client());
        Recorder.producer = new KafkaProducer<>(Recorder.client(), new StringSerializer(), new StringSerializer());
        Case c = named(args[1]);
        Recorder.World w = new Recorder.World(c, args[2], c.partitions);
        w.write(c.first);
        if (!w.start(false, args[2] + "app")) throw new IllegalStateException(w.run.message);
        if (c.wiped) w.erase();
        w.grow();
        w.write(c.then);
        List<String> settings = new ArrayList<>();
        new TreeMap<>(w.settings(true, args[2] + "app")).forEach((k, v) -> settings.add(k + "=" + v));
        System.out.println("STATE " + w.state);
        settings.forEach(line -> System.out.println("SET " + line));
        System.exit(0);
    }
}
