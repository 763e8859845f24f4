/** The names of each object of options. A test compares them with the types. */
export const optionNames = {
  decoder: {
    schemas: true,
    values: true,
    topics: true,
    limits: true,
    validation: true,
    jsonSchemaValidator: true,
    learn: true,
    apicurioIds: true,
    formats: true,
    onSchema: true,
    selectColumns: true,
  },
  values: { int64: true, numbers: true, decimal: true, time: true, json: true, bits: true, unavailablePlaceholder: true, temporal: true },
  learn: { keys: true, schemaChanges: true },
  formats: { framings: true, schemaEncodings: true, plainEncodings: true, envelopes: true },
  topic: {
    table: true,
    columns: true,
    schemaIdentity: true,
    fieldNames: true,
    emptyAsTombstone: true,
    binaryHandling: true,
    key: true,
    value: true,
  },
  table: { database: true, schema: true, name: true },
  column: { name: true, parameters: true },
  side: { encoding: true, schemaId: true, schema: true, readerSchema: true, message: true, messageIndexes: true },
  schema: { schemaType: true, schema: true, references: true },
} as const;

type Plain = Readonly<Record<string, unknown>>;

/**
 * Refuses names that are no options: a misspelt option would otherwise have no effect, and nobody would notice. Throws a `TypeError` with the
 * path of the name and the names that there are. Limits are checked with their values.
 */
export function checkOptionNames(options: object): void {
  checkNames("", options, optionNames.decoder);
  const { schemas, values, learn, formats, topics } = options as Plain;
  checkSource(schemas);
  checkNames("values", values, optionNames.values);
  checkNames("learn", learn, optionNames.learn);
  checkNames("formats", formats, optionNames.formats);
  for (const [topic, hints] of Object.entries(topics ?? {})) {
    checkTopicNames(`topics[${JSON.stringify(topic)}]`, hints);
  }
}

/** The options of a registry in place of a registry would be noticed at the first record that names a schema. */
function checkSource(schemas: unknown): void {
  const { peek, load } = Object(schemas ?? {}) as Plain;
  if (schemas !== undefined && schemas !== null && (typeof peek !== "function" || typeof load !== "function")) {
    throw new TypeError(
      `schemas must be a schema source with peek and load, such as createRegistry({ url }), got ${typeof schemas === "object" ? "an object without them" : typeof schemas}`,
    );
  }
}

function checkTopicNames(path: string, hints: unknown): void {
  checkNames(path, hints, optionNames.topic);
  const { table, columns, key, value } = (hints ?? {}) as Plain;
  checkNames(`${path}.table`, table, optionNames.table);
  for (const [column, semantic] of Object.entries(columns ?? {})) {
    if (typeof semantic !== "string") {
      checkNames(`${path}.columns[${JSON.stringify(column)}]`, semantic, optionNames.column);
    }
  }
  for (const [side, hinted] of Object.entries({ key, value })) {
    checkNames(`${path}.${side}`, hinted, optionNames.side);
    checkNames(`${path}.${side}.schema`, ((hinted ?? {}) as Plain)["schema"], optionNames.schema);
  }
}

function checkNames(path: string, given: unknown, known: Readonly<Record<string, true>>): void {
  if (given === undefined) {
    return;
  }
  if (typeof given !== "object" || given === null) {
    const found = given === null ? "null" : typeof given;
    throw new TypeError(`${path === "" ? "options" : path} must be an object of options, got ${found}`);
  }
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined && !Object.hasOwn(known, name)) {
      const place = path === "" ? name : `${path}.${name}`;
      throw new TypeError(`${place} is no option; the options are ${Object.keys(known).join(", ")}`);
    }
  }
}
