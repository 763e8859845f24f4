import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { BenchError } from "../bench-error.ts";

const idText = /^\d{8}T\d{9}-[0-9a-f]{8}$/;
/** A result that does not fit in memory beside a run is not shown. */
const maxResultBytes = 256 * 1024 * 1024;

/** What is known of a run without reading its result. */
export interface KeptRun {
  readonly id: string;
  readonly command: string;
  /** The command line, without credentials. */
  readonly title: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly exitCode: number | null;
  readonly hasFlame: boolean;
}

/** A folder of results. */
export interface KeptRuns {
  /** The latest first. */
  list(): Promise<readonly KeptRun[]>;
  /** Makes room for a run, and removes the oldest runs if there are too many. */
  begin(run: Pick<KeptRun, "command" | "title" | "startedAt">): Promise<KeptRun>;
  finish(run: KeptRun): Promise<void>;
  /** The path that the command writes to. */
  resultFile(id: string): string;
  /** The result as text, or null if there is none. */
  resultText(id: string): Promise<string | null>;
  keepFlame(id: string, flame: unknown): Promise<void>;
  flame(id: string): Promise<unknown>;
  remove(id: string): Promise<void>;
}

/** @throws BenchError if the folder cannot be made or written */
export async function openKeptRuns(dir: string, maxRuns: number): Promise<KeptRuns> {
  try {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const probe = join(dir, `.probe-${process.pid}`);
    await writeFile(probe, "");
    await rm(probe);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? "unknown reason";
    throw new BenchError("usage", `cannot keep results in ${dir} (${reason}): name a folder that can be written with --dir.`, {
      cause: error,
    });
  }
  const at = (id: string, file = ""): string => {
    if (!idText.test(id)) {
      throw new RangeError("no such run");
    }
    return join(dir, id, file);
  };
  const list = async (): Promise<readonly KeptRun[]> => {
    const names = (await readdir(dir)).filter((name) => idText.test(name)).toSorted((a, b) => (a < b ? 1 : -1));
    return (await Promise.all(names.map((id) => readKept(at(id, "run.json"), id)))).filter((run) => run !== null);
  };
  const write = (run: KeptRun): Promise<void> => writeWhole(at(run.id, "run.json"), `${JSON.stringify(run, null, 2)}\n`);
  return {
    list,
    async begin(run) {
      const kept = { ...run, id: newId(run.startedAt), endedAt: null, exitCode: null, hasFlame: false };
      await mkdir(at(kept.id), { mode: 0o700 });
      await write(kept);
      // Not this one, also if the clock was set back.
      const old = (await list()).filter(({ id }) => id !== kept.id).slice(maxRuns - 1);
      await Promise.all(old.map(({ id }) => rm(at(id), { recursive: true, force: true })));
      return kept;
    },
    finish: write,
    resultFile: (id) => at(id, "result.json"),
    async resultText(id) {
      const file = at(id, "result.json");
      const size = await stat(file).then(
        (found) => found.size,
        () => 0,
      );
      return size === 0 || size > maxResultBytes ? null : readFile(file, "utf8");
    },
    keepFlame: (id, flame) => writeWhole(at(id, "flame.json"), JSON.stringify(flame)),
    flame: async (id) => JSON.parse(await readFile(at(id, "flame.json"), "utf8")) as unknown,
    remove: (id) => rm(at(id), { recursive: true, force: true }),
  };
}

/** The time first, so that names sort as runs do. */
function newId(startedAt: string): string {
  return `${startedAt.replaceAll(/[^\dT]/g, "")}-${randomBytes(4).toString("hex")}`;
}

/** Never half a file: who reads while we write finds the old one. */
async function writeWhole(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text, { mode: 0o600 });
  await rename(`${file}.new`, file);
}

async function readKept(file: string, id: string): Promise<KeptRun | null> {
  try {
    const { command, title, startedAt, endedAt, exitCode, hasFlame } = JSON.parse(await readFile(file, "utf8")) as KeptRun;
    return { id, command, title, startedAt, endedAt, exitCode, hasFlame };
  } catch {
    return null; // a folder that is not ours, or that another process removes now
  }
}
