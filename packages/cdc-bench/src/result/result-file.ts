import { createReadStream } from "node:fs";
import { BenchError } from "../bench-error.ts";
import { benchVersion } from "../report/environment.ts";
import type { BenchResult } from "./bench-result.ts";
import { schemaComplaint } from "./result-schema.ts";

/** The largest result that anybody would open in a browser. A file that is longer is something else. */
const maxResultBytes = 64 * 1024 * 1024;

const howToMakeOne = 'make one with "cdc-bench COMMAND --json -o FILE"';

/** A result as it stands in its file, and as it was read from there. */
export interface ResultFile {
  readonly file: string;
  readonly result: BenchResult;
  readonly json: string;
}

/** Reads a file that `--json -o FILE` wrote. What is none is an error that says what it is, with exit code 2. */
export async function readResultFile(file: string): Promise<ResultFile> {
  const json = await readText(file);
  const value = parse(json, file);
  const { schemaVersion, command } = Object(value) as { readonly schemaVersion?: unknown; readonly command?: unknown };
  if (Array.isArray(value) || typeof schemaVersion !== "number" || typeof command !== "string") {
    throw wrong(file, `it is JSON, but no result of cdc-bench, which has "schemaVersion" and "command": ${howToMakeOne}`);
  }
  if (schemaVersion > 1) {
    throw wrong(
      file,
      `it has schemaVersion ${schemaVersion}, and this cdc-bench (${benchVersion()}) knows 1: use the version that wrote it`,
    );
  }
  const complaint = schemaComplaint(value);
  if (complaint !== null) {
    throw wrong(file, `it is no whole result of a command of cdc-bench ${benchVersion()} (${complaint}): ${howToMakeOne}`);
  }
  return { file, result: value as BenchResult, json };
}

/** By pieces, so that a file without an end (a pipe, a device) ends here, too. */
async function readText(file: string): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
      bytes += chunk.byteLength;
      if (bytes > maxResultBytes) {
        break;
      }
      chunks.push(chunk);
    }
  } catch (error) {
    throw wrong(file, reasonOf(error), error);
  }
  if (bytes > maxResultBytes) {
    throw wrong(file, `it is longer than ${maxResultBytes / 1024 / 1024} MiB, and no result is: ${howToMakeOne}`);
  }
  return Buffer.concat(chunks).toString();
}

function reasonOf(error: unknown): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case "ENOENT":
      return "there is no such file";
    case "EISDIR":
      return "it is a folder";
    case "EACCES":
      return "it may not be read";
    default:
      return (error as NodeJS.ErrnoException).code ?? "it cannot be read";
  }
}

function parse(json: string, file: string): unknown {
  if (json.trim() === "") {
    throw wrong(file, `it is empty: ${howToMakeOne}`);
  }
  try {
    return JSON.parse(json);
  } catch (error) {
    const isCutOff = /unexpected end|unterminated|end of data/i.test((error as Error).message);
    throw wrong(
      file,
      isCutOff ? `its JSON is cut off after ${json.length} characters: measure again` : `it is not JSON: ${howToMakeOne}`,
      error,
    );
  }
}

function wrong(file: string, why: string, cause?: unknown): BenchError {
  return new BenchError("usage", `cannot report ${file}: ${why}.`, { cause });
}
