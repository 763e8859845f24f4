import type { ApicurioIdSpace, SchemaId, SchemaType } from "@cdckit/decode";
import { isRegistryError, RegistryError, unusableAnswer } from "./errors.ts";
import type { Question } from "./http.ts";
import { quoted } from "./quoted.ts";
import type { Asking, RegistryApi, SubjectVersion } from "./registry-api.ts";
import { isName, isObject, type ReferencePlace, readSchemaType, type UnresolvedSchema } from "./schema-answer.ts";
import { apicurioIdOf, isNumericId, unusableId } from "./schema-id.ts";
import { sniffSchemaType } from "./sniff-schema-type.ts";
import { requireWellFormed } from "./well-formed.ts";

/** What an Apicurio reference names. `subject` is group and artifact, each percent-encoded as in a path. */
export interface ArtifactPlace extends ReferencePlace {
  readonly version: string;
}

/** The supported versions of Apicurio's own API. */
export type ApicurioApiVersion = "v2" | "v3";

export interface ApicurioApiOptions {
  readonly version: ApicurioApiVersion;
  /** How ids that are plain numbers are read. */
  readonly numericIds: ApicurioIdSpace;
  /** Put in front of every path. */
  readonly prefix?: string;
}

/** The paths and parameters that differ between the versions. */
const dialects = {
  v2: { search: "/search/artifacts", found: "artifacts", type: "type", latest: "", meta: "/meta" },
  v3: { search: "/search/versions", found: "versions", type: "artifactType", latest: "/versions/branch=latest", meta: "" },
} as const;

const expectedIds = "a number, contentId:<number>, globalId:<number>, contentHash:<hash> or artifact:<group>/<artifact>/<version>";
const missingHint =
  "is this the registry that the producer wrote to, and does the producer write this kind of id (apicurio.registry.use-id)? " +
  "The option numericIds says how ids that are plain numbers are read";
const subjectsAtOnce = 500;
const maxSubjects = 100_000;

/** Apicurio's own API. Content ids and global ids have a path each. */
export class ApicurioApi implements RegistryApi<ArtifactPlace> {
  readonly #ask: Asking;
  readonly #options: ApicurioApiOptions;

  constructor(ask: Asking, options: ApicurioApiOptions) {
    this.#ask = ask;
    this.#options = options;
  }

  /** `GET /ids/contentIds/{id}`, `/ids/globalIds/{id}`, `/ids/contentHashes/{hash}`, or one version of an artifact. */
  async schemaById(id: SchemaId): Promise<UnresolvedSchema<ArtifactPlace>> {
    const numbered = isNumericId(id) ? { space: this.#options.numericIds, number: String(id) } : apicurioIdOf(id);
    if (numbered !== null) {
      return this.#numbered(numbered.space, numbered.number, id);
    }
    const [, hash] = typeof id === "string" ? (/^contentHash:([0-9A-Za-z]{1,128})$/.exec(id) ?? []) : [];
    if (hash !== undefined) {
      return requireContent(await this.#content(`/ids/contentHashes/${hash}`, id), id);
    }
    const parts = typeof id === "string" && id.startsWith("artifact:") ? id.slice("artifact:".length).split("/") : [];
    const [group, artifact, version] = parts;
    if (parts.length === 3 && parts.every(isPathPart) && version !== undefined) {
      return this.referencedVersion({ name: "", subject: `${group}/${artifact}`, version }, id);
    }
    throw unusableId(id, expectedIds);
  }

  async referencedVersion({ subject, version }: ArtifactPlace, id: SchemaId): Promise<UnresolvedSchema<ArtifactPlace>> {
    const [group, artifact] = subject.split("/");
    const path = `/groups/${group}/artifacts/${artifact}/versions/${version}${dialects[this.#options.version].meta}`;
    const what = `artifact ${quoted(subject)} version ${quoted(version)}, which schema id ${id} needs`;
    const meta = await this.#json({ path, what, id, missingHint: "register it again: messages that need it cannot be read without it" });
    return this.#numbered("globalId", this.#numberIn(meta, "globalId", what), id);
  }

  async latestVersion(subject: string): Promise<SubjectVersion> {
    const [group, artifact] = placeOfSubject(requireWellFormed(subject)).split("/");
    const { latest, meta } = dialects[this.#options.version];
    const what = `the latest version of artifact ${quoted(subject)}`;
    const path = `/groups/${group}/artifacts/${artifact}${latest}${meta}`;
    const answer = await this.#json({ path, what, missingHint: "is the artifact right (group/artifact, or artifact alone)" });
    const schema = await this.#numbered("globalId", this.#numberIn(answer, "globalId", what), subject);
    const version = Number(isObject(answer) ? answer["version"] : undefined);
    if (!isNumericId(version)) {
      throw unusable("has a version that is not a number", what);
    }
    const id = Number(this.#numberIn(answer, this.#options.numericIds, what));
    return { schemaType: schema.schemaType, schema: schema.schema, references: [], id, version, subject };
  }

  /** Artifacts of the group "default" by their names, artifacts of other groups as group/artifact. */
  async subjects(): Promise<readonly string[]> {
    const names: string[] = [];
    for (let offset = 0; offset < maxSubjects; offset += subjectsAtOnce) {
      const what = "the list of artifacts";
      const answer = await this.#json({ path: `/search/artifacts?limit=${subjectsAtOnce}&offset=${offset}`, what });
      const page = isObject(answer) ? answer["artifacts"] : undefined;
      if (!Array.isArray(page)) {
        throw unusable("is no list of artifacts", what);
      }
      names.push(...page.map(subjectOfArtifact).filter((name) => name !== null));
      if (page.length < subjectsAtOnce) {
        break;
      }
    }
    return names;
  }

  async #numbered(space: ApicurioIdSpace, number: string, id: SchemaId): Promise<UnresolvedSchema<ArtifactPlace>> {
    const { search, found, type } = dialects[this.#options.version];
    const what = `the type of ${space} ${number}`;
    const answer = this.#json({ path: `${search}?${space}=${number}`, what, id, isOptional: true });
    const [schema, versions] = await Promise.all([this.#content(`/ids/${space}s/${number}`, id), answer.catch(noneWhereMissing)]);
    const list: unknown = isObject(versions) ? versions[found] : undefined;
    const types = new Set(Array.isArray(list) ? list.map((version: unknown) => (isObject(version) ? version[type] : undefined)) : []);
    if (types.size > 1) {
      throw unusable("names versions of several types: ask by the global id of one of them", what);
    }
    const [declared] = types;
    return requireContent(declared === undefined ? schema : { ...schema, schemaType: typeOf(declared, what) }, id);
  }

  async #content(path: string, id: SchemaId): Promise<UnresolvedSchema<ArtifactPlace>> {
    const question: Question = { path: this.#path(path), what: `schema id ${id}`, id, missingHint };
    const [schema, references] = await Promise.all([
      this.#ask.text(question),
      this.#json({ path: `${path}/references`, what: `the references of schema id ${id}`, id, missingHint }),
    ]);
    const places = readPlaces(references);
    if (!Array.isArray(references)) {
      throw unusableAnswer(`the answer to the references of schema id ${id} is no list: is url the root of Apicurio's own API`, false, id);
    }
    if (places === null) {
      throw unusable("is no list of references", `the references of schema id ${id}`);
    }
    return { schemaType: sniffSchemaType(schema), schema, references: places };
  }

  #numberIn(answer: unknown, field: ApicurioIdSpace, what: string): string {
    const number = isObject(answer) ? answer[field] : undefined;
    if (!isNumericId(number)) {
      throw unusable(`has no ${field}`, what);
    }
    return String(number);
  }

  #json(question: Question): Promise<unknown> {
    return this.#ask.json({ ...question, path: this.#path(question.path) });
  }

  #path(path: string): string {
    return `${this.#options.prefix ?? ""}${path}`;
  }
}

/** What a reachability check asks. Both versions answer it. */
export const apicurioInfoQuestion: Question = Object.freeze({ path: "/system/info", what: "its version" });

/** If the registry does not offer the search, or not to us, the type has to be found out from the content itself. */
function noneWhereMissing(error: unknown): null {
  if (isRegistryError(error) && error.code !== "unavailable") {
    return null;
  }
  throw error;
}

/** The content comes without a mark of the registry: a proxy's page, or nothing, with a status of success would be cached as the schema. */
function requireContent(found: UnresolvedSchema<ArtifactPlace>, id: SchemaId): UnresolvedSchema<ArtifactPlace> {
  if (/^\s*(?:<|$)/.test(found.schema)) {
    const detail = `the answer to schema id ${id} is empty or a page, and no schema of the type ${found.schemaType}: does a proxy answer instead of the registry`;
    throw unusableAnswer(detail, false, id);
  }
  return found;
}

function typeOf(declared: unknown, what: string): SchemaType {
  const schemaType = declared === null ? undefined : readSchemaType(declared);
  if (schemaType === undefined) {
    throw unusable("is a type other than AVRO, JSON, PROTOBUF and KCONNECT", what);
  }
  return schemaType;
}

function readPlaces(value: unknown): readonly ArtifactPlace[] | null {
  if (!Array.isArray(value)) {
    return null;
  }
  const places = value.map((reference: unknown): ArtifactPlace | null => {
    const { groupId, artifactId, version, name } = isObject(reference) ? reference : {};
    const group = groupId ?? "default";
    if (!isName(group) || !isName(artifactId) || !isName(version) || !isName(name)) {
      return null;
    }
    const parts = [group, artifactId, version].map(encodeURIComponent);
    return parts.every(isPathPart) ? { name, subject: parts.slice(0, 2).join("/"), version: parts[2] ?? "" } : null;
  });
  return places.includes(null) ? null : (places as readonly ArtifactPlace[]);
}

/** One part of a path, percent-encoded. Parts that would lead to another path are refused. */
function isPathPart(part: string): boolean {
  return /^[\w.!~*'()%-]{1,4096}$/.test(part) && part !== "." && part !== "..";
}

function placeOfSubject(subject: string): string {
  const slash = subject.indexOf("/");
  const [group, artifact] = slash === -1 ? ["default", subject] : [subject.slice(0, slash), subject.slice(slash + 1)];
  return `${encodeURIComponent(group)}/${encodeURIComponent(artifact)}`;
}

function subjectOfArtifact(found: unknown): string | null {
  const { groupId, artifactId, id } = isObject(found) ? found : {};
  const artifact = artifactId ?? id; // its name in version 2
  if (!isName(artifact)) {
    return null;
  }
  return isName(groupId) && groupId !== "default" ? `${groupId}/${artifact}` : artifact;
}

function unusable(what: string, asked: string): RegistryError {
  return new RegistryError("refused", `the answer to ${asked} ${what}: is url the root of Apicurio's own API, such as /apis/registry/v3`);
}
