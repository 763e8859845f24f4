import { BenchError } from "../bench-error.ts";
import { exitCodes } from "../exit-codes.ts";
import type { Terminal } from "../terminal.ts";
import { type BenchChild, messageIn, startBenchChild } from "./bench-child.ts";
import type { EventStream } from "./event-stream.ts";
import type { ReadLine } from "./line-reader.ts";
import { problemOf, titleOf } from "./run-session.ts";

/** One row may be megabytes; nobody reads them in a page. */
const maxLineLength = 256 * 1024;
/** What a page that is opened late gets to see: the last records, and no more text than this. */
const maxLines = 500;
const maxTextLength = 4 * 1024 * 1024;
const flushEveryMs = 100;

/** A line of `inspect --json`. */
export interface SeenLine {
  /** Counts from 1. */
  readonly number: number;
  /** The line as it is: the page reads numbers that a double does not hold. Null if it is too long. */
  readonly json: string | null;
  /** Where the record lies, if the line is too long. */
  readonly place: string;
}

/** The look into topics that goes on now, or the last one. */
export interface LookState {
  readonly title: string;
  readonly status: "reading" | "stopping" | "ended";
  readonly exitCode: number | null;
  readonly problem: string;
  /** What `inspect` says at its end: records, formats, errors. */
  readonly summary: string;
  readonly isMasked: boolean;
  readonly lines: readonly SeenLine[];
}

export interface LookSession {
  readonly state: LookState | null;
  /** Ends the look that goes on, if there is one, and begins this one. */
  start(args: readonly string[], isMasked: boolean): Promise<void>;
  stop(): void;
  close(): Promise<void>;
}

export function createLookSession(events: EventStream, env: Terminal["env"]): LookSession {
  return new OneLookAtATime(events, env);
}

class OneLookAtATime implements LookSession {
  readonly #events: EventStream;
  readonly #env: Terminal["env"];
  #state: LookState | null = null;
  #child: BenchChild | null = null;
  #ending: Promise<void> = Promise.resolve();
  /** What pages have not been sent yet. */
  #fresh: SeenLine[] = [];
  #count = 0;
  /** What it says besides, such as that an open transaction holds back the rest: nothing of it is on stderr. */
  #notes: string[] = [];

  constructor(events: EventStream, env: Terminal["env"]) {
    this.#events = events;
    this.#env = env;
  }

  get state(): LookState | null {
    return this.#state;
  }

  async start(args: readonly string[], isMasked: boolean): Promise<void> {
    await this.close();
    if (this.#child !== null) {
      throw new BenchError("usage", "another page has just begun to look: try again.");
    }
    this.#fresh = [];
    this.#count = 0;
    this.#notes = [];
    const title = titleOf("inspect", args);
    this.#state = { title, status: "reading", exitCode: null, problem: "", summary: "", isMasked, lines: [] };
    const child = startBenchChild({
      args: ["inspect", "--json", "--explain", "--headers", ...args],
      env: this.#env,
      onMessage: (line) => this.#takeNote(line),
      stdout: { maxLineLength, onLine: (line) => this.#take(line) },
    });
    this.#child = child;
    this.#ending = this.#end(child);
    this.#events.send({ name: "look", data: this.#state });
  }

  stop(): void {
    if (this.#child !== null && this.#state?.status === "reading") {
      this.#state = { ...this.#state, status: "stopping" };
      this.#child.interrupt();
      this.#sayState();
    }
  }

  async close(): Promise<void> {
    this.stop();
    await this.#ending;
  }

  #take({ text, isCut }: ReadLine): void {
    this.#count++;
    this.#fresh.push({ number: this.#count, json: isCut ? null : text, place: isCut ? placeOf(text) : "" });
    if (this.#fresh.length > 2 * maxLines) {
      this.#fresh = newest(this.#fresh);
    }
  }

  #takeNote(line: string): void {
    const message = messageIn(line);
    if (message?.kind === "note") {
      this.#notes.push(message.text);
    }
  }

  async #end(child: BenchChild): Promise<void> {
    // Records come faster than a page can show them: it gets the last of them as soon as it has read those before.
    const flushing = setInterval(() => this.#events.areBehind || this.#flush(), flushEveryMs);
    const { code, stderr } = await child.ended;
    clearInterval(flushing);
    this.#flush();
    this.#child = null;
    if (this.#state !== null) {
      const isProblem = code !== exitCodes.ok && code !== exitCodes.interrupted && code !== exitCodes.decodeErrors;
      const [problem, said] = isProblem ? [problemOf(stderr), ""] : ["", stderr.trim()];
      const summary = [...this.#notes, said].join("\n").trim();
      this.#state = { ...this.#state, status: "ended", exitCode: code, problem, summary };
      this.#sayState();
    }
  }

  #flush(): void {
    if (this.#state !== null && this.#fresh.length > 0) {
      const added = newest(this.#fresh);
      this.#fresh = [];
      this.#state = { ...this.#state, lines: newest([...this.#state.lines, ...added]) };
      this.#events.send({ name: "records", data: added });
    }
  }

  #sayState(): void {
    if (this.#state !== null) {
      const { lines: _lines, ...head } = this.#state;
      this.#events.send({ name: "look", data: head });
    }
  }
}

/** The last lines, as many as a page and our memory take. */
function newest(lines: readonly SeenLine[]): SeenLine[] {
  let length = 0;
  const from = lines.findLastIndex(({ json }, index) => {
    length += json?.length ?? 0;
    return index < lines.length - maxLines || length > maxTextLength;
  });
  return lines.slice(from + 1);
}

function placeOf(text: string): string {
  const [, topic = '"?"', partition = "?", offset = "?"] =
    /^\{"topic":("(?:[^"\\]|\\.)*"),"partition":(\d+),"offset":(\d+)/.exec(text) ?? [];
  return `${JSON.parse(topic) as string}[${partition}]@${offset}`;
}
