import { codeOf, isError, nameOf, readMember, readText } from "../user-code/user-value.ts";
import type { Logger } from "./logger.ts";

const secretName = /pass(word|phrase)?$|secret|token|authorization|credential|api[-_]?key|^sasl$|^key$|^value$/i;
/** Up to the last `@` of the authority, as URLs are read: a password may have one. */
const userInfo = /\/\/[^/\s]+@/g;
const maxDepth = 4;

/** Passes lines on without what must not be in a log: credentials under any name, and bytes of records. */
export function redacting(logger: Logger): Logger {
  return {
    debug: (fields, message) => logger.debug(clean(fields), withoutUserInfo(message)),
    info: (fields, message) => logger.info(clean(fields), withoutUserInfo(message)),
    warn: (fields, message) => logger.warn(clean(fields), withoutUserInfo(message)),
    error: (fields, message) => logger.error(clean(fields), withoutUserInfo(message)),
  };
}

function clean(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, readable(name, value)]));
}

/** If a value cannot be read (a getter or a trap throws), the line is still written. */
function readable(name: string, value: unknown): unknown {
  try {
    return redacted(name, value, 0);
  } catch {
    return isError(value) ? plainError(value, maxDepth) : "[unreadable]";
  }
}

function redacted(name: string, value: unknown, depth: number): unknown {
  if (secretName.test(name) && value !== undefined && value !== null) {
    return "[redacted]";
  }
  if (typeof value === "string") {
    return withoutUserInfo(value);
  }
  if (value instanceof Uint8Array) {
    return `[${value.length} bytes]`;
  }
  if (isError(value)) {
    return plainError(value, depth);
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  if (depth >= maxDepth) {
    return "[deeper]";
  }
  if (Array.isArray(value)) {
    return value.map((part) => redacted("", part, depth + 1));
  }
  const parts = Object.fromEntries(Object.entries(value).map(([inner, part]) => [inner, redacted(inner, part, depth + 1)]));
  return isPlainError(parts) ? withUnlisted(parts) : parts;
}

const partsOfError: ReadonlySet<string> = new Set(["type", "message", "code", "stack", "cause"]);

/** What `plainError` has made on a worker thread. What is not listed was lost on the way to this one. */
function isPlainError(parts: Readonly<Record<string, unknown>>): parts is { readonly type: string } {
  return (
    typeof parts["type"] === "string" && typeof parts["message"] === "string" && Object.keys(parts).every((name) => partsOfError.has(name))
  );
}

/** The parts of an error that pino writes, and no other property: clients put whole requests and configurations there. */
function plainError(error: Error, depth: number): object {
  const code = codeOf(error);
  const stack = readText(error, "stack");
  const cause = readMember(error, "cause");
  const type = nameOf(error);
  const plain = {
    type,
    message: withoutUserInfo(readText(error, "message") ?? ""),
    ...(code === undefined ? {} : { code }),
    ...(stack === undefined ? {} : { stack: withoutUserInfo(stack) }),
    ...(cause === undefined || depth >= maxDepth ? {} : { cause: redacted("cause", cause, depth + 1) }),
  };
  return withUnlisted(plain);
}

/**
 * pino writes these parts again as an error. It takes the type from the constructor if there is one, and from `name` if not; so do others.
 * Neither is listed, so JSON does not have the name twice.
 */
function withUnlisted(parts: { readonly type: string }): object {
  return Object.defineProperties(parts, { name: { value: parts.type }, constructor: { value: undefined } });
}

export function withoutUserInfo(text: string): string {
  return text.replace(userInfo, "//[redacted]@");
}
