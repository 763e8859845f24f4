import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import type { Candidate, KafkaRecord, RegisteredSchema } from "@cdckit/decode";
import { exitCodes, runProgram } from "cdc-bench";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Sample } from "../vectors/sample.ts";
import { allSamples } from "../vectors/samples.ts";

interface InspectLine {
  readonly framing: string | null;
  readonly encoding: string | null;
  readonly envelope: string | null;
  readonly kind: string | null;
  readonly error: { readonly code: string } | null;
  readonly explain: readonly Candidate[];
}

// The command takes hints, but neither value options nor limits.
const samples = (await allSamples()).filter(({ options }) => options.values === undefined && options.limits === undefined);
const files = [...new Set(samples.map(({ file }) => file))];
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "inspect-"));
});

afterAll(() => rm(folder, { recursive: true }));

describe.each(files)("cdc-bench inspect --explain on %s", (file) => {
  test.each(samples.filter((sample) => sample.file === file))("$name", async (sample) => {
    const { code, lines } = await inspect(sample);
    const [first] = lines;
    expect(first).toBeDefined();
    expectReasons(first?.explain ?? []);
    expectFormats(sample, first as InspectLine);
    if (sample.error !== null && sample.file.startsWith("framing/") === false) {
      expect(lines).toMatchObject([{ error: { code: sample.error } }]);
      expect(code).toBe(exitCodes.decodeErrors);
    }
    if (sample.events !== null) {
      expect(lines.map(({ error }) => error?.code ?? null)).toEqual(lines.map(() => null));
      expect(lines.filter(({ kind }) => kind !== null)).toHaveLength(sample.events.length);
      expect(code).toBe(exitCodes.ok);
    }
  });
});

/** Each candidate says why it won or lost; a layer has one winner, or none where the message does not decode. */
function expectReasons(candidates: readonly Candidate[]): void {
  expect(candidates.filter(({ evidence }) => evidence.trim().length < 10)).toEqual([]);
  const winners = candidates.filter(({ won }) => won).map(({ side, layer }) => `${side} ${layer}`);
  expect(winners).toEqual([...new Set(winners)]);
  const losers = candidates.filter(({ won }) => !won);
  expect(losers.length).toBeGreaterThan(winners.length - 1); // of a record of nulls, nothing is to be explained
}

function expectFormats({ formats, keyFormats, events }: Sample, line: InspectLine): void {
  expect(winnersOf(line, "value").slice(0, formats.length)).toEqual(formats);
  expect(winnersOf(line, "key").slice(0, keyFormats.length)).toEqual(keyFormats);
  if (events !== null && events.length > 0 && formats.length === 3) {
    expect([line.framing, line.encoding, line.envelope]).toEqual(formats);
  }
}

/** The names of the winners of a side, from layer to layer. */
function winnersOf({ explain }: InspectLine, side: Candidate["side"]): readonly string[] {
  return explain.filter((candidate) => candidate.won && candidate.side === side).map(({ name }) => name);
}

/** The command as the command line runs it, in this process. */
async function inspect({ record, schemas, options }: Sample): Promise<{ code: number; lines: readonly InspectLine[] }> {
  const [file, schemasFile, hintsFile] = ["recording", "schemas", "hints"].map((name) => join(folder, `${name}.json`)) as [
    string,
    string,
    string,
  ];
  await writeFile(file, `${JSON.stringify(recordingLine(record))}\n`);
  await writeFile(schemasFile, schemas.map(bundleLine).join(""));
  await writeFile(hintsFile, JSON.stringify(options.topics ?? {}));
  const [stdout, stderr] = [new Collected(), new Collected()];
  const bundle = schemas.length === 0 ? [] : ["--schemas", schemasFile]; // without schemas, nothing says where they are
  const args = ["inspect", "--file", file, ...bundle, "--hints", hintsFile, "--explain", "--json"];
  const code = await runProgram(args, { stdout, stderr, liveLine: false, env: {}, interrupt: new AbortController().signal });
  expect([exitCodes.ok, exitCodes.decodeErrors], stderr.text).toContain(code);
  const lines = stdout.text.split("\n").filter((line) => line !== "");
  return { code, lines: lines.map((line) => JSON.parse(line) as InspectLine) };
}

function recordingLine({ topic, partition, offset, timestamp, headers, key, value }: KafkaRecord): object {
  const text = (bytes: Uint8Array | null): string | null => (bytes === null ? null : Buffer.from(bytes).toString("base64"));
  const named = headers.map(([name, bytes]) => [name, text(bytes)]);
  return { topic, partition, offset: String(offset), timestamp: String(timestamp), headers: named, key: text(key), value: text(value) };
}

function bundleLine(schema: RegisteredSchema): string {
  return `${JSON.stringify(schema)}\n`;
}

class Collected extends Writable {
  text = "";

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}
