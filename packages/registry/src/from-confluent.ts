import type { SchemaId, SchemaSource } from "@cdckit/decode";
import { adaptedSource } from "./adapted-source.ts";
import { type AdapterOptions, resolveAdapterOptions } from "./options.ts";
import type { ReferenceLink } from "./schema-answer.ts";
import { guidOf, isNumericId, unusableId } from "./schema-id.ts";

/** A `SchemaRegistryClient` of `@confluentinc/schemaregistry` 1, as far as we use it. */
export interface ConfluentClient {
  getBySubjectAndId(subject: string, id: number, format?: string): Promise<ConfluentSchemaInfo>;
  getSchemaMetadata(subject: string, version: number, deleted: boolean, format?: string): Promise<ConfluentSchemaInfo>;
  /** Missing in older releases. */
  getByGuid?(guid: string, format?: string): Promise<ConfluentSchemaInfo>;
}

export interface ConfluentSchemaInfo {
  readonly schema: string;
  readonly schemaType?: string;
  readonly references?: readonly { readonly name: string; readonly subject: string; readonly version: number }[];
}

export interface ConfluentClientOptions extends AdapterOptions {
  /**
   * The subject that ids are asked with. None finds the schemas of the default context; `":.name:"` finds those of another one.
   * @default ""
   */
  readonly subject?: string;
}

/** The schemas of a registry that the user reaches through `@confluentinc/schemaregistry`. */
export function fromConfluentClient(confluent: ConfluentClient, options: ConfluentClientOptions = {}): SchemaSource {
  if (typeof confluent?.getBySubjectAndId !== "function" || typeof confluent.getSchemaMetadata !== "function") {
    throw new TypeError(
      "fromConfluentClient expects a SchemaRegistryClient of @confluentinc/schemaregistry, or use createRegistry({ url })",
    );
  }
  const subject = options.subject ?? "";
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
    // Also versions that were deleted softly: schemas that refer to them still need them.
    referencedVersion: (link: ReferenceLink) => confluent.getSchemaMetadata(link.subject, link.version, true),
  };
  return adaptedSource(client, resolveAdapterOptions(options));
}
