import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { WorkersHealth } from "@cdckit/consumer";

const script = fileURLToPath(new URL("./workers-service.mjs", import.meta.url));

/** What a consumer with workers does, with its options. */
export interface Scenario {
  readonly does: string;
  readonly stopsWhen?: "idle" | "connecting";
  readonly workers?: number;
  readonly [option: string]: unknown;
}

/** A line that the service or one of its threads has said. */
export interface Said {
  readonly does: string;
  /** Of `settled`: every reason that health() has given since all threads had partitions. */
  readonly reasons?: readonly string[];
  readonly what: "started" | "ready" | "loading" | "handling" | "closed" | "settled" | "ended";
  readonly worker?: number;
  readonly partition?: number;
  readonly offset?: number;
  readonly error?: { readonly code: string; readonly message: string; readonly at?: { readonly offset: string } } | null;
  readonly cause?: string | null;
  readonly health?: WorkersHealth;
  readonly livedOnMs?: number;
}

/** A process with consumers, of the packages as they are built. */
export class Service {
  readonly said: Said[] = [];
  stderr = "";
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;
  #heard: () => void = () => {};

  constructor(scenarios: readonly Scenario[]) {
    const given = JSON.stringify(scenarios.map((scenario) => ({ workers: 2, ...scenario })));
    const child = spawn(process.execPath, [script, given], { stdio: ["ignore", "pipe", "pipe"] });
    this.#child = child;
    this.#closed = once(child, "close").then(() => this.#heard());
    createInterface({ input: child.stdout }).on("line", (line) => {
      this.said.push(JSON.parse(line) as Said);
      this.#heard();
    });
    child.stderr.on("data", (chunk: Buffer) => {
      this.stderr += chunk.toString();
    });
  }

  /** Resolves with what was said as soon as so much of it fits. Rejects if the process ends before that. */
  async until(fits: (said: Said) => boolean, count = 1): Promise<readonly Said[]> {
    for (;;) {
      const found = this.said.filter(fits);
      if (found.length >= count) {
        return found;
      }
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) {
        throw new Error(`the service ended after ${found.length} of ${count}: ${JSON.stringify(this.said.slice(-3))} ${this.stderr}`);
      }
      await new Promise<void>((resolve) => {
        this.#heard = resolve;
      });
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Resolves with what `run()` of each consumer has settled with, and how long the process has lived on after the last of them. */
  async end(): Promise<{ readonly settled: ReadonlyMap<string, Said>; readonly livedOnMs: number }> {
    await this.#closed;
    const settled = new Map(this.said.filter(({ what }) => what === "settled").map((line) => [line.does, line]));
    return { settled, livedOnMs: this.said.find(({ what }) => what === "ended")?.livedOnMs ?? Number.POSITIVE_INFINITY };
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }
}
