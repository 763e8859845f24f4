import { isDecodeError } from "../errors.ts";
import type { Columns, Operation, TableName, UpdateDescription } from "../event.ts";
import { extendedJson } from "../values/extended-json.ts";
import { EnvelopedChange } from "./change-event.ts";
import type { EnvelopeScope } from "./envelope.ts";
import type { Origin } from "./origin.ts";
import { isBlock, numberOrNull, scalarText } from "./source.ts";
import { plainConstructor } from "./plain-constructor.ts";

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

/** Whether the image of a row is the text of a document. Rows that have columns are never written as text. */
export function isDocumentText(image: unknown): boolean {
  return typeof image === "string" && /^\s*\{/.test(image);
}

/** The parts of a message that describe the change of a document. */
interface DocumentParts {
  readonly before?: unknown;
  readonly after?: unknown;
  readonly updateDescription?: unknown;
}

/** The change of a document that is text in Extended JSON, in both images and in the key's `id`; null if an image is no document. */
export function documentChangeOf(
  op: Operation,
  table: TableName,
  parts: DocumentParts,
  declared: Readonly<Record<string, unknown>>,
  origin: Origin,
): DocumentChange | null {
  const { scope } = origin;
  const before = imageOf(parts.before, scope);
  const after = imageOf(parts.after, scope);
  if (before === undefined || after === undefined) {
    return null;
  }
  const updated = updateDescriptionOf(parts.updateDescription, scope);
  return new DocumentChange(op, table, before, after, declared, updated, withUnknownOf(parts.updateDescription, withDocumentKey(origin)));
}

/** The document's columns, null if no document was sent, or undefined if the image is not a document. */
function imageOf(image: unknown, scope: EnvelopeScope): Columns | null | undefined {
  const document = image === null || image === undefined ? null : documentValue(image, scope);
  return document === null || isBlock(document) ? document : undefined;
}

/**
 * The origin with a parsed key. The key's one field is text in Extended JSON too: `{"id":"{\"$oid\":\"...\"}"}`. An id that is not JSON
 * comes from another writer and stays as it is.
 */
function withDocumentKey(origin: Origin): Origin {
  const { key, scope } = origin;
  if (!isBlock(key) || typeof key["id"] !== "string") {
    return origin;
  }
  try {
    return origin.withKey({ ...key, id: documentValue(key["id"], scope) });
  } catch (error) {
    if (isDecodeError(error)) {
      return origin;
    }
    throw error;
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
  const cuts = Array.isArray(truncatedArrays) ? truncatedArrays.filter(isBlock) : [];
  return new Description(
    documentOf(value["updatedFields"], scope),
    Array.isArray(removedFields) ? removedFields.filter((name) => typeof name === "string") : [],
    cuts.map((cut) => ({ field: scalarText(cut["field"]) ?? "", size: numberOrNull(cut["size"] ?? cut["newSize"]) ?? 0 })),
  ) as unknown as UpdateDescription; // it has these three fields
}

const descriptionMembers: ReadonlySet<string> = new Set(["updatedFields", "removedFields", "truncatedArrays"]);

/** The origin with the members of an update's description that an event has no place for (`disambiguatedPaths`), except those that are null. */
export function withUnknownOf(description: unknown, origin: Origin): Origin {
  const all = isBlock(description) ? Object.entries(description) : [];
  const unknown = all.filter(([name, value]) => !descriptionMembers.has(name) && (value ?? null) !== null);
  if (unknown.length === 0) {
    return origin;
  }
  const read = unknown.map(([name, value]) => [name, pathsOf(value, origin.scope)]);
  return origin.withExtra({ updateDescription: Object.fromEntries(read) });
}

/** MongoDB's own connector writes the paths as the text of a document if its records have a schema. Text that is none stays as it is. */
function pathsOf(value: unknown, scope: EnvelopeScope): unknown {
  if (!isDocumentText(value)) {
    return value;
  }
  try {
    return documentValue(value, scope);
  } catch (error) {
    if (isDecodeError(error)) {
      return value;
    }
    throw error;
  }
}

const Description = plainConstructor(function (
  updatedFields: UpdateDescription["updatedFields"],
  removedFields: UpdateDescription["removedFields"],
  truncatedArrays: UpdateDescription["truncatedArrays"],
) {
  this["updatedFields"] = updatedFields;
  this["removedFields"] = removedFields;
  this["truncatedArrays"] = truncatedArrays;
});
