// A handler for AWS Lambda behind an event source of MSK: no consumer, the decoder alone.
import { type CdcEvent, createDecoder, createRegistry } from "cdckit";
import { required } from "./environment.js";

/** What Lambda hands over: records of several partitions, keys and values in base64, headers as lists of bytes. */
export interface MskEvent {
  readonly eventSource: "aws:kafka" | "SelfManagedKafka";
  readonly records: Readonly<Record<string, readonly MskRecord[]>>;
}

export interface MskRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly timestamp: number;
  readonly key?: string | null;
  readonly value?: string | null;
  readonly headers: readonly Readonly<Record<string, readonly number[]>>[];
}

// Outside of the handler: schemas and compiled readers live as long as the instance.
const decoder = createDecoder({ schemas: createRegistry({ url: required("SCHEMA_REGISTRY_URL") }) });

export async function handler(event: MskEvent): Promise<readonly CdcEvent[]> {
  const events: CdcEvent[] = [];
  for (const record of Object.values(event.records).flat()) {
    events.push(
      ...(await decoder.decode({
        topic: record.topic,
        partition: record.partition,
        offset: BigInt(record.offset),
        timestamp: BigInt(record.timestamp),
        key: bytesOf(record.key),
        value: bytesOf(record.value),
        headers: record.headers.flatMap((header) =>
          Object.entries(header).map(([name, bytes]): [string, Buffer] => [name, Buffer.from(bytes)]),
        ),
      })),
    );
  }
  return events;
}

/** Lambda leaves out what is null. */
function bytesOf(base64: string | null | undefined): Buffer | null {
  return base64 === null || base64 === undefined ? null : Buffer.from(base64, "base64");
}
