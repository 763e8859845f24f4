import type { ColumnHints, ReadPlan } from "../reader.ts";
import type { Field, RecordType, Type } from "../type.ts";
import { isJsonObject } from "./parse.ts";

/** Returns the names of an object. The caller may cache them. */
export type NamesOf = (object: Record<string, unknown>) => readonly string[];

/**
 * The type of a JSON object as learned from its text: its property names in their order, with JSON's own types. Producers write the same
 * properties in the same order in each message, so a reader that is generated from one message reads the next ones.
 */
export function learnType(sample: Record<string, unknown>, namesOf: NamesOf, plan: ReadPlan, hints: ColumnHints): RecordType {
  const names = namesOf(sample);
  if (plan.rows === "self") {
    return rowType(names, hints);
  }
  const rows = plan.rows;
  // If the row of this message is null, the type is taken from the other row, which is one of the same table.
  const knownRow = rows.map((name) => sample[name]).find(isJsonObject);
  const planned = new Set(plan.defer === null ? [...rows, ...plan.skip] : [...rows, ...plan.skip, plan.defer.field]);
  const fields = namesToLearn(names, planned).map((name): Field => {
    const value = sample[name];
    if (rows.includes(name)) {
      const row = isJsonObject(value) ? value : knownRow;
      // An application's own record may have an object beside a text: it is no change, and stays a row.
      return { name, type: row === undefined ? anyType : { ...rowType(namesOf(row), hints), allowsOtherKinds: true } };
    }
    return { name, type: isJsonObject(value) && !areManyNames(namesOf(value)) && isFlat(value) ? flatType(value) : anyType };
  });
  return { kind: "record", name: null, fields };
}

const anyType: Type = { kind: "any" };

/** An object with more names holds data, not columns. A reader for all of them would cost more than it saves. */
const maxNames = 1_000;

export function areManyNames(names: readonly string[]): boolean {
  return names.length > maxNames;
}

/** The names that the type includes. If there are very many, only those with known semantics. */
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
