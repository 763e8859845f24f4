import { type RecordType, type Type, withoutNull } from "@cdckit/decode";
import { semanticType, type ValueChoices } from "./value-type.ts";

/**
 * The records that come more than once in a row or a key, also inside of themselves. If all were written where they stand, a short schema could
 * have a text without end: of forty records whose two fields are of the record before, the last one holds the first a million million times.
 */
export function repeatedRecords(root: Type, choices: ValueChoices): readonly RecordType[] {
  const seen = new Set<RecordType>();
  const repeated = new Set<RecordType>();
  const visitRecord = (record: RecordType): void => {
    if (seen.has(record)) {
      repeated.add(record);
      return;
    }
    seen.add(record);
    record.fields.forEach((field) => visit(field.type));
  };
  const visit = (type: Type): void => {
    if (type.semantic !== undefined && semanticType(type.semantic, choices) !== null) {
      return; // its fields are not written
    }
    switch (type.kind) {
      case "union":
        return type.branches.forEach(visit);
      case "array":
        return visit(type.items);
      case "map":
        [type.keys, type.values].forEach((inner) => inner !== null && visit(inner));
        return;
      case "record":
        return visitRecord(type);
      default: // made of no others
    }
  };
  const type = withoutNull(root);
  if (type.kind === "record") {
    visitRecord(type); // a row's fields are written whatever it means
  } else {
    visit(type);
  }
  return [...repeated];
}
