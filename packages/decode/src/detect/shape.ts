import type { Outline } from "../encoding/opening.ts";
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

/** The shape of all values of an outline. */
export function shapeOf(outline: Outline, scope: ShapeScope): Shape {
  // What is inside of the fields of a value without a type says nothing of the next value that has the same: it is read as this one was.
  return outline.type === null ? { ...emptyShape(scope), fields: outline.names, isText: outline.isText } : shapeOfType(outline.type, scope);
}

function shapeOfType(type: Type, scope: ShapeScope): Shape {
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
