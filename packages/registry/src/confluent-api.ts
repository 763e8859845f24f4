import type { SchemaId } from "@cdckit/decode";
import { isRegistryError, type RegistryError, unusableAnswer } from "./errors.ts";
import type { Question } from "./http.ts";
import { quoted } from "./quoted.ts";
import type { Asking, RegistryApi, SubjectVersion } from "./registry-api.ts";
import { type ReferenceLink, readSchemaAnswer, type UnresolvedSchema } from "./schema-answer.ts";
import { guidOf, isNumericId, unusableId } from "./schema-id.ts";
import { requireWellFormed } from "./well-formed.ts";

/** What a reachability check asks: it is cheap, and Confluent, Karapace, Redpanda and Apicurio all answer it. */
export const typesQuestion: Question = Object.freeze({ path: "/schemas/types", what: "its schema types" });

export const subjectsQuestion: Question = Object.freeze({ path: "/subjects", what: "the list of subjects" });

/** What shows a registry that is without a path: the second one is for those that are older than the list of types. */
export const provingQuestions: readonly Question[] = Object.freeze([typesQuestion, subjectsQuestion]);

const missingIdHint =
  "is this the registry that the producer wrote to? If it is Apicurio, messages may carry global ids while /apis/ccompat/v7 resolves " +
  "content ids: set apicurio.registry.use-id=contentId on the converter, or apicurio.ccompat.legacy-id-mode.enabled=true on the registry, " +
  'or read with the registry option numericIds: "globalId"';

/** The paths and answers of the Confluent API. */
export class ConfluentApi implements RegistryApi<ReferenceLink> {
  readonly #ask: Asking;

  constructor(ask: Asking) {
    this.#ask = ask;
  }

  /** `GET /schemas/ids/{id}`, and `GET /schemas/guids/{guid}` if the id is a GUID. */
  async schemaById(id: SchemaId): Promise<UnresolvedSchema> {
    const question: Question = { path: pathOfId(id), what: `schema id ${id}`, id, missingHint: missingIdHint };
    // Many registries have no GUIDs, and other bytes may look like one. As an outage, that would be waited for without end.
    const asked = isNumericId(id) ? question : { ...question, provenBy: provingQuestions };
    return readSchema(await this.#ask.json(asked), question);
  }

  /** `GET /subjects/{subject}/versions/{version}`, for a schema that another one refers to. */
  async referencedVersion(link: ReferenceLink, id: SchemaId): Promise<UnresolvedSchema> {
    const question: Question = {
      path: `/subjects/${encodeURIComponent(link.subject)}/versions/${link.version}`,
      what: `subject ${quoted(link.subject)} version ${link.version}, which schema id ${id} refers to`,
      id,
      missingHint: "register it again: messages that need it cannot be read without it",
    };
    try {
      return readSchema(await this.#ask.json(question), question);
    } catch (error) {
      if (!isRegistryError(error) || error.code !== "not-found") {
        throw error;
      }
      // A soft-deleted version is not listed, but schemas that refer to it still need it.
      return readSchema(await this.#ask.json({ ...question, path: `${question.path}?deleted=true` }), question);
    }
  }

  /** `GET /subjects/{subject}/versions/latest`. */
  async latestVersion(subject: string): Promise<SubjectVersion> {
    const path = `/subjects/${encodeURIComponent(requireWellFormed(subject))}/versions/latest`;
    const question: Question = { path, what: `the latest version of subject ${quoted(subject)}`, missingHint: "is the subject right" };
    const answer = await this.#ask.json(question);
    const schema = readSchema(answer, question);
    const { id, version } = answer as { id?: unknown; version?: unknown }; // readSchema has checked that it is an object
    if (!isNumericId(id) || !isNumericId(version)) {
      throw unusable("has no id or no version", question);
    }
    return { ...schema, id, version, subject };
  }

  /** `GET /subjects`. */
  async subjects(): Promise<readonly string[]> {
    const answer = await this.#ask.json(subjectsQuestion);
    if (!isTextList(answer)) {
      throw unusable("is not a list of names", subjectsQuestion);
    }
    return answer;
  }
}

export function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function pathOfId(id: SchemaId): string {
  if (isNumericId(id)) {
    return `/schemas/ids/${id}`;
  }
  const guid = guidOf(id);
  if (guid !== null) {
    return `/schemas/guids/${guid}`;
  }
  throw unusableId(id, "a non-negative integer or a GUID");
}

function readSchema(answer: unknown, question: Question): UnresolvedSchema {
  const schema = readSchemaAnswer(answer);
  if ("wrong" in schema) {
    throw unusable(schema.wrong, question, schema.isRegistry);
  }
  return schema;
}

function unusable(what: string, question: Question, isRegistry = true): RegistryError {
  return unusableAnswer(`the answer to ${question.what} ${what}: is url the root of a schema registry`, isRegistry, question.id);
}
