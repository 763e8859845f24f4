import type { SchemaId } from "@cdckit/decode";
import type { Question } from "./http.ts";
import type { ReferencePlace, UnresolvedSchema } from "./schema-answer.ts";

/** One version of a subject, with the id that messages carry. */
export interface SubjectVersion extends UnresolvedSchema {
  readonly id: number;
  readonly subject: string;
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
