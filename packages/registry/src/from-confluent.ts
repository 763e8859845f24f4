import type { SchemaId, SchemaSource } from "@cdckit/decode";
import { adaptedSource } from "./adapted-source.ts";
import { checkOptionNames } from "./option-names.ts";
import { type AdapterOptions, resolveAdapterOptions } from "./options.ts";
import type { ReferenceLink } from "./schema-answer.ts";
import { guidOf, isNumericId, unusableId } from "./schema-id.ts";
import { isWellFormed } from "./well-formed.ts";

/** The part of `SchemaRegistryClient` (`@confluentinc/schemaregistry` 1) that we use. */
export interface ConfluentClient {
  /** The schema with this id. The subject may be empty: the id says it all. */
  getBySubjectAndId(subject: string, id: number, format?: string): Promise<ConfluentSchemaInfo>;
  /** A version of a subject; a reference names one. */
  getSchemaMetadata(subject: string, version: number, deleted: boolean, format?: string): Promise<ConfluentSchemaInfo>;
  /** Missing in older releases. */
  getByGuid?(guid: string, format?: string): Promise<ConfluentSchemaInfo>;
  /** The names of all subjects. Asked for if a GUID is answered with a 404 that may be that of a proxy. */
  getAllSubjects?(): Promise<readonly string[]>;
}

/** A schema as Confluent's client gives it. */
export interface ConfluentSchemaInfo {
  /** The text of the schema. */
  readonly schema: string;
  /** `AVRO`, `PROTOBUF` or `JSON`; absent for Avro. */
  readonly schemaType?: string;
  /** What the text names and does not hold. */
  readonly references?: readonly { readonly name: string; readonly subject: string; readonly version: number }[];
}

/** The options of `fromConfluentClient`. */
export interface ConfluentClientOptions extends AdapterOptions {
  /**
   * The subject that is sent with each id. Without one, the schemas of the default context are found; with `":.name:"`, those of another one.
   * @default ""
   */
  readonly subject?: string;
}

/** A schema source that asks a client of `@confluentinc/schemaregistry`. */
export function fromConfluentClient(confluent: ConfluentClient, options: ConfluentClientOptions = {}): SchemaSource {
  if (typeof confluent?.getBySubjectAndId !== "function" || typeof confluent.getSchemaMetadata !== "function") {
    throw new TypeError(
      "fromConfluentClient expects a SchemaRegistryClient of @confluentinc/schemaregistry: pass one, or use createRegistry({ url })",
    );
  }
  checkOptionNames("confluentClient", options);
  const subject = options.subject ?? "";
  if (!isWellFormed(subject)) {
    throw new TypeError("subject has half of a surrogate pair, and the client could not ask for it: correct it");
  }
  const client = {
    name: "@confluentinc/schemaregistry",
    schemaById: async (id: SchemaId) => {
      if (isNumericId(id)) {
        return confluent.getBySubjectAndId(subject, id);
      }
      const guid = guidOf(id);
      if (confluent.getByGuid !== undefined && guid !== null) {
        return confluent.getByGuid(guid);
      }
      throw unusableId(id, confluent.getByGuid === undefined ? "a non-negative integer" : "a non-negative integer or a GUID");
    },
    names: async () => confluent.getAllSubjects?.(),
    // Soft-deleted versions too: schemas that refer to them still need them.
    referencedVersion: (link: ReferenceLink) => confluent.getSchemaMetadata(link.subject, link.version, true),
  };
  return adaptedSource(client, resolveAdapterOptions(options));
}
