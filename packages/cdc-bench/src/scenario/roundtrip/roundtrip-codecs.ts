import { BenchError } from "../../bench-error.ts";
import { type Codec, isReadingCodec } from "../../codec/codec.ts";
import { rowCodecs } from "../../codec/codecs-of.ts";
import { compressed, compressions } from "../../codec/codecs/compressed.ts";
import type { Row } from "../../codec/data-sets.ts";
import type { RecordShape } from "../../codec/shape.ts";
import { avroFramedCodec, type SchemaVersion } from "./evolution.ts";
import { loadPlugIn } from "./plug-in.ts";

/** A codec before and after a field was added. */
export interface VersionedCodec {
  readonly name: string;
  readonly versions: Readonly<Record<SchemaVersion, Codec<Row>>>;
  /** Whether it is the user's own. */
  readonly isPlugIn: boolean;
}

export interface CodecChoice {
  readonly shapes: Readonly<Record<SchemaVersion, RecordShape>>;
  /** The name of the field that the new shape has more. */
  readonly field: string;
  readonly plugIns: readonly string[];
  /** Only codecs whose names start with one of these; all if there are none. */
  readonly names: readonly string[];
}

/** Every codec that can take part: those of single rows that write, Avro with a schema id, and the user's own. */
export async function roundtripCodecs({ shapes, field, plugIns, names }: CodecChoice): Promise<readonly VersionedCodec[]> {
  const [before, after] = [writingCodecs(shapes.old), writingCodecs(shapes.new)];
  const own: VersionedCodec[] = before.flatMap((codec) => {
    const evolved = after.find(({ name }) => name === codec.name);
    return evolved === undefined ? [] : [{ name: codec.name, versions: { old: codec, new: evolved }, isPlugIn: false }];
  });
  const framed = { old: avroFramedCodec(shapes, "old", field), new: avroFramedCodec(shapes, "new", field) };
  const headless = own.findIndex(({ name }) => name.startsWith("avro"));
  own.splice(headless + 1, 0, { name: framed.old.name, versions: framed, isPlugIn: false });
  const brought: VersionedCodec[] = [];
  for (const file of plugIns) {
    const [old, evolved] = [await loadPlugIn(file, shapes.old), await loadPlugIn(file, shapes.new)];
    brought.push(...old.map((codec, i) => ({ name: codec.name, versions: { old: codec, new: evolved[i] ?? codec }, isPlugIn: true })));
  }
  const chosen = names.length === 0 ? own : own.filter(({ name }) => names.some((wanted) => name.startsWith(wanted)));
  if (chosen.length + brought.length === 0) {
    throw new BenchError(
      "usage",
      `no codec's name begins with ${names.join(" or ")}; there are ${own.map(({ name }) => name).join("; ")}.`,
    );
  }
  return [...chosen, ...brought];
}

/** The codec with its bytes compressed, for what has no compression of its own. Null if this Node lacks the compression. */
export function compressedVersion(codec: VersionedCodec, compression: string): VersionedCodec | null {
  const found = compressions.find(({ name }) => name.split(" ")[0] === compression);
  return found === undefined
    ? null
    : { ...codec, versions: { old: compressed(codec.versions.old, found), new: compressed(codec.versions.new, found) } };
}

function writingCodecs(shape: RecordShape): readonly Codec<Row>[] {
  return rowCodecs(shape).flatMap((codec) => (isReadingCodec(codec) ? [] : [codec]));
}
