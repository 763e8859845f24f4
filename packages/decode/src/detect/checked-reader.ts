import type { PayloadReader } from "../encoding/reader.ts";
import { type DecodeError, isDecodeError } from "../errors.ts";
import type { TableName } from "../event.ts";
import type { SchemaId } from "../schema-source.ts";
import type { SideOpening } from "./openings.ts";
import type { SideScope } from "./route.ts";
import { belongsToTable, identityError, ruleSetError } from "./schema-identity.ts";

/** What may be wrong with a schema if a message does not fit it. */
export interface Doubts {
  readonly schemaId: SchemaId;
  readonly typeName: string | null;
  readonly hasRuleSet: boolean;
  /** Null if there is nothing to check. */
  readonly namespaceToCheck: string | null;
  readonly opening: SideOpening;
  readonly scope: SideScope;
}

/**
 * A reader that explains why a schema does not fit. Either a rule set changed the bytes, or the schema belongs to another topic and is
 * probably not the one that the message was written with. If neither is possible, the reader is returned as it is.
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

/** Throws for a value that names a table outside of the schema's namespace. */
function tableCheck(namespace: string, { schemaId, typeName, opening, scope }: Doubts): (value: unknown) => void {
  const { envelopeFormat } = opening;
  /** The last table that passed. Values of one table share the object, so that comparing it is enough. */
  let checked: TableName | null = null;
  return (value) => {
    const table = envelopeFormat.tableIn?.(value) ?? null;
    if (table === null || table === checked) {
      return; // without a table in the bytes, nothing but the schema can be checked
    }
    if (!belongsToTable(namespace, table, envelopeFormat)) {
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
