import type { PayloadReader } from "../encoding/reader.ts";
import { type DecodeError, isDecodeError } from "../errors.ts";
import type { TableName } from "../event.ts";
import type { SchemaId } from "../schema-source.ts";
import type { SideOpening } from "./openings.ts";
import type { SideScope } from "./route.ts";
import { belongsToTable, identityError, ruleSetError } from "./schema-identity.ts";

/** What of a schema may be at fault if a message does not fit it. */
export interface Doubts {
  readonly schemaId: SchemaId;
  readonly typeName: string | null;
  readonly hasRuleSet: boolean;
  /** Null: nothing to check. */
  readonly namespaceToCheck: string | null;
  readonly opening: SideOpening;
  readonly scope: SideScope;
}

/**
 * The reader, which says why a schema does not fit: rules that changed the bytes, or, of one that is not the topic's, that it is most likely
 * not the one that the message was written with. A schema that gives no reason for doubt is read by its own reader.
 */
export function checkedReader(reader: PayloadReader, doubts: Doubts): PayloadReader {
  const { hasRuleSet, namespaceToCheck: namespace, scope } = doubts;
  if (!hasRuleSet && namespace === null) {
    return reader;
  }
  const check = namespace === null || scope.side === "key" ? null : tableCheck(namespace, doubts);
  const { encoding, type, readSequence } = reader;
  return {
    encoding,
    type,
    ...(readSequence === undefined ? {} : { readSequence: readSequence.bind(reader) }),
    read: (bytes, start, end) => {
      try {
        const value = reader.read(bytes, start, end);
        check?.(value);
        return value;
      } catch (error) {
        throw explained(error, doubts);
      }
    },
  };
}

/** Fails for a value that names a table which the schema's namespace is not of. */
function tableCheck(namespace: string, { schemaId, typeName, opening, scope }: Doubts): (value: unknown) => void {
  const { envelopeFormat } = opening;
  /** The last table that belongs: one object for as long as the table stays. */
  let checked: TableName | null = null;
  return (value) => {
    const table = envelopeFormat.tableIn?.(value) ?? null;
    if (table === null || table === checked) {
      return; // without a table in the bytes, the schema is all that there is to go by
    }
    if (!belongsToTable(namespace, table)) {
      throw identityError(schemaId, typeName, `and the message is of another table, on topic ${scope.topic}`);
    }
    checked = table;
  };
}

function explained(error: unknown, { schemaId, typeName, namespaceToCheck, hasRuleSet }: Doubts): unknown {
  if (!isDecodeError(error) || error.code === "schema-mismatch") {
    return error;
  }
  return hasRuleSet ? ruleSetError(schemaId, error) : misfitError(schemaId, typeName, { error, namespaceToCheck });
}

function misfitError(
  id: SchemaId,
  typeName: string | null,
  { error, namespaceToCheck }: { error: DecodeError; namespaceToCheck: string | null },
): DecodeError {
  return namespaceToCheck === null
    ? error
    : identityError(id, typeName, `which does not fit these bytes (${error.code}) and is not named after the topic`, error);
}
