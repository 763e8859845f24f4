import type { NamesOf } from "../encoding/json/learn.ts";
import { isJsonObject } from "../encoding/json/parse.ts";
import { type Type, withoutNull } from "../encoding/type.ts";
import type { Shape } from "../envelope/envelope.ts";

/** Where a value comes from: what its shape says of it beside its names. */
export interface ShapeScope {
  readonly topic: string;
  readonly headerNames: readonly string[];
}

const noFields = (): null => null;

/** The shape of a value that is no record, or of which nothing is known. */
export function emptyShape({ topic, headerNames }: ShapeScope): Shape {
  return { topic, headerNames, typeName: null, fields: null, fieldsOf: noFields, isText: false };
}

/** The shape of all values of a type. */
export function shapeOfType(type: Type, scope: ShapeScope): Shape {
  const record = withoutNull(type);
  if (record.kind === "union") {
    return { ...emptyShape(scope), choices: record.branches.flatMap((branch) => (branch.kind === "record" ? (branch.name ?? []) : [])) };
  }
  if (record.kind !== "record") {
    return { ...emptyShape(scope), isText: record.kind === "string" };
  }
  return {
    ...emptyShape(scope),
    typeName: record.name,
    fields: record.fields.map(({ name }) => name),
    fieldsOf: (field) => namesOfType(record.fields.find(({ name }) => name === field)?.type),
  };
}

function namesOfType(type: Type | undefined): readonly string[] | null {
  const record = type === undefined ? undefined : withoutNull(type);
  return record?.kind === "record" ? record.fields.map(({ name }) => name) : null;
}

/** The shape of a value without a type. */
export function shapeOfValue(value: unknown, scope: ShapeScope, namesOf: NamesOf = Object.keys): Shape {
  if (!isJsonObject(value)) {
    return { ...emptyShape(scope), isText: typeof value === "string" };
  }
  // What is inside of its fields says nothing of the next value that has the same: it is read as this one was.
  return { ...emptyShape(scope), fields: namesOf(value) };
}
