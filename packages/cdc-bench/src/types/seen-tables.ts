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
  readonly key: Type | null;
  /** How many rows the types were inferred from; null if schemas state them. */
  readonly inferredFrom: number | null;
  /** Whether a column can be UNAVAILABLE: of Debezium's changes it can. */
  readonly isDebezium: boolean;
}

interface Gathered {
  readonly table: TableName;
  row: SchemaSeen | null;
  key: SchemaSeen | null;
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
  readonly #schemas = new SeenSchemas();
  readonly #tables = new Map<string, Gathered>();

  constructor(schemas: SchemaSource | undefined) {
    this.#decoder = createDecoder({
      ...(schemas === undefined ? {} : { schemas }),
      onSchema: (seen) => this.#schemas.add(seen),
    });
  }

  /** Errors of the schema source are thrown; a record that does not decode is counted. */
  async add(record: KafkaRecord, isFatal: (error: DecodeError) => boolean): Promise<void> {
    this.#schemas.beginRecord();
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
        row: gathered.row === null ? inferredType(gathered.rows) : gathered.row.row,
        key: gathered.key?.row ?? (gathered.keys.length === 0 ? null : inferredType(gathered.keys)),
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
    const gathered = this.#tables.get(pattern) ?? { table: event.table, row: null, key: null, isDebezium: false, rows: [], keys: [] };
    this.#tables.set(pattern, gathered);
    gathered.row = this.#schemas.newestOf(topic, "value", gathered.row);
    gathered.key = this.#schemas.newestOf(topic, "key", gathered.key);
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

/** The newest schemas with rows. Several tables may share a topic, and a decoder reports a schema once, with the first record of it. */
class SeenSchemas {
  /** By topic and side, and by the name of their type as well. */
  readonly #newest = new Map<string, SchemaSeen>();
  /** Those of the record in hand, by side. */
  readonly #reported = new Map<string, SchemaSeen>();

  beginRecord(): void {
    this.#reported.clear();
  }

  add(seen: SchemaSeen): void {
    if (seen.row !== null) {
      this.#reported.set(seen.side, seen);
      this.#newest.set(`${seen.side} ${seen.topic}`, seen);
      this.#newest.set(`${seen.side} ${seen.topic} ${nameOf(seen)}`, seen);
    }
  }

  /** For the table of the record in hand, whose schema was `before`. */
  newestOf(topic: string, side: SchemaSeen["side"], before: SchemaSeen | null): SchemaSeen | null {
    const reported = this.#reported.get(side);
    if (reported !== undefined) {
      return reported;
    }
    if (before === null) {
      return this.#newest.get(`${side} ${topic}`) ?? null; // a table that shares its schema with another one
    }
    const name = nameOf(before);
    return (name === null ? undefined : this.#newest.get(`${side} ${topic} ${name}`)) ?? before;
  }
}

function nameOf({ type }: SchemaSeen): string | null {
  return type.kind === "record" ? type.name : null;
}

/** The table as `consumer.on` takes it: by two parts if it has two, and by three only if two are ambiguous. */
export function patternOf({ database, schema, name }: TableName): string {
  const owner = schema ?? database;
  return owner === undefined ? name : `${owner}.${name}`;
}
