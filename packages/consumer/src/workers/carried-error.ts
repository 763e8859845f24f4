import { jsonOf } from "../json-form.ts";
import { isError, nameOf, readMember, readText, textOf } from "../user-code/user-value.ts";

/** An error, as one thread sends it to another: a structured clone keeps only its message and its stack. */
export interface CarriedError {
  readonly name: string;
  readonly message: string;
  readonly stack: string | null;
  /** What `isConsumerError`, `isDecodeError` and their like look for: keys of the global symbol registry. */
  readonly brands: readonly string[];
  /** `code`, `at`, ... */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Null if there is none, or if causes go too deep. */
  readonly cause: CarriedError | null;
  /** Of an aggregate: a host that refuses has one error for each of its addresses. Empty if it is none. */
  readonly errors: readonly CarriedError[];
}

const maxDepth = 8;
/** Of one error, its causes and the errors of aggregates among them together. */
const maxErrors = 64;

/** What of an error can cross to another thread. Never throws. What is not an error crosses as one with its text. */
export function carryError(error: unknown): CarriedError {
  return carry(error, 0, { left: maxErrors });
}

function carry(error: unknown, depth: number, room: { left: number }): CarriedError {
  room.left--;
  const brands = isError(error) ? brandsOf(error) : [];
  const cause = readMember(error, "cause");
  return {
    name: nameOf(error),
    message: textOf(error),
    stack: readText(error, "stack") ?? null,
    brands,
    fields: isError(error) ? fieldsOf(error, brands.length > 0) : {},
    cause: cause === undefined || depth >= maxDepth || room.left <= 0 ? null : carry(cause, depth + 1, room),
    errors: depth >= maxDepth ? [] : errorsOf(error).flatMap((each) => (room.left <= 0 ? [] : [carry(each, depth + 1, room)])),
  };
}

/** The errors of an aggregate. Other lists of that name, as those of validators, hold no errors. */
function errorsOf(error: unknown): readonly Error[] {
  return listed(() => {
    const errors = readMember(error, "errors");
    return Array.isArray(errors) ? errors.slice(0, maxErrors).filter(isError) : [];
  });
}

/** The error again, as the other thread had it: with its code and its place, recognised by its brand. */
export function toCarriedError({ name, message, stack, brands, fields, cause, errors }: CarriedError): Error {
  const error = new Error(message, cause === null ? undefined : { cause: toCarriedError(cause) });
  Object.defineProperty(error, "name", { value: name, configurable: true });
  if (stack !== null) {
    error.stack = stack; // where it was thrown, on its own thread
  }
  if (errors.length > 0) {
    Object.defineProperty(error, "errors", { value: errors.map(toCarriedError), configurable: true, writable: true });
  }
  for (const brand of brands) {
    Object.defineProperty(error, Symbol.for(brand), { value: true });
  }
  Object.defineProperty(error, "toJSON", { value: () => jsonOf({ name, message, ...fields }) });
  return Object.assign(error, fields);
}

function brandsOf(error: Error): readonly string[] {
  return listed(() => Object.getOwnPropertySymbols(error)).flatMap((symbol) => Symbol.keyFor(symbol) ?? []);
}

/** What a proxy does not let be listed counts as none. */
function listed<Item>(list: () => readonly Item[]): readonly Item[] {
  try {
    return list();
  } catch {
    return [];
  }
}

/** Of errors that are not ours only plain values: clients put whole requests and configurations into theirs. */
function fieldsOf(error: Error, isOurs: boolean): Readonly<Record<string, unknown>> {
  const fields: Record<string, unknown> = {};
  for (const name of [...listed(() => Object.keys(error)), ...derived]) {
    const value = readMember(error, name);
    if (value !== undefined && !reserved.has(name) && (isPrimitive(value) || (isOurs && isCloneable(value)))) {
      fields[name] = value;
    }
  }
  return fields;
}

/** What errors of ours derive from their code, and so have no property of their own for. */
const derived = ["retriable"];
const reserved = new Set(["name", "message", "stack", "cause", "toJSON", "__proto__"]);

function isPrimitive(value: unknown): boolean {
  return value === null || ["string", "number", "bigint", "boolean"].includes(typeof value);
}

function isCloneable(value: unknown): boolean {
  try {
    structuredClone(value);
    return true;
  } catch {
    return false; // a function, or something that has one
  }
}
