import type { FormatKey } from "../measure/decode-meter.ts";

/** `confluent + avro + debezium`: the three answers that make up a format. */
export function formatLabel(format: FormatKey): string {
  return format === "tombstone" ? "tombstone" : [format.framing, format.encoding, format.envelope].join(" + ");
}
