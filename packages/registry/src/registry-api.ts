import type { SchemaId } from "@cdckit/decode";
import type { Question } from "./http.ts";
import type { ReferencePlace, UnresolvedSchema } from "./schema-answer.ts";

/** One version of a subject, with the id that messages carry. */
export interface SubjectVersion extends UnresolvedSchema {
  /** The id of the schema, as messages in Confluent's framing carry it. */
  readonly id: number;
  /** The name of the subject: by default the topic with `-key` or `-value`. */
  readonly subject: string;
  /** The number of the version in its subject, from 1. */
  readonly version: number;
}

/** Asks the registry. Resolves with the JSON, or with the text, of its answer. */
export interface Asking {
  json(question: Question): Promise<unknown>;
  text(question: Question): Promise<string>;
}

/** One API of registries: its questions, and how its answers are read. */
export interface RegistryApi<Place extends ReferencePlace = ReferencePlace> {
  schemaById(id: SchemaId): Promise<UnresolvedSchema<Place>>;
  /** A schema that the schema `id` refers to. */
  referencedVersion(place: Place, id: SchemaId): Promise<UnresolvedSchema<Place>>;
  latestVersion(subject: string): Promise<SubjectVersion>;
  subjects(): Promise<readonly string[]>;
}
