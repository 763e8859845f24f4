import type { ApicurioIdSpace, SchemaId } from "@cdckit/decode";
import { ApicurioApi, type ArtifactPlace } from "./apicurio-api.ts";
import { ConfluentApi, provingQuestions } from "./confluent-api.ts";
import { isRegistryError } from "./errors.ts";
import { apicurioVersion, isApicurioCompatible } from "./dialect.ts";
import type { ResolvedRegistryOptions } from "./options.ts";
import type { Asking, RegistryApi, SubjectVersion } from "./registry-api.ts";
import type { ReferenceLink, ReferencePlace, UnresolvedSchema } from "./schema-answer.ts";
import { apicurioIdOf } from "./schema-id.ts";

/** The API by which the registry of these options is asked. */
export function apiFor({ endpoints, dialect, numericIds }: ResolvedRegistryOptions, ask: Asking): RegistryApi {
  if (dialect === "apicurio") {
    return new ApicurioApi(ask, { version: apicurioVersion(endpoints[0]), numericIds });
  }
  const confluent = new ConfluentApi(ask);
  if (!isApicurioCompatible(endpoints)) {
    return confluent;
  }
  const beside = { version: "v2", numericIds, prefix: besideCompatible } as const;
  const apis = {
    confluent,
    apicurio: new ApicurioApi(provenByCompatible(ask), beside),
    optional: new ApicurioApi(optionally(ask), beside),
  };
  return new CompatibleApi(apis, numericIds);
}

/** A proxy may offer the compatible API alone. If that one answers, the other one is not there, which is no outage. */
function provenByCompatible(ask: Asking): Asking {
  return {
    json: (question) => ask.json({ ...question, provenBy: provingQuestions }),
    text: (question) => ask.text({ ...question, provenBy: provingQuestions }),
  };
}

/** Not to be asked again if the registry does not offer this API, and no sign of an outage. */
function optionally(ask: Asking): Asking {
  return {
    json: (question) => ask.json({ ...question, isOptional: true }),
    text: (question) => ask.text({ ...question, isOptional: true }),
  };
}

// Versions 2 and 3 of Apicurio both answer it. fetch resolves the dots before it sends the request.
const besideCompatible = "/../../registry/v2";
const apicurioOnly = /^(?:contentHash|artifact):/;

/**
 * Apicurio at its Confluent-compatible API. Numbers are asked for there, where they are content ids; ids that only Apicurio has, and numbers that
 * are global ids, are asked for by its own API.
 */
class CompatibleApi implements RegistryApi {
  readonly #confluent: ConfluentApi;
  readonly #apicurio: ApicurioApi;
  readonly #optional: ApicurioApi;
  readonly #numericIds: ApicurioIdSpace;

  constructor(
    { confluent, apicurio, optional }: { readonly confluent: ConfluentApi; readonly apicurio: ApicurioApi; readonly optional: ApicurioApi },
    numericIds: ApicurioIdSpace,
  ) {
    this.#confluent = confluent;
    this.#apicurio = apicurio;
    this.#optional = optional;
    this.#numericIds = numericIds;
  }

  async schemaById(id: SchemaId): Promise<UnresolvedSchema<ReferencePlace>> {
    if (typeof id === "number" && this.#numericIds === "globalId") {
      return this.#apicurio.schemaById(id);
    }
    if (apicurioIdOf(id) !== null || (typeof id === "string" && apicurioOnly.test(id))) {
      return this.#apicurio.schemaById(id);
    }
    const schema = await this.#confluent.schemaById(id);
    return schema.references.length === 0 ? schema : this.#withGroups(schema, id);
  }

  /** The Confluent API knows no groups, so it cannot resolve references into other groups than the default one. Apicurio's own API can. */
  async #withGroups(schema: UnresolvedSchema, id: SchemaId): Promise<UnresolvedSchema<ReferencePlace>> {
    try {
      const same = await this.#optional.schemaById(id);
      return same.schema === schema.schema ? { ...schema, references: same.references } : schema;
    } catch (error) {
      if (isRegistryError(error) && error.code !== "unavailable") {
        return schema; // Apicurio's own API is not there, or we may not use it
      }
      throw error;
    }
  }

  referencedVersion(place: ReferencePlace, id: SchemaId): Promise<UnresolvedSchema<ReferencePlace>> {
    return isLink(place) ? this.#confluent.referencedVersion(place, id) : this.#apicurio.referencedVersion(place as ArtifactPlace, id);
  }

  latestVersion(subject: string): Promise<SubjectVersion> {
    return this.#numericIds === "globalId" ? this.#apicurio.latestVersion(subject) : this.#confluent.latestVersion(subject);
  }

  subjects(): Promise<readonly string[]> {
    return this.#confluent.subjects();
  }
}

function isLink(place: ReferencePlace): place is ReferenceLink {
  return typeof place.version === "number";
}
