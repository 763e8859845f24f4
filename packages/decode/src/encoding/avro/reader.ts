import type { ConvertContext } from "../json/convert.ts";
import { convertContext } from "../json/reader.ts";
import type { CompileOptions, PayloadReader } from "../reader.ts";
import { TextCache } from "../text-cache.ts";
import type { Type } from "../type.ts";
import { closureReader } from "./closures.ts";
import { copyBytes, Cursor } from "./cursor.ts";
import { countSteps } from "./extent.ts";
import { generateReader, type PayloadReads } from "./generate.ts";
import { planSteps, type Step } from "./steps.ts";

/** Schemas of more steps than this are read by closures: generating and compiling their code costs more than it saves. */
const mostGeneratedSteps = 5_000;

/** The reader of payloads that a schema of this type wrote. */
export function compileAvroReader(type: Type, options: CompileOptions): PayloadReader {
  const root = planSteps(type, { ...options, parseJson: jsonParser(options) });
  const reads = compileReads(root, options);
  if (root.kind === "bytes" && options.bareBytes !== false) {
    return { encoding: "avro", type, read: root.convert ?? copyBytes, readSequence: reads.readSequence };
  }
  return { encoding: "avro", type, ...reads };
}

function compileReads(root: Step, options: CompileOptions): PayloadReads {
  const at = new Cursor(options.limits, options.texts ?? new TextCache());
  return options.codeGeneration && countSteps(root) <= mostGeneratedSteps ? generateReader(root, at) : closureReader(root, at);
}

/** Made when the first document is read: few schemas have any, and most users take them as text. */
function jsonParser(options: CompileOptions): (text: string) => unknown {
  let context: ConvertContext | undefined;
  return (text) => {
    context ??= convertContext(options, { maxDepth: options.limits.maxDepth, texts: null });
    return context.parseJson(text);
  };
}
