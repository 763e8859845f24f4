import type { ParsedSchema } from "../encoding/schema-encoding.ts";
import { DecodeError, isDecodeError } from "../errors.ts";
import type { MessageChoice } from "../framing/framing.ts";
import type { MessageSelector, SchemaId } from "../schema-source.ts";
import { topicOption } from "../topic-option.ts";

/** The messages of a schema that the first bytes of a payload may choose. */
export interface Possible {
  /** Choices that exist in the schema, each once. */
  readonly choices: readonly MessageChoice[];
  /** Messages that the same bytes may also mean. They are tried if none of the choices fits. */
  readonly others: readonly MessageChoice[];
}

/** The choices that exist in the schema. `countsMapEntries` is the user's hint about message indexes. Null if there is no hint. */
export function possibleOf(parsed: ParsedSchema, choices: readonly MessageChoice[], countsMapEntries: boolean | null): Possible {
  const found = new Map<string, MessageChoice>();
  const others = new Map<string, MessageChoice>();
  const hinted = choices.filter(
    ({ message }) => countsMapEntries === null || !isInside(message) || isCounted(message) === countsMapEntries,
  );
  for (const choice of hinted) {
    addNamed(found, parsed, choice);
  }
  for (const choice of countsMapEntries === null ? hinted : []) {
    for (const message of parsed.readingsOf?.(choice.message) ?? []) {
      addNamed(others, parsed, { ...choice, message });
    }
  }
  return { choices: [...found.values()], others: [...others].filter(([name]) => !found.has(name)).map(([, choice]) => choice) };
}

/** Whether only one message is possible. */
export function isSole({ choices, others }: Possible): boolean {
  return choices.length === 1 && others.length === 0;
}

/**
 * The value of the one choice that fits. Protobuf readers skip unknown fields, so that most bytes can be read as any message. The steps
 * are:
 * 1. If only one choice is possible, it is read.
 * 2. If only one message declares all fields in the bytes, it is read.
 * 3. Otherwise each message that declares them all is read, or each choice if no message does. If exactly one can be read, its value is
 * returned. If several can be read, the payload is ambiguous, which is an error.
 */
export function readChosen(
  possible: Possible,
  fits: (choice: MessageChoice) => boolean,
  read: (choice: MessageChoice) => unknown,
): unknown {
  const [first] = possible.choices;
  if (first !== undefined && isSole(possible)) {
    return read(first);
  }
  const fitting = possible.choices.filter(fits);
  const candidates = fitting.length > 0 ? fitting : possible.others.filter(fits);
  if (candidates[0] !== undefined && candidates.length === 1) {
    return read(candidates[0]);
  }
  return onlyValue(candidates.length > 1 ? candidates : possible.choices, read);
}

function onlyValue(choices: readonly MessageChoice[], read: (choice: MessageChoice) => unknown): unknown {
  const outcomes = choices.map((choice) => attempt(() => read(choice)));
  const values = outcomes.filter((outcome) => !isDecodeError(outcome));
  if (values.length > 1) {
    throw ambiguous(choices);
  }
  if (values.length === 0) {
    throw outcomes[0];
  }
  return values[0];
}

export function noSuchMessage(id: SchemaId): DecodeError {
  return new DecodeError("schema-mismatch", `expected schema id ${id} to have the message that this record names, found none`);
}

function ambiguous(choices: readonly MessageChoice[]): DecodeError {
  return new DecodeError(
    "schema-mismatch",
    `expected message indexes that mean one message of the schema, found bytes that fit ${choices.length}: some writers count the messages ` +
      `that map fields make. State the writer's way as ${topicOption("value.messageIndexes")} (or key.messageIndexes): ` +
      '"map-entries-counted" (Python, Go, .NET) or "map-entries-left-out" (Java, JavaScript)',
  );
}

function addNamed(found: Map<string, MessageChoice>, parsed: ParsedSchema, choice: MessageChoice): void {
  const type = parsed.typeOf(choice.message);
  if (type === null) {
    return;
  }
  const name = `${choice.length} ${(type.kind === "record" ? type.name : null) ?? JSON.stringify(choice.message)}`;
  if (!found.has(name)) {
    found.set(name, choice);
  }
}

/** Whether the message stands inside of another one. Only there do writers count differently. */
function isInside(message: MessageSelector): boolean {
  return message.kind === "path" && message.path.length > 1;
}

function isCounted(message: MessageSelector): boolean {
  return message.kind === "path" && message.mapEntries === true;
}

function attempt(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    if (!isDecodeError(error)) {
      throw error;
    }
    return error;
  }
}
