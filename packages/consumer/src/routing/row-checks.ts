import type { CdcEvent } from "@cdckit/decode";
import { ConsumerError } from "../errors.ts";
import type { Target } from "./router.ts";

/** A validator of the Standard Schema (https://standardschema.dev), as zod, valibot and arktype make them. */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string; readonly path?: readonly unknown[] | undefined }[] };

/**
 * What the rows and keys of a table are checked with before a handler sees them. What a validator gives takes the place of what it was
 * given, so that defaults and transformations count. An event that does not pass halts the consumer, as one that does not decode would.
 */
export interface RowChecks<Row = unknown, Key = unknown> {
  /** Checks `after` and `before` of changes, and `row`. A before image that has only some of the columns is not checked. */
  readonly row?: StandardSchema<Row>;
  /** Checks keys that are not null. */
  readonly key?: StandardSchema<Key>;
}

/** The checks, or null where there are none. Throws a `ConsumerError` where a validator is no Standard Schema. */
export function resolveRowChecks(pattern: string, checks: RowChecks | undefined): RowChecks | null {
  if (checks === undefined) {
    return null;
  }
  for (const [name, schema] of Object.entries(checks)) {
    const isKnown = name === "row" || name === "key";
    const standard: unknown = (schema as Partial<StandardSchema> | undefined)?.["~standard"];
    const isStandard =
      typeof standard === "object" && standard !== null && "validate" in standard && typeof standard.validate === "function";
    if (!isKnown || (schema !== undefined && !isStandard)) {
      const problem = isKnown ? 'is no Standard Schema: it has no "~standard".validate' : "is unknown: there are row and key";
      throw new ConsumerError("invalid-handler", `on(${JSON.stringify(pattern)}): validator ${JSON.stringify(name)} ${problem}`);
    }
  }
  return checks;
}

type Part = "after" | "before" | "row" | "key";
type Checked = Record<Part, unknown>;

/** The target, with its events checked first. It is as synchronous as the validators and the handler are. */
export function checkedTarget(target: Target, checks: RowChecks, pattern: string): Target {
  const check = (event: CdcEvent): void | Promise<void> => checkEvent(event, checks, pattern);
  if (target.kind === "each") {
    return {
      kind: "each",
      handle: (event) => {
        const pending = check(event);
        return pending === undefined ? target.handle(event) : pending.then(() => target.handle(event));
      },
    };
  }
  return {
    kind: "batch",
    handle: (events) => {
      const pending = events.map(check).filter((one) => one !== undefined);
      return pending.length === 0 ? target.handle(events) : Promise.all(pending).then(() => target.handle(events));
    },
  };
}

function checkEvent(event: CdcEvent, checks: RowChecks, pattern: string): void | Promise<void> {
  const pending: Promise<void>[] = [];
  for (const [part, schema] of partsOf(event, checks)) {
    const result = schema["~standard"].validate((event as unknown as Checked)[part]);
    if (result instanceof Promise) {
      pending.push(result.then((settled) => take(event, part, settled, pattern)));
    } else {
      take(event, part, result, pattern);
    }
  }
  return pending.length === 0 ? undefined : Promise.all(pending).then(() => undefined);
}

function partsOf(event: CdcEvent, { row, key }: RowChecks): [Part, StandardSchema][] {
  const parts: [Part, StandardSchema][] = [];
  if (key !== undefined && event.key !== null && (event.kind === "change" || event.kind === "row" || event.kind === "tombstone")) {
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
    // A key is all that is left of a deleted row where the table's replica identity is the key.
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

/** The event is this handler's alone: its part is replaced in place. */
function take(event: CdcEvent, part: Part, result: StandardResult<unknown>, pattern: string): void {
  if (result.issues === undefined) {
    (event as unknown as Checked)[part] = result.value;
    return;
  }
  const { topic, partition, offset } = event.record;
  const places = result.issues.map(({ path }) => pathText(path)).filter((text, i, all) => all.indexOf(text) === i);
  throw new ConsumerError(
    "invalid-row",
    `expected ${part} of an event of ${JSON.stringify(pattern)} to pass its validator, found it does not at ${places.join(", ")}; the issues are in the cause`,
    { at: { topic, partition, offset }, cause: Object.assign(new Error("the validator's issues"), { issues: result.issues }) },
  );
}

function pathText(path: readonly unknown[] | undefined): string {
  const keys = (path ?? []).map((segment) => (typeof segment === "object" && segment !== null && "key" in segment ? segment.key : segment));
  return keys.length === 0 ? "its top" : keys.map(String).join(".");
}
