package golden;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.function.FilterFunction;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.api.java.function.FlatMapGroupsWithStateFunction;
import org.apache.spark.api.java.function.MapFunction;
import org.apache.spark.api.java.function.MapGroupsWithStateFunction;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.api.java.function.ReduceFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.KeyValueGroupedDataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream;
import org.apache.spark.sql.streaming.GroupState;
import org.apache.spark.sql.streaming.GroupStateTimeout;
import org.apache.spark.sql.streaming.ListState;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import scala.Option;
import scala.Tuple2;
import scala.collection.JavaConverters;

/** The operators that only the typed interface has. */
public final class Typed {
  private static final Encoder<Tuple2<String, Long>> PAIRS =
      Encoders.tuple(Encoders.STRING(), Encoders.LONG());

  private Typed() {}

  private static Dataset<Tuple2<String, Long>> pairs(Dataset<Row> df) {
    return df.selectExpr("k as _1", "cast(v as long) as _2").as(PAIRS);
  }

  private static KeyValueGroupedDataset<String, Tuple2<String, Long>> grouped(Dataset<Row> df) {
    return pairs(df)
        .groupByKey((MapFunction<Tuple2<String, Long>, String>) t -> t._1(), Encoders.STRING());
  }

  /** Counts rows per key and says each new count. */
  public static Dataset<Row> flatMapGroupsWithState(Dataset<Row> df) {
    FlatMapGroupsWithStateFunction<String, Tuple2<String, Long>, Long, Tuple2<String, Long>> f =
        (key, rows, state) -> List.of(new Tuple2<>(key, counted(rows, state))).iterator();
    return grouped(df)
        .flatMapGroupsWithState(
            f, OutputMode.Append(), Encoders.LONG(), PAIRS, GroupStateTimeout.ProcessingTimeTimeout())
        .toDF("k", "n");
  }

  /** The same with one row a key, and no time-out. */
  public static Dataset<Row> mapGroupsWithState(Dataset<Row> df) {
    MapGroupsWithStateFunction<String, Tuple2<String, Long>, Long, Tuple2<String, Long>> f =
        (key, rows, state) -> new Tuple2<>(key, counted(rows, state));
    return grouped(df)
        .mapGroupsWithState(f, Encoders.LONG(), PAIRS, GroupStateTimeout.NoTimeout())
        .toDF("k", "n");
  }

  private static long counted(Iterator<Tuple2<String, Long>> rows, GroupState<Long> state) {
    long n = state.exists() ? state.get() : 0L;
    while (rows.hasNext()) {
      rows.next();
      n++;
    }
    state.update(n);
    return n;
  }

  /** Keeps one variable of each type; the first one expires. */
  public static final class Counter
      extends StatefulProcessor<String, Tuple2<String, Long>, Tuple2<String, Long>> {
    private transient ValueState<Long> total;
    private transient ListState<Long> seen;
    private transient MapState<Long, Long> times;

    @Override
    public void init(OutputMode mode, TimeMode time) {
      total = getHandle().getValueState("total", Encoders.LONG(), new TTLConfig(java.time.Duration.ofHours(1)));
      seen = getHandle().getListState("seen", Encoders.LONG(), TTLConfig.NONE());
      times = getHandle().getMapState("times", Encoders.LONG(), Encoders.LONG(), TTLConfig.NONE());
    }

    @Override
    public scala.collection.Iterator<Tuple2<String, Long>> handleInputRows(
        String key, scala.collection.Iterator<Tuple2<String, Long>> rows, TimerValues timers) {
      long n = total.exists() ? total.get() : 0L;
      while (rows.hasNext()) {
        Long value = rows.next()._2();
        seen.appendValue(value);
        times.updateValue(value, n);
        n++;
      }
      total.update(n);
      return JavaConverters.asScalaIterator(List.of(new Tuple2<>(key, n)).iterator());
    }
  }

  /** The typed form of transformWithState. */
  public static Dataset<Row> transformWithState(Dataset<Row> df) {
    return grouped(df)
        .transformWithState(new Counter(), TimeMode.ProcessingTime(), OutputMode.Update(), PAIRS)
        .toDF("k", "n");
  }

  /** A filter, a map, a flat map and a map over partitions. */
  public static Dataset<Row> typedSteps(Dataset<Row> df) {
    return pairs(df)
        .filter((FilterFunction<Tuple2<String, Long>>) t -> t._2() > 1)
        .map((MapFunction<Tuple2<String, Long>, Long>) Tuple2::_2, Encoders.LONG())
        .flatMap((FlatMapFunction<Long, Long>) n -> List.of(n, n + 1).iterator(), Encoders.LONG())
        .mapPartitions(
            (MapPartitionsFunction<Long, Long>)
                rows -> {
                  List<Long> out = new ArrayList<>();
                  rows.forEachRemaining(out::add);
                  return out.iterator();
                },
            Encoders.LONG())
        .toDF("n");
  }

  /** A reduction of the rows of each key. */
  public static Dataset<Row> reduceGroups(Dataset<Row> df) {
    return grouped(df)
        .reduceGroups(
            (ReduceFunction<Tuple2<String, Long>>) (a, b) -> new Tuple2<>(a._1(), a._2() + b._2()))
        .toDF("k", "pair");
  }

  /** A memory stream that holds three numbers. */
  public static Dataset<Row> memoryStream(org.apache.spark.sql.classic.SparkSession spark) {
    MemoryStream<Integer> stream = new MemoryStream<>(7, spark, Option.empty(), Encoders.INT());
    stream.addData(JavaConverters.asScalaBuffer(List.of(1, 2, 3)).toSeq());
    return stream.toDF();
  }
}
