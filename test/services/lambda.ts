// A handler for AWS Lambda behind an event source of MSK with ReportBatchItemFailures. There is no consumer, the decoder alone.
import { type CdcEvent, createDecoder, createRegistry, type KafkaRecord } from "cdckit";
import { required } from "./environment.js";

/** What Lambda hands over: the records of each partition, keys and values in base64, headers as lists of bytes. */
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

/** Where Lambda goes on in each partition that has a failure. */
export interface MskAnswer {
  readonly batchItemFailures: readonly { readonly itemIdentifier: { readonly partition: string; readonly offset: number } }[];
}

// Schemas and compiled readers live as long as the instance.
const decoder = createDecoder({ schemas: createRegistry({ url: required("SCHEMA_REGISTRY_URL") }) });

/** Partitions are handled beside each other. The records of one are handled in their order, up to the first that fails. */
export function createHandler(handle: (event: CdcEvent) => void | Promise<void>): (event: MskEvent) => Promise<MskAnswer> {
  return async ({ records }) => {
    const partitions = Object.entries(records).map(async ([partition, list]) => {
      const failed = await firstFailure(list, handle);
      return failed === null ? [] : [{ itemIdentifier: { partition, offset: failed.offset } }];
    });
    return { batchItemFailures: (await Promise.all(partitions)).flat() };
  };
}

async function firstFailure(records: readonly MskRecord[], handle: (event: CdcEvent) => void | Promise<void>): Promise<MskRecord | null> {
  for (const record of records) {
    try {
      for (const event of await decoder.decode(kafkaRecordOf(record))) {
        await handle(event);
      }
    } catch (error) {
      console.error(error);
      return record;
    }
  }
  return null;
}

function kafkaRecordOf({ topic, partition, offset, timestamp, key, value, headers }: MskRecord): KafkaRecord {
  return {
    topic,
    partition,
    offset: BigInt(offset),
    timestamp: BigInt(timestamp),
    key: bytesOf(key),
    value: bytesOf(value),
    headers: headers.flatMap((header) => Object.entries(header).map(([name, bytes]) => [name, Uint8Array.from(bytes)] as const)),
  };
}

/** Lambda leaves out what is null. */
function bytesOf(base64: string | null | undefined): Buffer | null {
  return base64 === null || base64 === undefined ? null : Buffer.from(base64, "base64");
}

export const handler: (event: MskEvent) => Promise<MskAnswer> = createHandler((event) => console.log(event.kind, event.key));
