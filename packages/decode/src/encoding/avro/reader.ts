import type { ConvertContext } from "../json/convert.ts";
import { convertContext } from "../json/reader.ts";
import type { CompileOptions, PayloadReader } from "../reader.ts";
import { TextCache } from "../text-cache.ts";
import type { Type } from "../type.ts";
import { closureReader } from "./closures.ts";
import { copyBytes, Cursor } from "./cursor.ts";
import { countSteps } from "./extent.ts";
import { generateReader, type ReadPayload } from "./generate.ts";
import { planSteps } from "./steps.ts";

/** Schemas of more steps than this are read by closures: generating and compiling their code costs more than it saves. */
const mostGeneratedSteps = 5_000;

/** The reader of payloads that a schema of this type wrote. */
export function compileAvroReader(type: Type, options: CompileOptions): PayloadReader {
  return { encoding: "avro", type, read: compileRead(type, options) };
}

function compileRead(type: Type, options: CompileOptions): ReadPayload {
  const root = planSteps(type, { ...options, parseJson: jsonParser(options) });
  if (root.kind === "bytes") {
    return root.convert ?? copyBytes; // Confluent's serializers write bytes at the top without their length
  }
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
