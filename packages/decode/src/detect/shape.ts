import type { Outline } from "../encoding/opening.ts";
import { type Type, withoutNull } from "../encoding/type.ts";
import type { Shape } from "../envelope/envelope.ts";

/** What is known of a value in addition to its names. */
export interface ShapeScope {
  readonly topic: string;
  readonly headerNames: readonly string[];
}

const noFields = (): null => null;

/** The shape of a value that is not a record, or that nothing is known of. */
export function emptyShape({ topic, headerNames }: ShapeScope): Shape {
  return { topic, headerNames, typeName: null, fields: null, fieldsOf: noFields, isText: false };
}

/** The shape of all values of an outline. */
export function shapeOf(outline: Outline, scope: ShapeScope): Shape {
  // Without types, only the outermost names count. Later values with the same names are read by the same shape, and the fields inside of
  // them may be others.
  return outline.type === null ? { ...emptyShape(scope), fields: outline.names, isText: outline.isText } : shapeOfType(outline.type, scope);
}

function shapeOfType(type: Type, scope: ShapeScope): Shape {
  const record = withoutNull(type);
  if (record.kind === "union") {
    return { ...emptyShape(scope), unionNames: record.branches.flatMap((branch) => (branch.kind === "record" ? (branch.name ?? []) : [])) };
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
