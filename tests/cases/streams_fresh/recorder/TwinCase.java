import java.util.Properties;
import org.apache.kafka.streams.Topology;

/** Both versions of a recorded upgrade, for twin runs; the settings `twin.case` and `twin.prefix` say of which, on which topics. */
public final class TwinCase {
    private TwinCase() { }

    static Case of(Properties settings) {
        return Rehearsal.named(settings.getProperty("twin.case"));
    }

    public static Topology before(Properties settings) {
        return Recorder.World.build(of(settings).before, settings.getProperty("twin.prefix"), settings);
    }

    public static Topology after(Properties settings) {
        return Recorder.World.build(of(settings).after, settings.getProperty("twin.prefix"), settings);
    }

    /** Prints for each case: name, then settings before and after, what is around it, tab-separated; given a name, its first records. */
    public static void main(String[] args) {
        if (args.length > 0) {
            for (Case.Row r : Rehearsal.named(args[0]).first)
                if (r.value() != null) System.out.println(r.topic() + "\t" + r.key() + "\t" + r.value());
            return;
        }
        Rehearsal.load();
        for (Case c : Cases.ALL) {
            String around = c.wiped ? "wiped" : c.renamed ? "renamed" : c.partitionsAfter.isEmpty() ? "" : "grown";
            System.out.println(c.name + "\t" + c.settings + "\t" + c.settingsAfter + "\t" + around);
        }
    }
}
