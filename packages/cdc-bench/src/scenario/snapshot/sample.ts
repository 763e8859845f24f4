import type { KafkaRecord } from "@cdckit/decode";
import { openRecordFeed } from "../../load/record-feed.ts";
import { openSchemas } from "../../load/schemas.ts";
import type { ClusterSource } from "../../load/source.ts";
import { isRegistryAtFault } from "../../registry-fault.ts";
import { SeenTables } from "../../types/seen-tables.ts";
import type { SnapshotFormat } from "./formats.ts";

const maxSampleRecords = 100;
const frameHeaderBytes = 5;

/** What the first messages of a topic say of all of them: their schema does not change during a snapshot. */
export interface MessageSample {
  readonly schemaBytesPerMessage: number;
  readonly headerBytesPerMessage: number;
  readonly columns: number;
  readonly typedColumns: number;
}

export async function sampleMessages(source: ClusterSource, format: SnapshotFormat, interrupt: AbortSignal): Promise<MessageSample> {
  const tables = new SeenTables(openSchemas(source));
  let records = 0;
  let schemaBytes = 0;
  let headerBytes = 0;
  for await (const record of openRecordFeed(source, { interrupt })) {
    schemaBytes += schemaBytesOf(record.key, format) + schemaBytesOf(record.value, format);
    headerBytes += record.headers.reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + (value?.length ?? 0), 0);
    await tables.add(detached(record), isRegistryAtFault);
    if (++records === maxSampleRecords) {
      break;
    }
  }
  const [table] = tables.tables();
  const columns = table?.row?.kind === "record" ? table.row.fields.length : 0;
  return {
    schemaBytesPerMessage: records === 0 ? 0 : schemaBytes / records,
    headerBytesPerMessage: records === 0 ? 0 : headerBytes / records,
    columns,
    typedColumns: table?.inferredFrom === null ? columns : 0,
  };
}

/** The feed lends its bytes until the next record is asked for. */
function detached(record: KafkaRecord): KafkaRecord {
  return { ...record, key: record.key && Buffer.from(record.key), value: record.value && Buffer.from(record.value) };
}

/** Bytes that do not carry the row, but describe it or name its description. */
export function schemaBytesOf(bytes: Uint8Array | null, format: SnapshotFormat): number {
  if (bytes === null) {
    return 0;
  }
  switch (format) {
    case "json":
      return 0;
    case "json-schema":
      return bytes.length - payloadBytesOf(bytes);
    case "avro":
      return frameHeaderBytes;
    case "protobuf":
      // The message indexes follow the id; the first message of a file is a single 0.
      return frameHeaderBytes + 1;
  }
}

/** Connect writes `{"schema":...,"payload":...}` without spaces; what is not the payload is there for the schema. */
function payloadBytesOf(bytes: Uint8Array): number {
  const parsed = JSON.parse(Buffer.from(bytes).toString()) as { readonly payload?: unknown };
  return Buffer.byteLength(JSON.stringify(parsed.payload ?? null));
}
