import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { BenchError } from "../../bench-error.ts";
import type { Codec } from "../../codec/codec.ts";
import type { Row } from "../../codec/data-sets.ts";
import { avroSchemaOf, jsonSchemaOf, protoFileOf, type RecordShape } from "../../codec/shape.ts";

/** What a plug-in that is a function is given: the rows' schema in the languages that codecs know. */
export interface PlugInSchemas {
  readonly avro: unknown;
  readonly jsonSchema: unknown;
  /** The text of a `.proto` file with the message {@link PlugInSchemas.name}; null if the rows have no Protobuf form. */
  readonly proto: string | null;
  /** The record's or message's name. */
  readonly name: string;
}

const expected = "it must export a Codec ({ name, serialize, deserialize }), several of them, or a function of the schemas that gives them";

/** The codecs of a module of the user: its default export, or its export `codec` or `codecs`. */
export async function loadPlugIn(file: string, shape: RecordShape): Promise<readonly Codec<Row>[]> {
  const module = await importFile(file);
  const exported = module["default"] ?? module["codec"] ?? module["codecs"];
  const made: unknown =
    typeof exported === "function" ? await callFactory(file, exported as (schemas: PlugInSchemas) => unknown, shape) : exported;
  const codecs = Array.isArray(made) ? (made as readonly unknown[]) : [made];
  if (codecs.length === 0 || !codecs.every(isCodec)) {
    throw new BenchError("usage", `${file} is no plug-in: ${expected}.`);
  }
  return codecs;
}

async function importFile(file: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await import(pathToFileURL(resolve(file)).href)) as Readonly<Record<string, unknown>>;
  } catch (cause) {
    const { code } = Object(cause) as { readonly code?: unknown };
    const why = code === "ERR_MODULE_NOT_FOUND" ? "there is no such module, or it imports one that is not there" : firstLine(cause);
    throw new BenchError("usage", `cannot load the codec ${file}: ${why}.`, { cause });
  }
}

async function callFactory(file: string, create: (schemas: PlugInSchemas) => unknown, shape: RecordShape): Promise<unknown> {
  try {
    return await create({ avro: avroSchemaOf(shape), jsonSchema: jsonSchemaOf(shape), proto: protoFileOf(shape), name: shape.name });
  } catch (cause) {
    throw new BenchError("usage", `the function that ${file} exports failed: ${firstLine(cause)}.`, { cause });
  }
}

function isCodec(value: unknown): value is Codec<Row> {
  const { name, serialize, deserialize } = Object(value) as Partial<Codec<Row>>;
  return typeof name === "string" && name.trim() !== "" && typeof serialize === "function" && typeof deserialize === "function";
}

const maxSaid = 120;

/** The start of what an exception says, on one line. */
export function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const line = (text.split("\n")[0] ?? "").replaceAll(/\p{Cc}/gu, "?").replace(/\.$/, "");
  return line.length > maxSaid ? `${line.slice(0, maxSaid)}...` : line;
}
