import { BenchError } from "../bench-error.ts";
import { exitCodes } from "../exit-codes.ts";
import type { PacedObservation, PipeMessage } from "../observe/observation-pipe.ts";
import type { FlameGraph } from "../presentation/document.ts";
import { describeEnvironment, environmentLine } from "../report/environment.ts";
import { wordWithoutLogin } from "../report/without-logins.ts";
import type { Terminal } from "../terminal.ts";
import { type BenchChild, messageIn, startBenchChild } from "./bench-child.ts";
import type { EventStream } from "./event-stream.ts";
import type { KeptRun, KeptRuns } from "./kept-runs.ts";
import { createRunSeries, type RunPoint, type RunSeries } from "./run-series.ts";

const maxNotes = 100;

/** What a page shows of the run that is measured now, or of the last one. */
export interface RunState {
  readonly id: string;
  readonly command: string;
  readonly title: string;
  readonly startedAt: string;
  readonly status: "running" | "stopping" | "ended";
  readonly exitCode: number | null;
  /** Why there is no result, or what was found wrong: the last of stderr. */
  readonly problem: string;
  readonly hasResult: boolean;
  readonly observation: PacedObservation | null;
  readonly notes: readonly string[];
  /** Whether a profile is being recorded, or was. */
  readonly recording: "off" | "on" | "done";
}

export interface RunSession {
  readonly state: RunState | null;
  readonly points: readonly RunPoint[];
  readonly isRunning: boolean;
  /**
   * `before`: what is awaited before the command begins. From the call on, a run is measured for everybody who asks.
   * @throws BenchError if a run is measured already
   */
  start(command: string, args: readonly string[], isRecorded: boolean, before: () => Promise<void>): Promise<RunState>;
  stop(): void;
  record(isOn: boolean): void;
  /** Stops, and waits until the command has written what it has. */
  close(): Promise<void>;
}

export function createRunSession(kept: KeptRuns, events: EventStream, env: Terminal["env"]): RunSession {
  return new OneRunAtATime(kept, events, env);
}

class OneRunAtATime implements RunSession {
  readonly #kept: KeptRuns;
  readonly #events: EventStream;
  readonly #env: Terminal["env"];
  #state: RunState | null = null;
  #series: RunSeries = createRunSeries();
  #child: BenchChild | null = null;
  #isStarting = false;
  #ending: Promise<void> = Promise.resolve();
  /** Flame graphs that are being written: the run is over when they are. */
  #keepingFlame: Promise<void> = Promise.resolve();

  constructor(kept: KeptRuns, events: EventStream, env: Terminal["env"]) {
    this.#kept = kept;
    this.#events = events;
    this.#env = env;
  }

  get state(): RunState | null {
    return this.#state;
  }

  get points(): readonly RunPoint[] {
    return this.#series.points;
  }

  get isRunning(): boolean {
    return this.#isStarting || (this.#state !== null && this.#state.status !== "ended");
  }

  async start(command: string, args: readonly string[], isRecorded: boolean, before: () => Promise<void>): Promise<RunState> {
    if (this.isRunning) {
      throw new BenchError("usage", "a run is being measured: stop it, or wait for its end.");
    }
    this.#isStarting = true;
    try {
      await before();
      const startedAt = new Date().toISOString();
      const title = titleOf(command, args);
      return this.#begin(await this.#kept.begin({ command, title, startedAt }), args, isRecorded);
    } finally {
      this.#isStarting = false;
    }
  }

  stop(): void {
    if (this.#child !== null && this.#state?.status === "running") {
      this.#change({ status: "stopping" });
      this.#child.interrupt();
    }
  }

  record(isOn: boolean): void {
    if (this.#child !== null && this.#state?.status === "running") {
      this.#child.control({ kind: "record", isOn });
      this.#change({ recording: isOn ? "on" : "done" });
    }
  }

  async close(): Promise<void> {
    this.stop();
    await this.#ending;
  }

  #begin(run: KeptRun, args: readonly string[], isRecorded: boolean): RunState {
    this.#series = createRunSeries();
    const child = startBenchChild({
      args: [run.command, "--json", `--output=${this.#kept.resultFile(run.id)}`, ...args],
      env: this.#env,
      onMessage: (line) => this.#take(run.id, line),
    });
    this.#child = child;
    const { id, command, title, startedAt } = run;
    const state: RunState = {
      ...{ id, command, title, startedAt, status: "running", exitCode: null, problem: "", hasResult: false },
      ...{ observation: null, notes: [], recording: isRecorded ? "on" : "off" },
    };
    this.#state = state;
    if (isRecorded) {
      child.control({ kind: "record", isOn: true });
    }
    this.#ending = this.#end(run, child).catch((error: unknown) => {
      const reason = (error as NodeJS.ErrnoException).code ?? String(error);
      this.#change({
        status: "ended",
        exitCode: exitCodes.unexpected,
        problem: `The result cannot be kept (${reason}).`,
        recording: "off",
      });
    });
    this.#events.send({ name: "run", data: state });
    return state;
  }

  #change(changed: Partial<RunState>): void {
    if (this.#state !== null) {
      this.#state = { ...this.#state, ...changed };
      this.#events.send({ name: "run", data: this.#state });
    }
  }

  #take(id: string, line: string): void {
    const message = messageIn(line);
    switch (message?.kind) {
      case undefined:
        return;
      case "observation": {
        const { kind: _kind, atMs, ...observation } = message;
        const point = this.#series.add(atMs, observation);
        if (this.#state !== null) {
          this.#state = { ...this.#state, observation };
          this.#events.send({ name: "observation", data: { observation, point }, isReplaceable: point === null });
        }
        return;
      }
      case "note":
        this.#change({ notes: [...(this.#state?.notes ?? []), message.text].slice(-maxNotes) });
        return;
      case "profile":
        this.#keepingFlame = this.#kept.keepFlame(id, this.#flameOf(message));
        return;
    }
  }

  #flameOf({ root, recordedMs }: Extract<PipeMessage, { kind: "profile" }>): FlameGraph {
    const { command = "", title = "" } = this.#state ?? {};
    const recorded = `${(recordedMs / 1e3).toFixed(1)} s of the run were recorded`;
    const subtitle = `cdc-bench ${title}, ${recorded}, ${environmentLine(describeEnvironment())}`;
    return { kind: "flame", title: `cdc-bench ${command}`, subtitle, root };
  }

  async #end(run: KeptRun, child: BenchChild): Promise<void> {
    const { code, stderr } = await child.ended;
    this.#child = null;
    await this.#keepingFlame.catch(() => {}); // a full disk: the result says enough
    const hasResult = (await this.#kept.resultText(run.id)) !== null;
    if (hasResult) {
      const hasFlame = await this.#kept.flame(run.id).then(
        () => true,
        () => false,
      );
      await this.#kept.finish({ ...run, endedAt: new Date().toISOString(), exitCode: code, hasFlame });
    } else {
      await this.#kept.remove(run.id);
    }
    this.#change({ status: "ended", exitCode: code, hasResult, problem: code === exitCodes.ok ? "" : problemOf(stderr), recording: "off" });
    this.#events.send({ name: "kept", data: await this.#kept.list() });
  }
}

/** The command line as a person would type it, without logins in addresses: it is shown, and kept with the result. */
export function titleOf(command: string, args: readonly string[]): string {
  const shown = [command, ...args].map(wordWithoutLogin);
  return shown.map((word) => (/^[\w./:=,@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
}

/**
 * Commander puts a hint after its sentence, progress lines come before it, and lines of the log (JSON) anywhere: the sentences of the program
 * are what a person needs.
 */
export function problemOf(stderr: string): string {
  const lines = stderr
    .trim()
    .split("\n")
    .filter((line) => !line.startsWith('{"level":'));
  const first = lines.findIndex((line) => /^(cdc-bench|error): /.test(line));
  return (first === -1 ? lines.slice(-5) : lines.slice(first, first + 8)).join("\n");
}

/** Null for what is none: a process that dies may leave anything on its pipe. */
