import type { TableName } from "@cdckit/decode";
import { ConsumerError } from "../errors.ts";

/** Which tables a handler takes. */
export type TablePattern =
  | { readonly kind: "any" }
  /** A table by its name or the end of its name (`orders`, `inventory.orders`, `shop.inventory.orders`), or by the name of its topic. */
  | { readonly kind: "named"; readonly text: string; readonly parts: number; readonly mayBeTopic: boolean };

/** Whether a text is the name of a topic that is subscribed to. */
export type IsTopic = (text: string) => boolean;

const maxParts = 3;

/** Refuses a pattern that is no text, which JavaScript lets through. `where`: what it was given to. */
export function checkPatternText(where: string, pattern: unknown): void {
  if (typeof pattern !== "string") {
    const isExpression = pattern instanceof RegExp;
    const found = isExpression
      ? `the regular expression ${String(pattern)}`
      : pattern === null
        ? "null"
        : `a value of type ${typeof pattern}`;
    const advice = isExpression ? ': name each table, or take all with "*" and look at event.table' : "";
    throw new ConsumerError(
      "invalid-handler",
      `${where} expects a text: the name of a table or a topic, "*" or the kind of a control event, found ${found}${advice}`,
    );
  }
}

/**
 * Reads `"*"`, the name of a table or the end of one (`"orders"`, `"inventory.orders"`, `"shop.inventory.orders"`), or the name of a topic.
 * Throws a `ConsumerError` for anything else. `where`: what the text was given to, for its message.
 */
export function parseTablePattern(text: string, isTopic: IsTopic = () => false, where = "on()"): TablePattern {
  if (text === "*") {
    return { kind: "any" };
  }
  checkPatternText(where, text);
  if (text.includes("*")) {
    // It would match nothing, and each record would be committed unhandled. No topic has such a name, whatever expression it fits.
    throw new ConsumerError(
      "invalid-handler",
      `${where} expects a name without wildcards, got ${JSON.stringify(text)}: name each table or topic, or give "*" alone, which takes every table`,
    );
  }
  const parts = text.split(".");
  const mayBeTopic = isTopic(text);
  if (!mayBeTopic && (parts.length > maxParts || parts.includes(""))) {
    throw new ConsumerError(
      "invalid-handler",
      `${where} expects "table", "schema.table", "database.table", "database.schema.table", the name of a topic that is subscribed to, "*" or the kind of a control event, got ${JSON.stringify(text)}`,
    );
  }
  return { kind: "named", text, parts: parts.length, mayBeTopic };
}

export function matchesTable(pattern: TablePattern, table: TableName | null, topic: string): boolean {
  if (pattern.kind === "any" || (pattern.mayBeTopic && pattern.text === topic)) {
    return true;
  }
  return table !== null && isEndOf(pattern.text, tablePath(table));
}

/** `database.schema.table`, without the parts that are not known. */
export function tablePath({ database, schema, name }: TableName): string {
  return `${database === undefined ? "" : `${database}.`}${schema === undefined ? "" : `${schema}.`}${name}`;
}

/** Whether the text is the whole path or the end of it. Only whole parts count. */
export function isEndOf(text: string, path: string): boolean {
  return path === text || path.endsWith(`.${text}`);
}

/** More specific patterns come first: whole names and topics, then longer ends before shorter ones, then `"*"`. */
export function compareScope(a: TablePattern, b: TablePattern): number {
  return scopeOf(a) - scopeOf(b);
}

function scopeOf(pattern: TablePattern): number {
  return pattern.kind === "any" ? maxParts + 1 : pattern.mayBeTopic ? 0 : maxParts - pattern.parts;
}
