import type { KafkaRecord } from "@cdckit/decode";
import { InvalidArgumentError } from "commander";

/** A header that a record must have: with any value, or with this one. */
export interface HeaderFilter {
  readonly name: string;
  readonly value: string | null;
}

/** What is asked of a record before it is decoded. What is empty asks nothing. */
export interface RecordFilter {
  /** Any of them. */
  readonly partitions: readonly number[];
  /** All of them. */
  readonly headers: readonly HeaderFilter[];
}

/** One `--header NAME` or `--header NAME=VALUE`, added to those before it. */
export function collectHeader(text: string, before: readonly HeaderFilter[] = []): readonly HeaderFilter[] {
  const at = text.indexOf("=");
  const name = at === -1 ? text : text.slice(0, at);
  if (name === "") {
    throw new InvalidArgumentError("It must be the name of a header, or NAME=VALUE.");
  }
  return [...before, { name, value: at === -1 ? null : text.slice(at + 1) }];
}

export function matchesRecord({ partitions, headers }: RecordFilter, record: KafkaRecord): boolean {
  return (
    (partitions.length === 0 || partitions.includes(record.partition)) &&
    headers.every(({ name, value }) =>
      record.headers.some(([other, bytes]) => other === name && (value === null || headerText(bytes) === value)),
    )
  );
}

function headerText(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}
