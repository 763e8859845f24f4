import type { ColumnHints, ReadPlan } from "../reader.ts";
import type { Field, RecordType, Type } from "../type.ts";
import { isJsonObject } from "./parse.ts";

/** The names of an object; how they are remembered is the caller's affair. */
export type NamesOf = (object: Record<string, unknown>) => readonly string[];

/**
 * The type of a JSON object as its text shows it: its property names, in their order, and JSON's own types behind them. Producers write
 * the same properties in the same order message after message, so a reader generated from one message reads the next ones.
 */
export function learnType(sample: Record<string, unknown>, namesOf: NamesOf, plan: ReadPlan, hints: ColumnHints): RecordType {
  const names = namesOf(sample);
  if (plan.rows === "self") {
    return rowType(names, hints);
  }
  const rows = plan.rows;
  // A row that is null in this message looks like the one beside it, which is the same table's.
  const knownRow = rows.map((name) => sample[name]).find(isJsonObject);
  const planned = new Set(plan.defer === null ? [...rows, ...plan.skip] : [...rows, ...plan.skip, plan.defer.field]);
  const fields = namesToLearn(names, planned).map((name): Field => {
    const value = sample[name];
    if (rows.includes(name)) {
      const row = isJsonObject(value) ? value : knownRow;
      return { name, type: row === undefined ? anyType : rowType(namesOf(row), hints) };
    }
    return { name, type: isJsonObject(value) && !areManyNames(namesOf(value)) && isFlat(value) ? flatType(value) : anyType };
  });
  return { kind: "record", name: null, fields };
}

const anyType: Type = { kind: "any" };

/** More names than this are data, not columns: a reader that knows each of them would cost more than it saves. */
const maxNames = 1_000;

export function areManyNames(names: readonly string[]): boolean {
  return names.length > maxNames;
}

/** The names that a type speaks of: of very many, only those that something is known of. */
function namesToLearn(names: readonly string[], known: { has(name: string): boolean }): readonly string[] {
  return areManyNames(names) ? names.filter((name) => known.has(name)) : names;
}

function rowType(names: readonly string[], hints: ColumnHints): RecordType {
  const fields = namesToLearn(names, hints).map((name): Field => {
    const semantic = hints.get(name);
    return { name, type: semantic === undefined ? anyType : { kind: "any", semantic } };
  });
  return { kind: "record", name: null, fields };
}

function flatType(value: Record<string, unknown>): RecordType {
  return { kind: "record", name: null, fields: Object.keys(value).map((name) => ({ name, type: anyType })) };
}

function isFlat(value: Record<string, unknown>): boolean {
  return Object.values(value).every((item) => typeof item !== "object" || item === null);
}
