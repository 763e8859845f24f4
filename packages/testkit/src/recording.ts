import type { KafkaRecord } from "@cdckit/decode";
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { PassThrough, type Readable } from "node:stream";
import { RecordingError } from "./recording-error.ts";
import { parseRecordingLine } from "./recording-line.ts";

const newline = 0x0a;
/** Longest line accepted: a record of Kafka's largest practical size, as base64. */
const maxLineBytes = 256 * 1024 * 1024;

/**
 * The records of a RECORDING file, in its order: NDJSON, plain or gzip. Reads as it goes, so a file may be larger than memory.
 * Throws {@link RecordingError}, naming the line, at the first line that is not a record.
 */
export async function* readRecording(file: string): AsyncGenerator<KafkaRecord, void, void> {
  let line = 0;
  let topic = "";
  for await (const text of linesOf(file)) {
    line++;
    if (text.trim() !== "") {
      const record = parseLine(text, file, line, topic);
      ({ topic } = record);
      yield record;
    }
  }
}

/** All records of a RECORDING file at once. */
export async function loadRecording(file: string): Promise<KafkaRecord[]> {
  const records: KafkaRecord[] = [];
  for await (const record of readRecording(file)) {
    records.push(record);
  }
  return records;
}

function parseLine(text: string, file: string, line: number, lastTopic: string): KafkaRecord {
  try {
    return parseRecordingLine(text, lastTopic);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new RecordingError("malformed-line", file, `line ${line} of ${file} is not a record: ${reason}`, { line });
  }
}

async function* linesOf(file: string): AsyncGenerator<string, void, void> {
  const rest: Buffer[] = [];
  let restBytes = 0;
  for await (const chunk of chunksOf(file)) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      rest.push(chunk.subarray(start, end));
      yield takeText(rest);
      restBytes = 0;
      start = end + 1;
    }
    rest.push(chunk.subarray(start));
    restBytes += chunk.length - start;
    if (restBytes > maxLineBytes) {
      throw new RecordingError(
        "unreadable",
        file,
        `${file} has a line of more than ${maxLineBytes} bytes: is it NDJSON, one record a line?`,
      );
    }
  }
  if (restBytes > 0) {
    yield takeText(rest);
  }
}

function takeText(parts: Buffer[]): string {
  const text = Buffer.concat(parts).toString("utf8");
  parts.length = 0;
  return text;
}

async function* chunksOf(file: string): AsyncGenerator<Buffer, void, void> {
  try {
    for await (const chunk of await openRecording(file)) {
      yield chunk as Buffer;
    }
  } catch (error) {
    throw new RecordingError("unreadable", file, `cannot read ${file}: ${reasonOf(error)}`, { cause: error });
  }
}

async function openRecording(file: string): Promise<Readable> {
  if (!(await isGzip(file))) {
    return createReadStream(file);
  }
  const text = new PassThrough();
  // The reader of `text` sees the failure; here it only must not go unhandled.
  pipeline(createReadStream(file), createGunzip(), text).catch(() => {});
  return text;
}

/** Told by the first two bytes, because names lie. */
async function isGzip(file: string): Promise<boolean> {
  const handle = await open(file, "r");
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b;
  } finally {
    await handle.close();
  }
}

function reasonOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  const known: Readonly<Record<string, string>> = {
    ENOENT: "there is no such file",
    EISDIR: "it is a folder",
    EACCES: "no permission to read it",
    Z_DATA_ERROR: "its gzip data is damaged",
    Z_BUF_ERROR: "its gzip data ends too early",
  };
  return (code !== undefined && known[code]) || code || "reading failed";
}
