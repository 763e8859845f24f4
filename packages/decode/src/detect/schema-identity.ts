import { unescapedName } from "../encoding/escaped-name.ts";
import type { EnvelopeFormat } from "../envelope/envelope.ts";
import { DecodeError } from "../errors.ts";
import type { TableName } from "../event.ts";
import type { SchemaId } from "../schema-source.ts";
import type { SideRoute } from "./route.ts";
import { topicOption } from "../topic-option.ts";

/**
 * Schema ids of two registries, or of two number spaces of one registry, collide. Apicurio's converters write global ids by default, but
 * its Confluent-compatible API looks ids up as content ids. The answer is then the schema of another table, with status 200. A decoded
 * schema must therefore belong to the topic, or to the table that the bytes themselves name.
 */

/** The namespace of a schema that Debezium names after its table (`<topic>.Envelope`, `.Value`, `.Key`). Null for any other schema. */
export function debeziumNamespace(typeName: string | null): string | null {
  const match = typeName === null ? null : /^(.+)\.(?:Envelope|Value|Key)$/.exec(typeName);
  return match?.[1] ?? null;
}

/**
 * Whether a namespace is the one that Debezium derives from the name of this topic. The topic may have escapes of its own
 * (`DefaultUnicodeTopicNamingStrategy`), whose `_` are then escaped once more.
 */
export function belongsToTopic(namespace: string, topic: string): boolean {
  return adjusted(namespace) === adjusted(topic) || unescapedName(namespace) === topic;
}

/** Whether a namespace ends in the table that the bytes name. Topics may be routed to other names, so the topic alone does not decide. */
export function belongsToTable(namespace: string, table: TableName, { hasDatabaseBeforeTable }: EnvelopeFormat): boolean {
  const name = adjusted(namespace);
  const container = (hasDatabaseBeforeTable?.(name) === true ? null : table.schema) ?? table.database;
  const suffix = container === undefined ? table.name : `${container}.${table.name}`;
  return name === adjusted(suffix) || name.endsWith(`.${adjusted(suffix)}`);
}

/**
 * The name as Debezium's schema name adjustment writes it: `_` for each character that Avro does not allow. A name that needs no adjustment
 * stays the same. `_u00e4`, which another mode of the adjustment writes, is first replaced by the character that it stands for.
 */
function adjusted(name: string): string {
  return unescapedName(name).replace(/[^A-Za-z0-9_.]/g, "_");
}

/** Whether the schema of a key belongs to the topic, or to the table that the value was found to belong to. */
export function isOfSchema({ schemaId, namespaceToCheck }: SideRoute, value: SideRoute): boolean {
  return schemaId === null || namespaceToCheck === null || debeziumNamespace(value.typeName) === namespaceToCheck;
}

export function keyError({ schemaId, typeName }: SideRoute, value: SideRoute, topic: string): DecodeError {
  const belongs = `which is the key of a message whose value is ${value.typeName ?? "of no schema"}, on topic ${topic}`;
  return identityError(schemaId ?? "", typeName, belongs);
}

export function ruleSetError(id: SchemaId, cause: DecodeError): DecodeError {
  return new DecodeError(
    "unsupported-format",
    `expected bytes that schema id ${id} fits, found others (${cause.code}): the registry keeps rules beside that schema by which producers ` +
      "change what they write, encryption above all, and these rules are not undone here. Undo them before decoding",
    { cause },
  );
}

/** The error for a schema that belongs elsewhere. It names both ways to read the id. */
export function identityError(id: SchemaId, typeName: string | null, belongs: string, cause?: unknown): DecodeError {
  return new DecodeError(
    "schema-mismatch",
    `expected schema id ${id} to lead to the schema that this message was written with, found that the registry's id ${id} is ${typeName ?? "a schema without a name"}, ` +
      `${belongs}. An Apicurio converter with as-confluent writes global ids, and its registry's Confluent API reads them as content ids: ` +
      "set apicurio.registry.use-id=contentId on the converter, or apicurio.ccompat.legacy-id-mode.enabled=true on the registry, " +
      'or read with the registry option numericIds: "globalId". ' +
      `If the id is right and the topic was renamed, set ${topicOption("schemaIdentity")} to "trust"`,
    cause === undefined ? {} : { cause },
  );
}
