import type { ConvertContext } from "../json/convert.ts";
import { convertContext } from "../json/reader.ts";
import { explainedBy } from "../twin-error.ts";
import type { CompileOptions, PayloadReader } from "../reader.ts";
import { readText } from "../utf8-text.ts";
import type { Type } from "../type.ts";
import { closurePartReader, closureReader } from "./closures.ts";
import { copyBytes, Cursor } from "./cursor.ts";
import { countInstructions } from "./size-bounds.ts";
import { generateReader, type PayloadReads, type ReadPayload } from "./generate.ts";
import { planSchemaResolution } from "./schema-resolution.ts";
import { planInstructions, type ReadInstruction } from "./read-instructions.ts";

/** Schemas with more instructions than this are read by closures, because generating and compiling their code costs more than it saves. */
const maxGeneratedInstructions = 5_000;

/** The reader of payloads that a schema of the type `type` wrote, as values of the type `wanted`. */
export function compileAvroReader(type: Type, options: CompileOptions, wanted: Type = type): PayloadReader {
  const instructions = { ...options, parseJson: jsonParser(options) };
  const root = wanted === type ? planInstructions(type, instructions) : planSchemaResolution(type, wanted, instructions);
  const reads = compileReads(root, options);
  const readBare = type.kind === "bytes" && options.bareBytes !== false ? bareReader(root) : null;
  return { encoding: "avro", type: wanted, read: readBare ?? reads.read, readSequence: reads.readSequence };
}

/** Reads a payload that is only bytes: Confluent's serializer writes them without a length. */
function bareReader(root: ReadInstruction): ReadPayload | null {
  switch (root.kind) {
    case "bytes":
      return root.convert ?? copyBytes;
    case "string": {
      const { convert } = root; // the reader's schema declares text
      return (bytes, start, end) => {
        const text = readText(bytes, start, end);
        return convert === null ? text : convert(text);
      };
    }
    default:
      return null;
  }
}

function compileReads(root: ReadInstruction, options: CompileOptions): PayloadReads {
  const at = new Cursor(options.limits);
  return options.codeGeneration && countInstructions(root) <= maxGeneratedInstructions
    ? generateReader(root, at, {
        payload: explainedBy(() => closureReader(root, at).read),
        part: (instruction) => explainedBy(() => closurePartReader(root, instruction, at)),
      })
    : closureReader(root, at);
}

/** Made when the first document is read: few schemas have documents, and most users take them as text. */
function jsonParser(options: CompileOptions): (text: string) => unknown {
  let context: ConvertContext | undefined;
  return (text) => {
    context ??= convertContext(options, { maxDepth: options.limits.maxDepth });
    return context.parseJson(text);
  };
}
