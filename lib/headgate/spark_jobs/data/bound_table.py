"""Java that stands before a Kafka table, compiled in the driver by the compiler that Spark brings.

`Trigger.AvailableNow` asks Kafka for its latest offsets at each start of the query, so a query that
was killed would end at later ones. `BoundTable` hands the stream over before its first batch
(`made`), and waits until its end was set (`ready`). After `stopping` it has no further data, so the
query ends between two batches. A queue in place of `ready`'s answer has the end of each batch, one
after the other; the query ends after the last.
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

  public BoundTable(Object table, Object number, Object replaced, Object made, Object ready,
                    Object stopping) {
    this.table = (SupportsRead) table;
    this.number = (Integer) number;
    this.replaced = (Map) replaced;
    this.made = (BlockingQueue) made;
    this.ready = (BlockingQueue) ready;
    this.stopping = (AtomicBoolean) stopping;
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
    final BoundScan bound = new BoundScan(scan, number, made, ready, stopping);
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

    BoundScan(Scan scan, Integer number, BlockingQueue made, BlockingQueue ready,
              AtomicBoolean stopping) {
      this.scan = scan;
      this.number = number;
      this.made = made;
      this.ready = ready;
      this.stopping = stopping;
    }

    public StructType readSchema() { return scan.readSchema(); }
    public String description() { return scan.description(); }
    public CustomMetric[] supportedCustomMetrics() { return scan.supportedCustomMetrics(); }
    public CustomTaskMetric[] reportDriverMetrics() { return scan.reportDriverMetrics(); }
    public Scan.ColumnarSupportMode columnarSupportMode() { return scan.columnarSupportMode(); }
    public MicroBatchStream toMicroBatchStream(String checkpoint) {
      return new BoundStream(scan.toMicroBatchStream(checkpoint), number, made, ready, stopping);
    }
  }

  public static class BoundStream
      implements MicroBatchStream, SupportsTriggerAvailableNow, ReportsSourceMetrics {
    private final MicroBatchStream stream;
    private final Integer number;
    private final BlockingQueue made;
    private final BlockingQueue ready;
    private final AtomicBoolean stopping;
    private Queue ends;

    BoundStream(MicroBatchStream stream, Integer number, BlockingQueue made, BlockingQueue ready,
                AtomicBoolean stopping) {
      this.stream = stream;
      this.number = number;
      this.made = made;
      this.ready = ready;
      this.stopping = stopping;
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
      return limited().latestOffset(start, limit);
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
