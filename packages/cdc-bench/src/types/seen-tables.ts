import {
  type CdcEvent,
  createDecoder,
  type DecodeError,
  type Decoder,
  isDecodeError,
  type KafkaRecord,
  type SchemaSeen,
  type SchemaSource,
  type TableName,
  type Type,
} from "@cdckit/decode";
import { inferredType } from "./inferred-type.ts";

/** A table, and what its messages say of its rows. */
export interface SeenTable {
  readonly table: TableName;
  /** Null if only tombstones were seen. */
  readonly row: Type | null;
  /** What the schemas before the newest one said of its rows, the oldest first. */
  readonly formerRows?: readonly Type[];
  readonly key: Type | null;
  /** How many rows the types were inferred from; null if schemas state them. */
  readonly inferredFrom: number | null;
  /** Whether a column can be UNAVAILABLE: of Debezium's changes it can. */
  readonly isDebezium: boolean;
}

interface Gathered {
  readonly table: TableName;
  row: Type | null;
  readonly formerRows: Type[];
  key: Type | null;
  isDebezium: boolean;
  readonly rows: unknown[];
  readonly keys: unknown[];
}

/** Rows without a schema that are looked at: more seldom show more. */
const maxRows = 10_000;

/** Gathers tables from records. The newest schema of each table counts; of tables without one, the rows themselves. */
export class SeenTables {
  failures = 0;
  readonly #decoder: Decoder;
  readonly #newest = new Map<string, SchemaSeen>();
  readonly #tables = new Map<string, Gathered>();

  constructor(schemas: SchemaSource | undefined) {
    this.#decoder = createDecoder({
      ...(schemas === undefined ? {} : { schemas }),
      onSchema: (seen) => {
        if (seen.table !== null) {
          this.#newest.set(placeOf(seen.side, seen.topic, seen.table), seen);
        }
      },
    });
  }

  /** Errors of the schema source are thrown; a record that does not decode is counted. */
  async add(record: KafkaRecord, isFatal: (error: DecodeError) => boolean): Promise<void> {
    try {
      for (const event of await this.#decoder.decode(record)) {
        this.#addEvent(event, record.topic);
      }
    } catch (error) {
      if (!isDecodeError(error) || isFatal(error)) {
        throw error;
      }
      this.failures++;
    }
  }

  /** By their names in order. */
  tables(): readonly SeenTable[] {
    return [...this.#tables.values()]
      .filter(({ row, rows }) => row !== null || rows.length > 0)
      .map((gathered) => ({
        table: gathered.table,
        row: gathered.row ?? inferredType(gathered.rows),
        formerRows: gathered.formerRows,
        key: gathered.key ?? (gathered.keys.length === 0 ? null : inferredType(gathered.keys)),
        inferredFrom: gathered.row === null ? gathered.rows.length : null,
        isDebezium: gathered.isDebezium,
      }))
      .sort((a, b) => (patternOf(a.table) < patternOf(b.table) ? -1 : 1));
  }

  #addEvent(event: CdcEvent, topic: string): void {
    if ((event.kind !== "change" && event.kind !== "row") || event.table === null) {
      return;
    }
    const pattern = patternOf(event.table);
    const gathered = this.#tables.get(pattern) ?? {
      table: event.table,
      row: null,
      formerRows: [],
      key: null,
      isDebezium: false,
      rows: [],
      keys: [],
    };
    this.#tables.set(pattern, gathered);
    const newest = this.#newest.get(placeOf("value", topic, event.table))?.row ?? gathered.row;
    if (gathered.row !== null && newest !== gathered.row && !gathered.formerRows.includes(gathered.row)) {
      gathered.formerRows.push(gathered.row);
    }
    gathered.row = newest;
    gathered.key = this.#newest.get(placeOf("key", topic, event.table))?.row ?? gathered.key;
    gathered.isDebezium ||= event.envelope === "debezium";
    const row = event.kind === "row" ? event.row : (event.after ?? event.before);
    if (gathered.row === null && row !== null && gathered.rows.length < maxRows) {
      gathered.rows.push(row);
    }
    if (gathered.key === null && event.key !== null && gathered.keys.length < maxRows) {
      gathered.keys.push(event.key);
    }
  }
}

/** A topic may hold several tables. */
function placeOf(side: SchemaSeen["side"], topic: string, table: TableName): string {
  return `${side} ${topic} ${patternOf(table)}`;
}

/** The table as `consumer.on` takes it: by two parts if it has two, and by three only if two are ambiguous. */
export function patternOf({ database, schema, name }: TableName): string {
  const owner = schema ?? database;
  return owner === undefined ? name : `${owner}.${name}`;
}
