/**
 * Who may import whom. `npm run check` holds every import to this table (`rooms.mjs`); ARCHITECTURE.md says in words what each room is
 * for. `name:types` allows `import type` alone: nothing of that room is left at run time.
 */

/**
 * Packages by their folder under `packages/`. An import points down: towards decode.
 * @type {Readonly<Record<string, readonly string[]>>}
 */
export const packageTable = {
  decode: [],
  "record-batch": ["decode:types"],
  "json-schema": ["decode"],
  registry: ["decode:types"],
  consumer: ["decode", "registry"],
  driver: ["consumer:types", "decode"], // it speaks of the port alone: no client is named
  kafkajs: ["consumer:types", "record-batch", "driver"],
  confluent: ["consumer:types", "decode", "driver"],
  platformatic: ["consumer:types", "record-batch", "driver"],
  postgres: ["consumer:types", "decode"],
  fastify: ["consumer:types"],
  lambda: ["consumer:types", "decode", "registry"],
  nestjs: ["consumer"],
  testkit: ["decode", "registry", "consumer"],
  cdckit: ["decode", "registry", "consumer", "kafkajs"],
  "cdc-bench": ["decode", "record-batch", "json-schema", "registry", "consumer", "kafkajs", "postgres", "testkit", "cdckit"],
};

/**
 * @typedef {object} RoomTable
 * @property {Readonly<Record<string, readonly string[]>>} rooms
 * @property {readonly string[]} layers
 * @property {Readonly<Record<string, readonly string[]>>} siblings
 * @property {readonly string[]} [builtins] what of Node a package without I/O may use
 */

/** What tests beside the sources may import on top of that: the kit that exists for tests, what it is made of, and the real validator. */
export const testTable = ["decode", "json-schema", "registry", "consumer", "testkit"];

/** Folders that use the packages as a user does: any package, by its public door alone. */
export const outsiders = ["bench", "test", "examples"];

/**
 * The rooms of one package: a file or folder of its `src`, and what it may import there. A folder in `layers` holds one format a folder:
 * formats may import what their layer may, and the layer's own files, but not each other unless `siblings` says so.
 * @type {Readonly<Record<string, RoomTable>>}
 */
export const roomTables = {
  decode: {
    rooms: {
      "help-url": [], // where the page about a code is
      errors: ["help-url"],
      "topic-option": [], // how errors name an option of a topic
      record: [],
      "schema-source": [],
      tiers: [], // what benchmarks turn off
      "json-schema-validator": [], // the port of @cdckit/json-schema
      "bind-methods": [],
      "bounded-map": [],
      "recent-map": [],
      "set-property": [], // the one way to set a property whose name came from bytes
      "list-with": [], // makes lists that V8 keeps young
      "user-answer": [], // refuses what functions of the user's must not answer
      options: ["errors", "json-schema-validator:types"],
      event: ["record:types", "schema-source:types"],
      explanation: [], // what explain() answers with
      "schema-seen": ["encoding/type:types", "event:types", "schema-source:types"], // what a schema listener is told
      "column-selector": ["event:types"], // the port of those who want only some columns
      position: ["event:types"], // where a change stands in its source
      values: ["errors", "options", "set-property"],
      encoding: [
        "list-with",
        "user-answer",
        "bounded-map",
        "values",
        "errors",
        "topic-option",
        "options",
        "set-property",
        "schema-source:types",
        "event:types",
        "json-schema-validator:types",
      ],
      framing: ["errors", "record", "options:types", "schema-source:types", "event:types"],
      envelope: [
        "list-with",
        "event",
        "errors",
        "topic-option",
        "record",
        "values",
        "options",
        "set-property",
        "schema-source:types",
        "encoding/type",
        "encoding/reader",
        "encoding/connect-json/header-json", // headers carry keys as JSON text, with a schema or without
      ],
      // What only several events together tell.
      stream: [
        "bind-methods",
        "recent-map",
        "event:types",
        "errors",
        "record:types",
        "schema-source:types",
        "schema-seen:types",
        "values",
        "encoding/type",
        "position",
      ],
      detect: [
        "list-with",
        "user-answer",
        "bind-methods",
        "bounded-map",
        "recent-map",
        "tiers",
        "topic-option",
        "explanation:types",
        "schema-seen:types",
        "column-selector:types",
        "stream",
        "framing",
        "encoding",
        "envelope",
        "values",
        "event",
        "errors",
        "options",
        "record",
        "schema-source",
        "set-property",
      ],
      "option-names": [], // refuses unknown ones
      "wrong-record": ["errors"], // says what is wrong with a record that failed
      decoder: [
        "option-names",
        "wrong-record",
        "bind-methods",
        "bounded-map",
        "json-schema-validator:types",
        "explanation:types",
        "schema-seen:types",
        "column-selector:types",
        "stream",
        "detect",
        "framing",
        "encoding",
        "envelope",
        "values",
        "event",
        "errors",
        "options",
        "record",
        "schema-source",
        "set-property",
      ],
      index: [
        "explanation:types",
        "json-schema-validator:types",
        "schema-seen:types",
        "column-selector:types",
        "stream",
        "decoder",
        "position",
        "detect",
        "framing",
        "encoding",
        "envelope",
        "values",
        "event",
        "errors",
        "options",
        "record",
        "schema-source",
        "set-property",
      ],
    },
    layers: ["framing", "encoding", "envelope"],
    siblings: {
      "framing/confluent": ["framing/apicurio"], // both begin with the same five bytes, and the choice of a message follows
      "framing/confluent-guid": ["framing/confluent"], // its header may hold the first framing's id, and both choose messages alike
      "encoding/connect-json": ["encoding/json"], // its payload half is JSON
      "encoding/json-schema": ["encoding/json"], // its messages are JSON, typed by their schema
      "encoding/avro": ["encoding/json"], // a column may hold a JSON document
      "encoding/avro-json": ["encoding/avro", "encoding/json"], // the same schemas; its messages are JSON, and read as what they say in binary
      "encoding/canal-protobuf": ["encoding/protobuf"], // Protobuf by a schema that nobody has to bring
      "encoding/protobuf": ["encoding/json"], // the same
      // Debezium and DeltaForge write them, with the same letters for operations and the same columns; the data may be what a transformation made.
      "envelope/cloudevents": ["envelope/debezium", "envelope/deltaforge", "envelope/flattened", "envelope/outbox"],
      "envelope/ticdc-canal-json": ["envelope/canal"], // Canal's messages with an extension
      "envelope/deltaforge": ["envelope/debezium"], // its events are Debezium's payload with fields of its own
      "envelope/flattened": ["envelope/debezium"], // Debezium's own rows without its envelope: the same letters for operations
    },
    builtins: ["node:buffer", "node:util", "node:crypto", "node:zlib"], // zlib: framings whose payload is compressed
  },
  "cdc-bench": {
    rooms: {
      "exit-codes": [],
      "bench-error": ["exit-codes"],
      "driver-exit-codes": ["exit-codes"], // what the driver's errors end the process with
      "negative-timeouts": [],
      "package-root": [], // where files of this package lie
      "registry-fault": ["bench-error"],
      "seeded-random": [],
      terminal: [], // the world that a command is given
      measure: ["registry-fault", "seeded-random"], // clocks, counters, histograms
      load: ["bench-error", "measure", "registry-fault", "seeded-random"], // brokers, databases, recordings, generated records
      report: ["bench-error", "measure:types", "package-root", "terminal"], // quantities, tables and JSON as text
      log: ["report", "terminal:types"],
      verdict: ["bench-error", "exit-codes", "measure:types", "report"], // thresholds and baselines
      result: ["bench-error", "measure", "package-root", "report", "verdict"], // what commands write with --json
      presentation: ["package-root", "report", "result:types"], // documents and how they are drawn; knows no command
      profile: ["bench-error", "presentation", "result:types"],
      observe: ["bench-error", "profile", "report", "result:types", "terminal:types"], // what a running measurement says
      leftovers: ["bench-error", "exit-codes", "load", "report", "terminal"],
      // What one command does.
      types: [],
      hints: ["bench-error"],
      offsets: ["bench-error", "load", "report"],
      inspect: ["load:types", "offsets", "registry-fault", "report"],
      doctor: ["bench-error", "driver-exit-codes", "exit-codes", "load", "registry-fault", "report"],
      redrive: ["bench-error", "load", "measure", "report"],
      demo: ["measure", "report", "result:types", "verdict"],
      codec: ["bench-error", "load", "measure", "registry-fault", "result:types", "seeded-random", "types", "verdict:types"],
      // What measures on real components: a folder for each command. What several share is a folder, too: `catch-up`, `tables`.
      scenario: [
        "bench-error",
        "codec",
        "leftovers",
        "load",
        "measure",
        "negative-timeouts",
        "observe:types",
        "package-root",
        "profile",
        "registry-fault",
        "report",
        "result:types",
        "terminal:types",
        "types",
        "verdict",
      ],
      // A command's result as a document.
      presenters: ["bench-error", "codec", "demo:types", "measure:types", "presentation", "report", "result:types", "scenario", "verdict"],
      ui: [
        "bench-error",
        "exit-codes",
        "observe",
        "package-root",
        "presentation",
        "presenters",
        "report",
        "result:types",
        "terminal:types",
        "verdict",
      ],
      // Flags and exit codes: a file for each command.
      cli: [
        "bench-error",
        "codec",
        "demo",
        "doctor",
        "driver-exit-codes",
        "exit-codes",
        "hints",
        "inspect",
        "leftovers",
        "load",
        "log",
        "measure",
        "observe",
        "offsets",
        "presenters",
        "profile",
        "redrive",
        "registry-fault",
        "report",
        "result",
        "scenario",
        "terminal",
        "types",
        "ui",
        "verdict",
      ],
      main: ["bench-error", "cli", "exit-codes", "negative-timeouts", "observe", "terminal"],
      index: ["cli", "codec", "exit-codes", "presentation", "result:types", "terminal:types"],
    },
    layers: ["scenario"],
    siblings: {
      "scenario/compare": ["scenario/produce"], // it may write its own topics
      "scenario/drain": ["scenario/catch-up", "scenario/snapshot", "scenario/tables"], // a backlog may come through a connector
      "scenario/snapshot": ["scenario/tables"], // the table of create-table
      "scenario/soak": ["scenario/catch-up"],
      "scenario/sweep": ["scenario/catch-up"],
    },
  },
};
