import { createDecoder, type Decoder, type DecoderOptions, type KafkaRecord, type RecordHeaders } from "@cdckit/decode";
import { recordOf } from "@cdckit/testkit";
import { attacks } from "./attacks.ts";
import { plainAttacks } from "./binary-attacks.ts";
import { heapBytesOf, msOf } from "./cost.ts";
import { framingAttacks } from "./framing-attacks.ts";
import { jsonSchemaAttacks, validationAttacks } from "./json-schema-attacks.ts";
import { protobufAttacks } from "./protobuf-attacks.ts";
import { shapeAttacks } from "./shape-attacks.ts";
import { plainTopics } from "./vector-seeds.ts";

export interface CostReport {
  readonly name: string;
  readonly bytes: number;
  /** Per MiB of message; a message shorter than that counts as one. */
  readonly msPerMiB: number;
  readonly mibPerMiB: number;
  /** What its schema cost before it, once; 0 where the message says all itself. */
  readonly schemaMs: number;
}

interface Attempt {
  readonly name: string;
  readonly value: Buffer;
  readonly key?: Buffer;
  readonly headers?: RecordHeaders;
  readonly options: DecoderOptions;
  readonly greeting?: Buffer;
}

const topic = "a.b.c";

const timings = 12;
const measurements = 3;

/** One that lives on, as in every service: the runtime throws away the code of classes of which a collection finds nothing alive. */
let service: Decoder = createDecoder();

/** What messages cost that are made to cost as much as they can. Needs `--expose-gc` for the memory. */
export async function measureAttacks(nameHolds: string): Promise<readonly CostReport[]> {
  const reports: CostReport[] = [];
  for (const { name, value, key = null, headers = [], options, greeting } of attempts().filter(({ name }) => name.includes(nameHolds))) {
    service = createDecoder(options);
    const hostile = recordOf(value, { topic, key, headers });
    const opening = greeting === undefined ? null : recordOf(greeting, { topic });
    await msOf(() => service.decode(hostile));
    const times: number[] = [];
    const schemaTimes: number[] = [];
    const heaps: number[] = [];
    for (let i = 0; i < timings; i++) {
      const { decoder, schemaMs } = await acquainted(options, opening);
      schemaTimes.push(schemaMs);
      times.push(await msOf(() => decoder.decode(hostile)));
    }
    for (let i = 0; i < measurements; i++) {
      const { decoder } = await acquainted(options, opening);
      heaps.push(await heapBytesOf(() => decoder.decode(hostile)));
    }
    const bytes = value.length + bytesOf(headers);
    const mib = Math.max(1, bytes / 2 ** 20);
    // The least, for a machine that does other things too.
    const [msPerMiB, mibPerMiB] = [Math.min(...times) / mib, Math.min(...heaps) / 2 ** 20 / mib];
    reports.push({ name, bytes, msPerMiB, mibPerMiB, schemaMs: Math.min(...schemaTimes) });
  }
  return reports;
}

/** What headers take on the wire at least: two lengths of a byte each, name and value. */
function bytesOf(headers: RecordHeaders): number {
  return headers.reduce((sum, [name, bytes]) => sum + 2 + name.length + (bytes?.length ?? 0), 0);
}

/** A decoder that has met the schema, and no message like the hostile one. */
async function acquainted(options: DecoderOptions, opening: KafkaRecord | null): Promise<{ decoder: Decoder; schemaMs: number }> {
  const decoder = createDecoder(options);
  return { decoder, schemaMs: opening === null ? 0 : await msOf(() => decoder.decode(opening)) };
}

function attempts(): readonly Attempt[] {
  const plain = plainAttacks().map((attack) => ({ ...attack, options: plainTopics(topic, attack.encoding) }));
  const checked = validationAttacks().map((attack) => ({ ...attack, options: { ...attack.options, ...schemasOf(attack) } }));
  const others = [...attacks(), ...framingAttacks(), ...protobufAttacks(), ...jsonSchemaAttacks(), ...shapeAttacks()];
  return [...others.map((attack) => ({ ...attack, options: schemasOf(attack) })), ...plain, ...checked];
}

function schemasOf({ schemas }: { readonly schemas: DecoderOptions["schemas"] | null }): DecoderOptions {
  return schemas === null || schemas === undefined ? {} : { schemas };
}
