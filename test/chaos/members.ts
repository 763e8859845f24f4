/** The services under test: processes that are told what to do by signals, and say in files what they have done. */
import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import process from "node:process";
import { setTimeout as pass } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { AppendedLines } from "./appended-lines.ts";
import { type Assigned, type Handled, parseAudit } from "./audit.ts";

export interface MembersParts {
  /** A folder for their files. */
  readonly dir: string;
  /** What each is started with, beside its files. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly log: (line: string) => void;
  /** One has ended by itself, and was replaced. */
  readonly gaveUp: () => void;
}

/** What a member says of itself. */
export interface Word extends Assigned {
  readonly kind: "assigned" | "revoked" | "lost" | "gave up" | "health" | "held";
  /** Of `health`. */
  readonly live?: boolean;
  readonly reasons?: readonly string[];
  readonly reconnects?: number;
}

const memberScript = fileURLToPath(new URL("./member.mjs", import.meta.url));

export class Members {
  readonly #parts: MembersParts;
  readonly #running: ChildProcess[] = [];
  /** What each has last said on its stderr. */
  readonly #lastWords = new WeakMap<ChildProcess, string>();
  readonly #audit: AppendedLines<Handled>;
  readonly #words: AppendedLines<Word>;
  #isOver = false;

  constructor(parts: MembersParts) {
    this.#parts = parts;
    this.#audit = new AppendedLines(this.#file("audit"), parseAudit);
    this.#words = new AppendedLines(this.#file("words"), parseWords);
    for (const name of ["audit", "words", "held"] as const) {
      writeFileSync(this.#file(name), "");
    }
  }

  get running(): readonly ChildProcess[] {
    return this.#running;
  }

  join(): ChildProcess {
    const files = { audit: this.#file("audit"), words: this.#file("words"), held: this.#file("held") };
    const member = spawn(process.execPath, [memberScript, JSON.stringify({ ...this.#parts.config, ...files })], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    member.stderr?.on("data", (text: Buffer) => {
      this.#lastWords.set(member, String(text).trimEnd());
      this.#parts.log(`member ${member.pid}: ${String(text).trimEnd()}`);
    });
    // One that gave up by itself (a broker that was away too long) is replaced, as an orchestrator would.
    member.once("exit", (code) => {
      if (this.forget(member) && !this.#isOver) {
        this.#parts.log(`a member ended by itself with ${code}`);
        this.#parts.gaveUp();
        this.join();
      }
    });
    this.#running.push(member);
    return member;
  }

  /** Tells it to go. Null where it does within its time; else what it said last: it is killed. */
  async leave(member: ChildProcess, deadlineMs: number): Promise<string | null> {
    if (!this.forget(member)) {
      return null;
    }
    const ended = endOf(member).then(() => true);
    member.kill("SIGTERM");
    if (await Promise.race([ended, pass(deadlineMs, false, { ref: false })])) {
      return null;
    }
    member.kill("SIGKILL");
    await ended;
    return this.#lastWords.get(member) ?? "nothing";
  }

  async kill(member: ChildProcess): Promise<void> {
    this.forget(member);
    const ended = endOf(member);
    member.kill("SIGKILL");
    await ended;
  }

  /** It is not replaced when it ends. False where it was not there. */
  forget(member: ChildProcess): boolean {
    const at = this.#running.indexOf(member);
    if (at !== -1) {
      this.#running.splice(at, 1);
    }
    return at !== -1;
  }

  /** Nobody is replaced any more. */
  close(): void {
    this.#isOver = true;
    for (const member of this.#running) {
      member.kill("SIGKILL");
    }
  }

  /** The events of this key fail at every member, until there is another one, or null. */
  hold(key: number | null): void {
    writeFileSync(this.#file("held"), key === null ? "" : String(key));
  }

  /** In the order in which it was written down. */
  handled(): readonly Handled[] {
    return this.#audit.read();
  }

  words(): readonly Word[] {
    return this.#words.read();
  }

  /** Of those that run, what each has last said of its health. */
  healths(): readonly Word[] {
    const words = this.words();
    return this.#running.flatMap(({ pid }) => words.findLast((word) => word.pid === pid && word.kind === "health") ?? []);
  }

  #file(name: "audit" | "words" | "held"): string {
    return `${this.#parts.dir}/${name}.txt`;
  }
}

function parseWords(text: string): readonly Word[] {
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Word);
}

function endOf(child: ChildProcess): Promise<void> {
  return child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise((resolve) => child.once("exit", () => resolve()));
}
