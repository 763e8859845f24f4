import { type RecordType, type Type, withoutNull } from "../encoding/type.ts";

/**
 * The type of a row whose columns may be in wrappers (`value`, and whether it is `set`), as connectors of Debezium for Cassandra and YugabyteDB
 * write them: that of each column without its wrapper.
 */
export function withoutCellTypes(row: RecordType): RecordType {
  const fields = row.fields.map((field) => {
    const type = valueTypeIn(field.type);
    return type === null ? field : { ...field, type };
  });
  return fields.every((field, i) => field === row.fields[i]) ? row : { ...row, fields };
}

function valueTypeIn(type: Type): Type | null {
  const cell = withoutNull(type);
  const fields = cell.kind === "record" ? cell.fields : [];
  const isSetType = fields.find(({ name }) => name === "set")?.type.kind;
  return isSetType === "boolean" ? (fields.find(({ name }) => name === "value")?.type ?? null) : null;
}
