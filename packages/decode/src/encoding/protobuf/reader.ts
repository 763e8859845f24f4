import type { ConvertContext } from "../json/convert.ts";
import { convertContext } from "../json/reader.ts";
import type { CompileOptions, PayloadReader } from "../reader.ts";
import { TextCache } from "../text-cache.ts";
import type { Type } from "../type.ts";
import { closureReader, type ReadPayload } from "./closures.ts";
import { Cursor } from "./cursor.ts";
import { generateReader } from "./generate.ts";
import type { Message } from "./messages.ts";
import { type MessageInstruction, planInstructions } from "./read-instructions.ts";

/** Schemas of more fields than this are read by closures: generating and compiling their code costs more than it saves. */
const maxGeneratedFields = 5_000;

export interface ProtobufReaderOptions extends CompileOptions {
  /** The message of a full name, for those that only their bytes name. */
  readonly findMessage: (fullName: string) => Message | null;
}

/** The reader of payloads of one message. */
export function compileProtobufReader(message: Message, type: Type, options: ProtobufReaderOptions): PayloadReader {
  return { encoding: "protobuf", type, read: compileRead(message, options) };
}

function compileRead(message: Message, options: ProtobufReaderOptions): ReadPayload {
  const root = planInstructions(message, { ...options, columns: options.columns ?? new Map(), parseJson: jsonParser(options) });
  const at = new Cursor(options.limits, options.texts ?? new TextCache(), options.minMeteredBytes);
  return options.codeGeneration && countFields(root) <= maxGeneratedFields ? generateReader(root, at) : closureReader(root, at);
}

function countFields(root: MessageInstruction): number {
  const seen = new Set<MessageInstruction>([root]);
  let fields = 0;
  for (const message of seen) {
    fields += message.fields.length;
    for (const { instruction } of message.fields) {
      if (instruction.kind === "message") {
        seen.add(instruction.message); // a set is walked to the end that it has by then
      }
    }
  }
  return fields;
}

/** Made when the first document is read: few schemas have any, and most users take them as text. */
function jsonParser(options: CompileOptions): (text: string) => unknown {
  let context: ConvertContext | undefined;
  return (text) => {
    context ??= convertContext(options, { maxDepth: options.limits.maxDepth, texts: null });
    return context.parseJson(text);
  };
}
