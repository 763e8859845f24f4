import type { Shape } from "../envelope.ts";

/** The envelopes of a changefeed. `resolved` is a resolved timestamp alone. */
export type ChangefeedEnvelope = "wrapped" | "enriched" | "bare" | "resolved";

export interface RecognisedChangefeed {
  readonly envelope: ChangefeedEnvelope;
  readonly evidence: string;
}

const wrappedFields: ReadonlySet<string> = new Set(["after", "before", "updated", "mvcc_timestamp", "key", "topic"]);
const enrichedFields: ReadonlySet<string> = new Set(["after", "before", "key", "op", "source", "ts_ns"]);

/** The members that become parts of events. A bare row needs no such list, because all of its columns are the row's. */
const wrappedMembers: ReadonlySet<string> = new Set(["after", "before", "updated", "mvcc_timestamp"]);
const enrichedMembers: ReadonlySet<string> = new Set(["after", "before", "op", "source", "ts_ns"]);

export function membersOfChangefeed(shape: Shape): ReadonlySet<string> {
  switch (recogniseChangefeed(shape)?.envelope) {
    case "wrapped":
      return wrappedMembers;
    case "enriched":
      return enrichedMembers;
    default:
      return new Set(shape.fields);
  }
}

/** Recognises a changefeed by its few names if there are no others. User rows may have the same names, so `open` looks at the values. */
export function recogniseChangefeed({ fields, typeName }: Shape): RecognisedChangefeed | null {
  if (fields === null) {
    return null;
  }
  const has = (name: string): boolean => fields.includes(name);
  if (has("__crdb__")) {
    return { envelope: "bare", evidence: "field __crdb__" };
  }
  if (fields.length === 1 && has("resolved")) {
    return { envelope: "resolved", evidence: "the field resolved alone" };
  }
  if (has("after") && has("op") && has("ts_ns") && fields.every((name) => enrichedFields.has(name))) {
    return { envelope: "enriched", evidence: "fields after, op and ts_ns, and no others than an enriched changefeed has" };
  }
  const isNamed = typeName === null || typeName.endsWith("_envelope");
  if (isNamed && has("after") && fields.every((name) => wrappedFields.has(name))) {
    return { envelope: "wrapped", evidence: "field after, and no others than a changefeed has" };
  }
  return null;
}
