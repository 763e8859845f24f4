import type { RegisteredSchema, SchemaId, SchemaSource } from "@cdckit/decode";
import type { ChangeFormat, ChangeSource, SchemaIds } from "../../load/change-events/index.ts";

/** A registry in memory: for messages that nobody but this run reads. Asking it costs what a cached answer of a real one costs. */
export interface GivenSchemas {
  readonly ids: SchemaIds | null;
  /** Undefined if the format needs none. */
  readonly source: SchemaSource | undefined;
}

export function givenSchemas(format: ChangeFormat, source: ChangeSource): GivenSchemas {
  const needed = format.schemas(source);
  if (needed.length === 0) {
    return { ids: null, source: undefined };
  }
  const byId = new Map<SchemaId, RegisteredSchema>();
  const ids: Record<"key" | "value", number> = { key: 0, value: 0 };
  for (const { part, schemaType, schema } of needed) {
    ids[part] = byId.size + 1;
    byId.set(ids[part], { id: ids[part], schemaType, schema });
  }
  return {
    ids,
    source: {
      peek: (id) => byId.get(id),
      async load(id) {
        const schema = byId.get(id);
        if (schema === undefined) {
          throw new Error(`this run has written no schema ${id}`);
        }
        return schema;
      },
    },
  };
}
