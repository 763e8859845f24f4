import type { Columns, Operation, TableName, UpdateDescription } from "../event.ts";
import { extendedJson } from "../values/extended-json.ts";
import { EnvelopedChange } from "./change-event.ts";
import type { EnvelopeScope } from "./envelope.ts";
import type { Origin } from "./origin.ts";
import { isBlock, numberOrNull, scalarText } from "./source.ts";

/** A change of a document. It may come with a list of the changed parts. */
export class DocumentChange extends EnvelopedChange {
  readonly #updateDescription: UpdateDescription | null;

  constructor(
    op: Operation,
    table: TableName,
    before: Columns | null,
    after: Columns | null,
    declared: Readonly<Record<string, unknown>>,
    updateDescription: UpdateDescription | null,
    origin: Origin,
  ) {
    super(op, table, before, after, declared, origin);
    this.#updateDescription = updateDescription;
  }

  override copy(): DocumentChange {
    const { op, table, before, after, sourceFields, origin } = this;
    return new DocumentChange(op, table, before, after, sourceFields, this.#updateDescription, origin);
  }

  override get updateDescription(): UpdateDescription | null {
    return this.#updateDescription;
  }
}

/** The value of a document in an envelope: from text in Extended JSON, or from its parsed form. */
export function documentValue(value: unknown, scope: EnvelopeScope): unknown {
  return extendedJson(typeof value === "string" ? scope.parseJson(value) : value, scope.values);
}

/** The columns of a document, or null if there is no document. */
export function documentOf(value: unknown, scope: EnvelopeScope): Columns | null {
  const document = value === null || value === undefined ? null : documentValue(value, scope);
  return isBlock(document) ? document : null;
}

/** MongoDB's description of an update. Debezium and MongoDB's own connector use different names for the new length of a shortened array. */
export function updateDescriptionOf(value: unknown, scope: EnvelopeScope): UpdateDescription | null {
  if (!isBlock(value)) {
    return null;
  }
  const { removedFields, truncatedArrays } = value;
  return {
    updatedFields: documentOf(value["updatedFields"], scope),
    removedFields: Array.isArray(removedFields) ? removedFields.filter((name) => typeof name === "string") : [],
    truncatedArrays: Array.isArray(truncatedArrays)
      ? truncatedArrays.filter(isBlock).map((cut) => ({
          field: scalarText(cut["field"]) ?? "",
          size: numberOrNull(cut["size"] ?? cut["newSize"]) ?? 0,
        }))
      : [],
  };
}
