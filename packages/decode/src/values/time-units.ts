const unitsPerSecond: ReadonlyMap<string, number> = new Map([
  ["io.debezium.time.Time", 1_000],
  ["io.debezium.time.Timestamp", 1_000],
  ["org.apache.kafka.connect.data.Time", 1_000],
  ["org.apache.kafka.connect.data.Timestamp", 1_000],
  ["avro.time-millis", 1_000],
  ["avro.timestamp-millis", 1_000],
  ["avro.local-timestamp-millis", 1_000],
  ["io.debezium.time.MicroTime", 1_000_000],
  ["io.debezium.time.MicroTimestamp", 1_000_000],
  ["avro.time-micros", 1_000_000],
  ["avro.timestamp-micros", 1_000_000],
  ["avro.local-timestamp-micros", 1_000_000],
  ["io.debezium.time.NanoTime", 1_000_000_000],
  ["io.debezium.time.NanoTimestamp", 1_000_000_000],
  ["avro.timestamp-nanos", 1_000_000_000],
  ["avro.local-timestamp-nanos", 1_000_000_000],
]);

/** In how many units a second a column with this meaning counts time; 0 if it does not count time. */
export function unitsPerSecondOf(name: string): number {
  return unitsPerSecond.get(name) ?? 0;
}
