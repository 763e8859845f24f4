import { closeSync, fsyncSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { identifyProcess } from "./process-identity.ts";
import { isSameThing, type Thing, thingKinds } from "./thing.ts";

/** What a run has written down: who it was, and what it has made and not deleted. */
export interface RunRecord {
  readonly file: string;
  readonly pid: number;
  /** By `identifyProcess`. */
  readonly processIdentity: string;
  readonly host: string;
  readonly command: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly things: readonly Thing[];
}

/**
 * The file of a run: a line of JSON that says who runs, then a line for each thing, before it is made and after it is gone. Lines are only
 * added, and each is on the disk before its call returns: a run that is killed in the middle of a line was not making that thing yet.
 */
export interface RunFile {
  readonly path: string;
  add(change: "making" | "gone", thing: Thing): void;
  close(): void;
}

export function createRunFile(folder: string, command: string): RunFile {
  const startedAt = new Date().toISOString();
  // A process may have several, one after the other or side by side.
  const path = join(folder, `${process.pid}-${startedAt.replaceAll(/[:.]/g, "")}-${Math.random().toString(36).slice(2, 8)}.ndjson`);
  const file = openSync(path, "ax", 0o600);
  const add = (line: object): void => {
    // It starts with a line break of its own: the line before it may have been cut off by a full disk.
    writeSync(file, `\n${JSON.stringify(line)}\n`);
    fsyncSync(file);
  };
  try {
    add({ version: 1, pid: process.pid, processIdentity: identifyProcess(process.pid), host: hostname(), command, startedAt });
  } catch (error) {
    closeSync(file);
    rmSync(path, { force: true });
    throw error;
  }
  return { path, add: (change, { kind, name, at }) => add({ [change]: { kind, name, at } }), close: () => closeSync(file) };
}

/** The runs of a folder. Files that are no records of runs are left alone. */
export function readRunFiles(folder: string): readonly RunRecord[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(".ndjson"));
  return names.flatMap((name) => readRunFile(join(folder, name)) ?? []);
}

/** Whether the run goes on. Null if this machine cannot tell, since it ran on another one. */
export function isStillRunning({ pid, processIdentity, host }: RunRecord): boolean | null {
  if (host !== hostname()) {
    return null;
  }
  const identity = identifyProcess(pid);
  // Without the identity of a process its pid decides: it is better to leave things than to delete them under a run.
  return identity !== null && (identity === processIdentity || identity === "unknown" || processIdentity === "unknown");
}

function readRunFile(file: string): RunRecord | undefined {
  const [head, ...changes] = linesOf(file);
  if (!isObject(head) || head["version"] !== 1) {
    return undefined;
  }
  const { pid, processIdentity, host, command, startedAt } = head;
  if (typeof pid !== "number" || ![processIdentity, host, command, startedAt].every((value) => typeof value === "string")) {
    return undefined;
  }
  const things = changes.reduce<readonly Thing[]>(applied, []);
  return { file, pid, processIdentity, host, command, startedAt, things } as RunRecord;
}

function applied(things: readonly Thing[], change: unknown): readonly Thing[] {
  if (!isObject(change)) {
    return things;
  }
  const { making, gone } = change;
  if (isThing(making)) {
    return [...things, making];
  }
  return isThing(gone) ? things.filter((thing) => !isSameThing(thing, gone)) : things;
}

/** A line that was cut off in the middle is not there. */
function linesOf(file: string): readonly unknown[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return []; // its run has just ended and removed it
  }
  return text.split("\n").flatMap((line) => {
    try {
      return [JSON.parse(line) as unknown];
    } catch {
      return [];
    }
  });
}

function isThing(value: unknown): value is Thing {
  return (
    isObject(value) &&
    thingKinds.some((kind) => kind === value["kind"]) &&
    typeof value["name"] === "string" &&
    typeof value["at"] === "string"
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
