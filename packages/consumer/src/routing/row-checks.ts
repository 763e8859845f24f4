import { type CdcEvent, type EventParts, UNAVAILABLE, withParts } from "@cdckit/decode";
import { ConsumerError } from "../errors.ts";
import { placeText } from "../failure/record-place.ts";
import { pendingOf, readMember } from "../user-code/user-value.ts";
import type { Target } from "./router.ts";

/** A validator of the Standard Schema (https://standardschema.dev), as zod, valibot and arktype make them. */
export interface StandardSchema<Output = unknown> {
  /** The name that the specification gives to its only member. */
  readonly "~standard": {
    /** The version of the specification. */
    readonly version: 1;
    /** The name of the library. It is not used. */
    readonly vendor: string;
    /** Called with each row or key. A promise is awaited; an error that it throws counts as a row that did not pass. */
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    /** For the compiler alone: it is never there at run time. */
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

/** What a validator of the Standard Schema gives: the value, or what is wrong with it. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string; readonly path?: readonly unknown[] | undefined }[] };

/**
 * What the rows and keys of a table are checked with before a handler sees them. The result of a validator replaces what it was given, so
 * that defaults and transformations count. An event that does not pass halts the consumer, in the same way as one that does not decode.
 */
export interface RowChecks<Row = unknown, Key = unknown> {
  /** Checks `after` and `before` of changes, and `row`. A before image that has only some of the columns is not checked. */
  readonly row?: StandardSchema<Row>;
  /** Checks keys, null keys as well: a handler then gets the result of the validator. */
  readonly key?: StandardSchema<Key>;
}

/** Checks with a validator of keys: no event with a null key reaches the handlers, unless the validator accepts it. */
export interface KeyChecks<Row = unknown, Key = unknown> extends RowChecks<Row, Key> {
  /** The validator of keys. Its output replaces the key that handlers get. */
  readonly key: StandardSchema<Key>;
}

/** The checks. Null if there are none. Throws a `ConsumerError` if a validator is no Standard Schema. */
export function resolveRowChecks(pattern: string, checks: RowChecks | undefined): RowChecks | null {
  if (checks === undefined) {
    return null;
  }
  refuseOthers(pattern, checks);
  for (const [name, schema] of Object.entries(checks)) {
    const isKnown = name === "row" || name === "key";
    const standard: unknown = (schema as Partial<StandardSchema> | undefined)?.["~standard"];
    const isStandard =
      typeof standard === "object" && standard !== null && "validate" in standard && typeof standard.validate === "function";
    if (!isKnown || (schema !== undefined && !isStandard)) {
      const problem = isKnown ? 'is no Standard Schema: it has no "~standard".validate' : "is unknown: the checks are row and key";
      throw new ConsumerError("invalid-handler", `on(${JSON.stringify(pattern)}): validator ${JSON.stringify(name)} ${problem}`);
    }
  }
  return checks;
}

/** JavaScript lets anything through. Of a validator that is a function, no member would be found, and nothing would be checked. */
function refuseOthers(pattern: string, checks: unknown): void {
  const isStandard = readMember(checks, "~standard") !== undefined;
  if (isStandard || typeof checks !== "object" || checks === null || Array.isArray(checks)) {
    const found = isStandard ? "a validator" : checks === null ? "null" : Array.isArray(checks) ? "an array" : `a ${typeof checks}`;
    throw new ConsumerError("invalid-handler", `on(${JSON.stringify(pattern)}) expects validators as { row, key }, found ${found}`);
  }
}

type Part = "after" | "before" | "row" | "key";
type Checked = Record<Part, unknown>;

/** The target, with its events checked first. It is synchronous if the validators and the handler are. */
export function checkedTarget(target: Target, checks: RowChecks, pattern: string): Target {
  // A retry gets the event as it was checked: a validator is asked once.
  const known = new WeakMap<CdcEvent, CdcEvent>();
  const keep = (event: CdcEvent, checked: CdcEvent): CdcEvent => {
    known.set(event, checked);
    return checked;
  };
  const check = (event: CdcEvent): CdcEvent | Promise<CdcEvent> => {
    const checked = known.get(event) ?? checkEvent(event, checks, pattern);
    return checked instanceof Promise ? checked.then((late) => keep(event, late)) : keep(event, checked);
  };
  if (target.kind === "each") {
    return {
      kind: "each",
      handle: (event) => {
        const checked = check(event);
        return checked instanceof Promise ? checked.then((late) => target.handle(late)) : target.handle(checked);
      },
    };
  }
  return {
    kind: "batch",
    handle: (events) => {
      const checked = allOf(events, check);
      return checked instanceof Promise ? checked.then((late) => target.handle(late)) : target.handle(checked);
    },
  };
}

/** The results of all of them; a promise if one of them is. If one throws, the promises of those before it are still handled. */
function allOf<T, R>(items: readonly T[], ask: (item: T) => R | Promise<R>): readonly R[] | Promise<readonly R[]> {
  const results: (R | Promise<R>)[] = [];
  try {
    for (const item of items) {
      results.push(ask(item));
    }
  } catch (error) {
    void Promise.allSettled(results);
    throw error;
  }
  return results.some((result) => result instanceof Promise) ? Promise.all(results) : (results as R[]);
}

type Replacement = readonly [Part, unknown];

/** The event as its validators gave it. All parts are validated before one is replaced. */
function checkEvent(event: CdcEvent, checks: RowChecks, pattern: string): CdcEvent | Promise<CdcEvent> {
  const judge = (part: Part, result: unknown): Replacement => [part, valueOf(event, part, result, pattern)];
  const replacements = allOf(partsOf(event, checks), ([part, schema]): Replacement | Promise<Replacement> => {
    const result: unknown = schema["~standard"].validate((event as unknown as Checked)[part]);
    const later = pendingOf(result);
    return later === null ? judge(part, result) : later.then((settled) => judge(part, settled));
  });
  return replacements instanceof Promise ? replacements.then((late) => replaced(event, late)) : replaced(event, replacements);
}

/** Sinks may have the same event: it stays as it came. An event of a decoder of the user's cannot be copied. */
function replaced(event: CdcEvent, replacements: readonly Replacement[]): CdcEvent {
  const parts: EventParts = Object.fromEntries(replacements);
  return replacements.length === 0 ? event : (withParts(event, parts) ?? Object.assign(event, parts));
}

function partsOf(event: CdcEvent, { row, key }: RowChecks): [Part, StandardSchema][] {
  const parts: [Part, StandardSchema][] = [];
  if (key !== undefined && (event.kind === "change" || event.kind === "row" || event.kind === "tombstone")) {
    parts.push(["key", key]);
  }
  if (row !== undefined && event.kind === "row") {
    parts.push(["row", row]);
  }
  if (row !== undefined && event.kind === "change") {
    const { before, after } = event;
    if (after !== null) {
      parts.push(["after", row]);
    }
    // If the table's replica identity is the key, a deleted row has nothing but its key.
    if (before !== null && (after === null ? !isKeyOnly(before, event.key) : Object.keys(before).length === Object.keys(after).length)) {
      parts.push(["before", row]);
    }
  }
  return parts;
}

function isKeyOnly(before: object, key: unknown): boolean {
  const names = typeof key === "object" && key !== null ? Object.keys(key) : [];
  return Object.keys(before).every((name) => names.includes(name) || (before as Record<string, unknown>)[name] === null);
}

/** The validator's result for the part. */
function valueOf(event: CdcEvent, part: Part, result: unknown, pattern: string): unknown {
  if (typeof result !== "object" || result === null || !("value" in result || "issues" in result)) {
    throw new TypeError(`expected the validator of ${part} of ${JSON.stringify(pattern)} to give { value } or { issues }`);
  }
  const { value, issues } = result as { readonly value: unknown; readonly issues?: unknown };
  if (issues === undefined) {
    return value;
  }
  const { topic, partition, offset } = event.record;
  const at = { topic, partition, offset };
  const list = Array.isArray(issues) ? (issues as { readonly path?: readonly unknown[] }[]) : [];
  throw new ConsumerError(
    "invalid-row",
    `${placeText(at)}: expected ${part} of an event of ${JSON.stringify(pattern)} to pass its validator, found it does not at ${placesText(list)}; the issues are in the cause${unavailableText((event as unknown as Checked)[part], list)}`,
    { at, cause: Object.assign(new Error("the validator's issues"), { issues }) },
  );
}

/** A column with an array may have as many issues as it has items, and one with a map has names that are data. A message names some of them. */
const maxPlaces = 10;
const maxPlaceChars = 100;

function placesText(issues: readonly { readonly path?: readonly unknown[] }[]): string {
  const places = new Set(issues.map((issue) => pathText(issue?.path)));
  const named = [...places].slice(0, maxPlaces).map((text) => (text.length > maxPlaceChars ? `${text.slice(0, maxPlaceChars)}...` : text));
  return `${named.join(", ")}${places.size > maxPlaces ? ` and ${places.size - maxPlaces} more places` : ""}`;
}

/** What to do about columns that did not pass because their values were not sent: validators say "symbol" of them. */
function unavailableText(row: unknown, issues: readonly { readonly path?: readonly unknown[] }[]): string {
  const columns = new Set(issues.map((issue) => String(keysOf(issue?.path)[0])));
  const found = [...columns].filter((name) => (row as Readonly<Record<string, unknown>> | null)?.[name] === UNAVAILABLE);
  return found.length === 0
    ? ""
    : `; ${found.join(", ")} is UNAVAILABLE, because the source does not send what did not change: accept UNAVAILABLE in the schema (a union), or set REPLICA IDENTITY FULL on the table in PostgreSQL`;
}

function keysOf(path: readonly unknown[] = []): readonly unknown[] {
  return path.map((segment) => (typeof segment === "object" && segment !== null && "key" in segment ? segment.key : segment));
}

function pathText(path: readonly unknown[] | undefined): string {
  const keys = keysOf(path);
  return keys.length === 0 ? "its top" : keys.map(String).join(".");
}
