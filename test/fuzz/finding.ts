import type { KafkaRecord } from "@cdckit/decode";

/** What a decoder promises and did not keep, with the bytes that show it. */
export interface Finding {
  readonly promise: string;
  readonly detail: string;
  readonly record: KafkaRecord;
}

/** How decoding ended. */
export interface Verdict {
  /** The events, all their fields read, as one text; or the error's code. */
  readonly outcome: string;
  readonly decoded: boolean;
  readonly code: string | null;
}

/** A finding as it is printed: what is needed to have the same bytes again. */
export function describeFinding({ promise, detail, record }: Finding, repeat: string): string {
  const text = (bytes: Uint8Array | null): string => (bytes === null ? "null" : Buffer.from(bytes).toString("base64"));
  const headers = record.headers.map(([name, value]) => `${name}=${text(value)}`).join(" ");
  return [
    promise,
    detail,
    `topic   ${record.topic}`,
    `headers ${headers}`,
    `key     ${text(record.key)}`,
    `value   ${text(record.value)}`,
    repeat,
  ].join("\n");
}
