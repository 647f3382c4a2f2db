"""Java that wraps a Kafka table, compiled in the driver by the compiler that Spark brings.

`Trigger.AvailableNow` requests Kafka's latest offsets at each start of the query, so a query that
was killed would end at later ones. `BoundTable` passes the stream to Python before its first batch
(`made`), and waits until its end was set (`ready`). After `stopping` it has no further data, so the
query ends between two batches. A queue in place of `ready`'s answer has the end of each batch, one
after the other; the query ends after the last.

With `rate` in `pace` (offsets per second, of all sources), a batch begins once the time for its
records has passed. A batch whose end is not given has the records of the time since the one before
it, of 1 to 10 seconds; so a query whose batches take long keeps the rate, too.
"""

from __future__ import annotations

from typing import Any

_SOURCE = """
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.ReportsSourceMetrics;
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow;
import org.apache.spark.sql.connector.metric.CustomMetric;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

public class BoundTable implements SupportsRead {
  private final SupportsRead table;
  private final Integer number;
  private final Map replaced;
  private final BlockingQueue made;
  private final BlockingQueue ready;
  private final AtomicBoolean stopping;
  private final Map pace;

  public BoundTable(Object table, Object number, Object replaced, Object made, Object ready,
                    Object stopping, Object pace) {
    this.table = (SupportsRead) table;
    this.number = (Integer) number;
    this.replaced = (Map) replaced;
    this.made = (BlockingQueue) made;
    this.ready = (BlockingQueue) ready;
    this.stopping = (AtomicBoolean) stopping;
    this.pace = (Map) pace;
  }

  public String name() { return table.name(); }
  public StructType schema() { return table.schema(); }
  public Column[] columns() { return table.columns(); }
  public Map properties() { return table.properties(); }
  public Set capabilities() { return table.capabilities(); }
  public String toString() { return table.toString(); }

  public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
    HashMap given = new HashMap(options.asCaseSensitiveMap());
    given.keySet().removeIf(new java.util.function.Predicate() {
      public boolean test(Object key) {
        return replaced.containsKey(key.toString().toLowerCase(java.util.Locale.ROOT));
      }
    });
    for (Object each : replaced.entrySet()) {
      Map.Entry entry = (Map.Entry) each;
      if (!"".equals(entry.getValue())) given.put(entry.getKey(), entry.getValue());
    }
    final Scan scan = table.newScanBuilder(new CaseInsensitiveStringMap(given)).build();
    final BoundScan bound = new BoundScan(scan, number, made, ready, stopping, pace);
    return new ScanBuilder() {
      public Scan build() { return bound; }
    };
  }

  public static class BoundScan implements Scan {
    private final Scan scan;
    private final Integer number;
    private final BlockingQueue made;
    private final BlockingQueue ready;
    private final AtomicBoolean stopping;
    private final Map pace;

    BoundScan(Scan scan, Integer number, BlockingQueue made, BlockingQueue ready,
              AtomicBoolean stopping, Map pace) {
      this.scan = scan;
      this.number = number;
      this.made = made;
      this.ready = ready;
      this.stopping = stopping;
      this.pace = pace;
    }

    public StructType readSchema() { return scan.readSchema(); }
    public String description() { return scan.description(); }
    public CustomMetric[] supportedCustomMetrics() { return scan.supportedCustomMetrics(); }
    public CustomTaskMetric[] reportDriverMetrics() { return scan.reportDriverMetrics(); }
    public Scan.ColumnarSupportMode columnarSupportMode() { return scan.columnarSupportMode(); }
    public MicroBatchStream toMicroBatchStream(String checkpoint) {
      MicroBatchStream stream = scan.toMicroBatchStream(checkpoint);
      return new BoundStream(stream, number, made, ready, stopping, pace);
    }
  }

  public static class BoundStream
      implements MicroBatchStream, SupportsTriggerAvailableNow, ReportsSourceMetrics {
    private final MicroBatchStream stream;
    private final Integer number;
    private final BlockingQueue made;
    private final BlockingQueue ready;
    private final AtomicBoolean stopping;
    private final Map pace;
    private Queue ends;

    BoundStream(MicroBatchStream stream, Integer number, BlockingQueue made, BlockingQueue ready,
                AtomicBoolean stopping, Map pace) {
      this.stream = stream;
      this.number = number;
      this.made = made;
      this.ready = ready;
      this.stopping = stopping;
      this.pace = pace;
    }

    private SupportsTriggerAvailableNow limited() { return (SupportsTriggerAvailableNow) stream; }

    public void prepareForTriggerAvailableNow() {
      limited().prepareForTriggerAvailableNow();
      try {
        made.put(new Object[] {number, stream});
        Object given = ready.take();
        if (given instanceof Queue) ends = (Queue) given;
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new RuntimeException(e);
      }
    }

    public Offset latestOffset(Offset start, ReadLimit limit) {
      if (stopping.get()) return start;
      Object end = ends == null ? null : ends.poll();
      if (end != null) setEnd(end);
      Offset found = limited().latestOffset(start, limit);
      return pace.isEmpty() ? found : paced(start, found);
    }

    private Offset paced(Offset start, Offset end) {
      long left = sum(end) - sum(start);
      if (left <= 0) return end;
      double each = 1e9 / ((Number) pace.get("rate")).doubleValue();
      if (pace.get("since") == null) pace.put("since", Long.valueOf(System.nanoTime()));
      long since = ((Long) pace.get("since")).longValue();
      long needed = ends == null ? Math.min(left, Math.max(1, (long) (1e9 / each))) : left;
      while (System.nanoTime() - since < needed * each) {
        if (stopping.get()) return start;
        try {
          Thread.sleep(20);
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          return start;
        }
      }
      long now = System.nanoTime();
      since = Math.max(since, now - (long) Math.max(10e9, needed * each));
      long most = (long) ((now - since) / each);
      if (ends == null && left > most) {
        end = limited().latestOffset(start, maxRows(most));
      }
      pace.put("since", Long.valueOf(since + (long) ((sum(end) - sum(start)) * each)));
      return end;
    }

    private static ReadLimit maxRows(long count) {
      // Janino calls no static method of an interface.
      Class[] types = new Class[] {Long.TYPE};
      Object[] given = new Object[] {Long.valueOf(count)};
      try {
        return (ReadLimit) ReadLimit.class.getMethod("maxRows", types).invoke(null, given);
      } catch (Exception e) {
        throw new RuntimeException(e);
      }
    }

    private static long sum(Offset offset) {
      long found = 0;
      Matcher each = Pattern.compile(": *([0-9]+)").matcher(offset.json());
      while (each.find()) found += Long.parseLong(each.group(1));
      return found;
    }

    private void setEnd(Object end) {
      Class owner = stream.getClass();
      try {
        while (owner != null) {
          java.lang.reflect.Field[] fields = owner.getDeclaredFields();
          for (int i = 0; i < fields.length; i++) {
            if (!"allDataForTriggerAvailableNow".equals(fields[i].getName())) continue;
            fields[i].setAccessible(true);
            fields[i].set(stream, end);
            return;
          }
          owner = owner.getSuperclass();
        }
      } catch (IllegalAccessException e) {
        throw new RuntimeException(e);
      }
      throw new IllegalStateException("allDataForTriggerAvailableNow");
    }

    public ReadLimit getDefaultReadLimit() { return limited().getDefaultReadLimit(); }
    public Offset reportLatestOffset() { return limited().reportLatestOffset(); }
    public Map metrics(Optional latest) { return ((ReportsSourceMetrics) stream).metrics(latest); }
    public Offset latestOffset() { return stream.latestOffset(); }
    public InputPartition[] planInputPartitions(Offset start, Offset end) {
      return stream.planInputPartitions(start, end);
    }
    public PartitionReaderFactory createReaderFactory() { return stream.createReaderFactory(); }
    public Offset initialOffset() { return stream.initialOffset(); }
    public Offset deserializeOffset(String json) { return stream.deserializeOffset(json); }
    public void commit(Offset end) { stream.commit(end); }
    public void stop() { stream.stop(); }
    public String toString() { return stream.toString(); }
  }
}
"""


def compile_table(jvm: Any) -> Any:
    """Return the constructor of `BoundTable`, compiled in the driver."""
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(jvm.Thread.currentThread().getContextClassLoader())
    compiler.cook(_SOURCE)
    return compiler.getClassLoader().loadClass("BoundTable").getConstructors()[0]
