import type { ConvertContext } from "../json/convert.ts";
import { convertContext } from "../json/reader.ts";
import type { CompileOptions, PayloadReader } from "../reader.ts";
import { readText, TextCache } from "../text-cache.ts";
import type { Type } from "../type.ts";
import { closureReader } from "./closures.ts";
import { copyBytes, Cursor } from "./cursor.ts";
import { countInstructions } from "./size-bounds.ts";
import { generateReader, type PayloadReads, type ReadPayload } from "./generate.ts";
import { planSchemaResolution } from "./schema-resolution.ts";
import { planInstructions, type ReadInstruction } from "./read-instructions.ts";

/** Schemas of more steps than this are read by closures: generating and compiling their code costs more than it saves. */
const maxGeneratedInstructions = 5_000;

/** The reader of payloads that a schema of this type wrote, as values of the type that is wanted. */
export function compileAvroReader(type: Type, options: CompileOptions, wanted: Type = type): PayloadReader {
  const instructions = { ...options, parseJson: jsonParser(options) };
  const root = wanted === type ? planInstructions(type, instructions) : planSchemaResolution(type, wanted, instructions);
  const reads = compileReads(root, options);
  const readBare = type.kind === "bytes" && options.bareBytes !== false ? bareReader(root, options) : null;
  return { encoding: "avro", type: wanted, read: readBare ?? reads.read, readSequence: reads.readSequence };
}

/** Reads bytes without their length. */
function bareReader(root: ReadInstruction, { texts = new TextCache() }: CompileOptions): ReadPayload | null {
  switch (root.kind) {
    case "bytes":
      return root.convert ?? copyBytes;
    case "string": {
      const { convert } = root; // the schema that values are wanted in has text
      return (bytes, start, end) => {
        const text = readText(texts, bytes, start, end);
        return convert === null ? text : convert(text);
      };
    }
    default:
      return null;
  }
}

function compileReads(root: ReadInstruction, options: CompileOptions): PayloadReads {
  const at = new Cursor(options.limits, options.texts ?? new TextCache());
  return options.codeGeneration && countInstructions(root) <= maxGeneratedInstructions ? generateReader(root, at) : closureReader(root, at);
}

/** Made when the first document is read: few schemas have any, and most users take them as text. */
function jsonParser(options: CompileOptions): (text: string) => unknown {
  let context: ConvertContext | undefined;
  return (text) => {
    context ??= convertContext(options, { maxDepth: options.limits.maxDepth, texts: null });
    return context.parseJson(text);
  };
}
