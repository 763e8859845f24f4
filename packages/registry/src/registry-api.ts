import type { SchemaId } from "@cdckit/decode";
import type { Question } from "./http.ts";
import type { ReferencePlace, UnresolvedSchema } from "./schema-answer.ts";

/** One version of a subject, with the id that messages name it by. */
export interface SubjectVersion extends UnresolvedSchema {
  readonly id: number;
  readonly subject: string;
  readonly version: number;
}

/** Asks the registry, and resolves with the JSON of its answer, or with its text. */
export interface Asking {
  json(question: Question): Promise<unknown>;
  text(question: Question): Promise<string>;
}

/** What one dialect of registry is asked, and how its answers are read. */
export interface RegistryApi<Place extends ReferencePlace = ReferencePlace> {
  schemaById(id: SchemaId): Promise<UnresolvedSchema<Place>>;
  /** A schema that the schema `id` refers to. */
  referencedVersion(place: Place, id: SchemaId): Promise<UnresolvedSchema<Place>>;
  latestVersion(subject: string): Promise<SubjectVersion>;
  subjects(): Promise<readonly string[]>;
}
