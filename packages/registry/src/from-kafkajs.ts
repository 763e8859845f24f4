import type { SchemaId, SchemaSource } from "@cdckit/decode";
import { adaptedSource } from "./adapted-source.ts";
import { checkOptionNames } from "./option-names.ts";
import { type AdapterOptions, resolveAdapterOptions } from "./options.ts";
import type { ReferenceLink } from "./schema-answer.ts";
import { isNumericId, unusableId } from "./schema-id.ts";

/** The part of `SchemaRegistry` (`@kafkajs/confluent-schema-registry` 3 or 4) that its types show. */
export interface KafkaJsRegistry {
  /** The schema with this id, as the client has parsed it. */
  getSchema(registryId: number): Promise<unknown>;
  /** The id of a subject's newest schema. */
  getLatestSchemaId(subject: string): Promise<number>;
}

/**
 * The REST client inside that instance. Its host, credentials, agent and middlewares are the user's. The instance's `getSchema` is not
 * enough: it returns a compiled schema without `connect.name` and `connect.parameters`, and those say what a column means.
 */
interface KafkaJsApi {
  readonly Schema: { find(parameters: { readonly id: number }): Promise<KafkaJsResponse> };
  readonly Subject: { version(parameters: { readonly subject: string; readonly version: number }): Promise<KafkaJsResponse> };
}

interface KafkaJsResponse {
  data(): unknown;
}

/** A schema source that asks an instance of `@kafkajs/confluent-schema-registry`. */
export function fromKafkaJsRegistry(registry: KafkaJsRegistry, options: AdapterOptions = {}): SchemaSource {
  const api = apiOf(registry);
  checkOptionNames("adapter", options);
  const client = {
    name: "@kafkajs/confluent-schema-registry",
    noAnswerStatus: 400, // its REST client reports a refused or broken connection so; no registry answers it to a GET by number
    schemaById: async (id: SchemaId) => {
      if (!isNumericId(id)) {
        throw unusableId(id, "a non-negative integer");
      }
      return (await api.Schema.find({ id })).data();
    },
    referencedVersion: async ({ subject, version }: ReferenceLink) => (await api.Subject.version({ subject, version })).data(),
  };
  return adaptedSource(client, resolveAdapterOptions(options));
}

function apiOf(registry: KafkaJsRegistry): KafkaJsApi {
  const { api } = registry as { api?: Partial<KafkaJsApi> };
  if (typeof api?.Schema?.find !== "function" || typeof api.Subject?.version !== "function") {
    throw new TypeError(
      "fromKafkaJsRegistry expects a SchemaRegistry of @kafkajs/confluent-schema-registry 3 or 4, and found no REST client in the value: " +
        "pass such an instance, or use createRegistry({ url })",
    );
  }
  return api as KafkaJsApi;
}
