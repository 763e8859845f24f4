import { rmSync } from "node:fs";
import { BenchError, sentenceOf } from "../bench-error.ts";
import { exitCodes, type ExitCode } from "../exit-codes.ts";
import { printable } from "../report/text-width.ts";
import { type Terminal, write } from "../terminal.ts";
import { createRunFile, isStillRunning, readRunFiles, type RunFile, type RunRecord } from "./run-file.ts";
import { openStateFolder } from "./state-folder.ts";
import { inRemovalOrder, isSameThing, type Thing, thingText } from "./thing.ts";

/** Deletes a thing where it is. Resolves, too, if it is not there. Rejects with a reason that a user understands. */
export type RemoveThing = (thing: Thing) => Promise<void>;

export interface LeftoversOptions {
  /** The command that makes things, such as `snapshot`. */
  readonly command: string;
  readonly terminal: Pick<Terminal, "env" | "stdout" | "stderr">;
  /** By `createRemover`, with the addresses and logins that this command was given. */
  readonly remove: RemoveThing;
}

/**
 * What a command makes outside of its process (topics, groups, connectors, tables), written down so that none of it stays behind:
 *
 * ```ts
 * const remover = createRemover({ connection });
 * const leftovers = await openLeftovers({ command: "drain", terminal, remove: remover.remove });
 * try {
 *   const topic = { kind: "topic", name: `cdc-bench-${suffix}`, at: brokersText(connection) } as const;
 *   await leftovers.making(topic); // on the disk when this resolves
 *   await admin.createTopics(...);
 *   ...
 *   await leftovers.remove(topic); // now, or leave it to close()
 * } finally {
 *   await leftovers.close(); // removes what is still there, also after an error and after Ctrl-C
 *   await remover.close();
 * }
 * ```
 *
 * A run that is killed leaves its file. The next `openLeftovers` of any command says what it names, and `--clean` removes it
 * (`addCleanFlag`, {@link cleanLeftovers}).
 */
export interface Leftovers {
  /** Writes down a thing that is about to be made. Await it first. */
  making(thing: Thing): Promise<void>;
  /** The thing has been deleted, or is to stay (`--keep`). */
  gone(thing: Thing): Promise<void>;
  /** Deletes the thing where it is, and takes it from the list. */
  remove(thing: Thing): Promise<void>;
  /** Deletes everything that is still listed. Says on stderr what could not be deleted; never rejects. */
  close(): Promise<void>;
}

/** Says on stderr what earlier runs left, and starts to write down what this one makes. */
export async function openLeftovers(options: LeftoversOptions): Promise<Leftovers> {
  const folder = openStateFolder(options.terminal);
  for (const run of readRunFiles(folder)) {
    tellOf(run, options.terminal);
    if (run.things.length === 0 && isStillRunning(run) === false) {
      rmSync(run.file, { force: true });
    }
  }
  return new Journal(folder, options);
}

/** What `--clean` does in place of the command: removes what runs left whose process is gone. What is left is said on stderr. */
export async function cleanLeftovers({ terminal, remove }: Omit<LeftoversOptions, "command">): Promise<ExitCode> {
  const folder = openStateFolder(terminal);
  let removed = 0;
  let failed = 0;
  for (const run of readRunFiles(folder)) {
    const isRunning = isStillRunning(run);
    if (isRunning !== false) {
      tellOf(run, terminal, isRunning === true);
      continue;
    }
    const refused = await removeAll(run.things, remove, terminal, (thing) => write(terminal.stdout, `removed ${thingText(thing)}\n`));
    removed += run.things.length - refused.length;
    failed += refused.length;
    if (refused.length === 0) {
      rmSync(run.file, { force: true });
    } else {
      terminal.stderr.write(`If their server is gone for good: delete ${run.file}.\n`);
    }
  }
  if (removed + failed === 0) {
    await write(terminal.stdout, "nothing to clean: no earlier run left anything.\n");
  }
  return failed === 0 ? exitCodes.ok : exitCodes.connection;
}

class Journal implements Leftovers {
  readonly #folder: string;
  readonly #options: LeftoversOptions;
  #file: RunFile | undefined;
  #things: readonly Thing[] = [];

  constructor(folder: string, options: LeftoversOptions) {
    this.#folder = folder;
    this.#options = options;
  }

  async making(thing: Thing): Promise<void> {
    try {
      this.#file ??= createRunFile(this.#folder, this.#options.command);
      this.#file.add("making", thing);
    } catch (cause) {
      const code = (cause as NodeJS.ErrnoException).code ?? "unknown reason";
      const detail = `cannot write down in ${this.#folder} what this run makes (${code}): nothing is made without it. Make room, or set XDG_STATE_HOME.`;
      throw new BenchError("usage", detail, { cause });
    }
    this.#things = [...this.#things, thing];
  }

  async gone(thing: Thing): Promise<void> {
    this.#things = this.#things.filter((other) => !isSameThing(other, thing));
    try {
      this.#file?.add("gone", thing);
    } catch {
      // The disk is full. The thing stays listed, and removing what is not there is no error.
    }
  }

  async remove(thing: Thing): Promise<void> {
    await this.#options.remove(thing);
    await this.gone(thing);
  }

  async close(): Promise<void> {
    const { terminal, remove } = this.#options;
    const refused = await removeAll(this.#things, remove, terminal, (thing) => this.gone(thing));
    this.#file?.close();
    if (this.#file !== undefined && refused.length === 0) {
      rmSync(this.#file.path, { force: true });
    }
    this.#file = undefined;
  }
}

/** Gives those that could not be removed. Their reasons are said on stderr: a sweep makes dozens of groups, which all stay for the same one. */
async function removeAll(
  things: readonly Thing[],
  remove: RemoveThing,
  { stderr }: Pick<Terminal, "stderr">,
  onRemoved: (thing: Thing) => Promise<void>,
): Promise<readonly Thing[]> {
  const refused: Refused[] = [];
  for (const thing of inRemovalOrder(things)) {
    try {
      await remove(thing);
      await onRemoved(thing);
    } catch (error) {
      refused.push({ thing, reason: reasonOf(error) });
    }
  }
  for (const reason of new Set(refused.map((each) => each.reason))) {
    const things = refused.filter((each) => each.reason === reason).map(({ thing }) => thing);
    stderr.write(`could not remove ${listOf(things)}: ${reason} Try again with --clean.\n`);
  }
  return refused.map(({ thing }) => thing);
}

/** What could not be removed, and why. */
interface Refused {
  readonly thing: Thing;
  readonly reason: string;
}

function reasonOf(error: unknown): string {
  return sentenceOf(printable(error instanceof Error ? error.message : String(error)));
}

const maxNamed = 5;

function listOf(things: readonly Thing[]): string {
  const named = things.slice(0, maxNamed).map(thingText).join(", ");
  return things.length > maxNamed ? `${named} and ${things.length - maxNamed} more` : named;
}

function tellOf(run: RunRecord, { stderr }: Pick<Terminal, "stderr">, isCertainlyRunning = false): void {
  const { things, command, startedAt, host, pid, file } = run;
  if (things.length === 0) {
    return;
  }
  const isRunning = isCertainlyRunning || isStillRunning(run);
  const all = listOf(things);
  if (isRunning === null) {
    stderr.write(`a run of ${command} on ${host} has ${all}. If it has ended: --clean there removes it, or delete ${file}.\n`);
  } else if (isCertainlyRunning) {
    stderr.write(`${command} is still running (process ${pid}) and has ${all}: that stays.\n`);
  } else if (!isRunning) {
    stderr.write(`an earlier run (${command}, ${startedAt}) left ${all}; --clean removes it.\n`);
  }
}
