import type { ConvertContext } from "../json/convert.ts";
import { convertContext } from "../json/reader.ts";
import { explainedBy } from "../twin-error.ts";
import type { CompileOptions, PayloadReader } from "../reader.ts";
import type { Type } from "../type.ts";
import { closureReader } from "./closures.ts";
import { Cursor } from "./cursor.ts";
import { generateReader } from "./generate.ts";
import type { Message } from "./messages.ts";
import { type MessageInstruction, planInstructions } from "./read-instructions.ts";
import type { ReadPayload } from "./whole.ts";

/** Schemas with more fields than this are read by closures, because generating and compiling their code costs more than it saves. */
const maxGeneratedFields = 5_000;

export interface ProtobufReaderOptions extends CompileOptions {
  /** Finds a message by its full name, for a `google.protobuf.Any`. */
  readonly findMessage: (fullName: string) => Message | null;
}

/** Makes the reader of payloads of one message. */
export function compileProtobufReader(message: Message, type: Type, options: ProtobufReaderOptions): PayloadReader {
  return { encoding: "protobuf", type, read: compileRead(message, options) };
}

function compileRead(message: Message, options: ProtobufReaderOptions): ReadPayload {
  const root = planInstructions(message, { ...options, columns: options.columns ?? new Map(), parseJson: jsonParser(options) });
  const at = new Cursor(options.limits, options.minMeteredBytes);
  return options.codeGeneration && countFields(root) <= maxGeneratedFields
    ? generateReader(
        root,
        at,
        explainedBy(() => closureReader(root, at)),
      )
    : closureReader(root, at);
}

function countFields(root: MessageInstruction): number {
  const seen = new Set<MessageInstruction>([root]);
  let fields = 0;
  for (const message of seen) {
    fields += message.fields.length;
    for (const { instruction } of message.fields) {
      if (instruction.kind === "message") {
        seen.add(instruction.message); // the loop also visits what is added here
      }
    }
  }
  return fields;
}

/** Made when the first document is read: few schemas have documents, and most users take them as text. */
function jsonParser(options: CompileOptions): (text: string) => unknown {
  let context: ConvertContext | undefined;
  return (text) => {
    context ??= convertContext(options, { maxDepth: options.limits.maxDepth });
    return context.parseJson(text);
  };
}
