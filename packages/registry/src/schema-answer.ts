import type { SchemaType } from "@cdckit/decode";
import { isWellFormed } from "./well-formed.ts";

/** A schema as a registry writes it. Its references name versions of other subjects. */
export interface UnresolvedSchema<Place extends ReferencePlace = ReferenceLink> {
  /** The language of the schema. */
  readonly schemaType: SchemaType;
  /** The text of the schema. */
  readonly schema: string;
  /** What the text names and does not hold. Empty if it refers to nothing. */
  readonly references: readonly Place[];
  /** Whether it has rules by which producers transform messages while they write them. */
  readonly hasRuleSet?: boolean;
}

/** What a reference names, in any API. */
export interface ReferencePlace {
  /** Its name in the schema that refers to it. */
  readonly name: string;
  /** The subject that has the schema; in Apicurio's own API the artifact. */
  readonly subject: string;
  /** The version in the subject; text in Apicurio's own API. */
  readonly version: number | string;
}

/** What a reference of the Confluent API names. */
export interface ReferenceLink extends ReferencePlace {
  /** The number of the version in its subject, from 1. */
  readonly version: number;
}

const maxNameChars = 4_096;

/** An answer that is no schema. `wrong` says what is wrong with it, and quotes nothing of it. */
export interface UnusableAnswer {
  readonly wrong: string;
  /** False if the answer has no schema text, and so does not come from a registry: a page of a proxy, another service. */
  readonly isRegistry: boolean;
}

/** Checks the answer to a question for a schema. */
export function readSchemaAnswer(answer: unknown): UnresolvedSchema | UnusableAnswer {
  if (!isObject(answer)) {
    return { wrong: "is not a JSON object", isRegistry: false };
  }
  const { schema } = answer;
  const schemaType = readSchemaType(answer["schemaType"]);
  const references = readLinks(answer["references"]);
  if (typeof schema !== "string") {
    return { wrong: 'has no "schema" text', isRegistry: false };
  }
  if (schemaType === undefined) {
    return { wrong: "has a schemaType other than AVRO, JSON, PROTOBUF and KCONNECT", isRegistry: true };
  }
  if (references === undefined) {
    return { wrong: "has references that are not a list of name, subject and version", isRegistry: true };
  }
  return hasRules(answer["ruleSet"]) ? { schema, schemaType, references, hasRuleSet: true } : { schema, schemaType, references };
}

/** Rules that transform a message while it is written. Rules that are conditions leave it as it is, and so do those of its readers. */
function hasRules(ruleSet: unknown): boolean {
  const { domainRules, encodingRules } = isObject(ruleSet) ? ruleSet : {};
  return [domainRules, encodingRules].some((rules) => Array.isArray(rules) && rules.some(changesMessages));
}

function changesMessages(rule: unknown): boolean {
  const { kind, mode, disabled } = isObject(rule) ? rule : {};
  return kind === "TRANSFORM" && mode !== "READ" && disabled !== true;
}

/** Registries leave the type out if it is AVRO. */
export function readSchemaType(value: unknown): SchemaType | undefined {
  if (value === undefined || value === null) {
    return "AVRO";
  }
  return value === "AVRO" || value === "JSON" || value === "PROTOBUF" || value === "KCONNECT" ? value : undefined;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function readLinks(value: unknown): readonly ReferenceLink[] | undefined {
  if (value === undefined || value === null) {
    return [];
  }
  if (!Array.isArray(value) || !value.every(isLink)) {
    return undefined;
  }
  return value.map(({ name, subject, version }) => ({ name, subject, version }));
}

function isLink(value: unknown): value is ReferenceLink {
  return isObject(value) && isName(value["name"]) && isName(value["subject"]) && Number.isSafeInteger(value["version"]);
}

/** Whether a value of an answer can name something: a subject, an artifact, its version. Names become parts of paths. */
export function isName(value: unknown): value is string {
  return typeof value === "string" && value.length > 0 && value.length <= maxNameChars && isWellFormed(value);
}
