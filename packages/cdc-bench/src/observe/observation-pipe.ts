import { Socket } from "node:net";
import { BenchError } from "../bench-error.ts";
import type { Frame } from "../result/profile-frame.ts";
import type { Terminal } from "../terminal.ts";
import type { Observation, Observer } from "./observer.ts";
import { createPaceMeter } from "./pace.ts";

/** Names the file descriptor on which another program, such as the page of `ui`, follows a command. */
export const observeFdVariable = "CDC_BENCH_OBSERVE_FD";

const intervalMs = 200;
const flushDeadlineMs = 2_000;

/** What was observed, with what follows from what was observed before: the rate, and the time until `done` is `total`. */
export interface PacedObservation extends Observation {
  readonly leftMs?: number;
}

/** One line on the pipe: JSON. `atMs` is what `performance.now()` of the command said. */
export type PipeMessage =
  | ({ readonly kind: "observation"; readonly atMs: number } & PacedObservation)
  | { readonly kind: "note"; readonly atMs: number; readonly text: string }
  /** A CPU profile that was asked for on the control pipe, of all that was recorded so far. */
  | { readonly kind: "profile"; readonly atMs: number; readonly recordedMs: number; readonly root: Frame };

/** Where lines go. */
export interface LinePipe {
  write(line: string): void;
  /** Whether the reader is behind: what is not needed is left out then. */
  readonly isBehind: boolean;
  /** Waits until what was written is with the reader; not long for a reader that does not read. */
  flush(): Promise<void>;
}

/** The observer that the environment asks for, or undefined if it asks for none. */
export function openPipeObserver(env: Terminal["env"]): Observer | undefined {
  const fd = env[observeFdVariable];
  return fd === undefined || fd === "" ? undefined : createPipeObserver(openFd(fd));
}

/** The pipe itself, for what is no observation; undefined if nobody follows. */
export function openObservationPipe(env: Terminal["env"]): LinePipe | undefined {
  const fd = env[observeFdVariable];
  return fd === undefined || fd === "" ? undefined : openFd(fd);
}

/**
 * Writes what a command says of itself as NDJSON: every note, and an observation five times a second, fewer if the reader is slow. A reader
 * that goes away does not end the measurement.
 */
export function createPipeObserver(pipe: LinePipe, now: () => number = performance.now.bind(performance)): Observer {
  let saidAtMs = Number.NEGATIVE_INFINITY;
  /** The latest one that was not written: without it, the end of a run would be lost. */
  let pending: (() => Observation) | undefined;
  const paceOf = createPaceMeter(now());
  const say = (observation: Observation): void => {
    saidAtMs = now();
    pending = undefined;
    const { perSecond, leftMs } = paceOf(observation, saidAtMs);
    const paced = { ...observation, ...(perSecond !== undefined && { perSecond }), ...(leftMs !== undefined && { leftMs }) };
    sendMessage(pipe, { kind: "observation", atMs: saidAtMs, ...paced });
  };
  return {
    observe(observation) {
      if (now() - saidAtMs < intervalMs || pipe.isBehind) {
        pending = observation;
        return;
      }
      say(observation());
    },
    note: (text) => sendMessage(pipe, { kind: "note", atMs: now(), text }),
    end() {
      if (pending !== undefined) {
        say(pending());
      }
    },
  };
}

export function sendMessage(pipe: LinePipe, message: PipeMessage): void {
  pipe.write(`${JSON.stringify(message)}\n`);
}

/** One for the process: commands that make several observers write to the same pipe. */
let opened: { readonly fd: string; readonly pipe: LinePipe } | undefined;

function openFd(text: string): LinePipe {
  if (opened?.fd === text) {
    return opened.pipe;
  }
  if (!/^\d{1,3}$/.test(text) || Number(text) < 3) {
    throw new BenchError("usage", `the environment variable ${observeFdVariable} must be a file descriptor from 3 on, that is a pipe.`);
  }
  let socket: Socket;
  try {
    socket = new Socket({ fd: Number(text), readable: false, writable: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new BenchError("usage", `the environment variable ${observeFdVariable} names no open pipe (${code ?? "unknown reason"}).`, {
      cause: error,
    });
  }
  // Who follows may leave, and must not keep the command alive.
  socket.on("error", () => socket.destroy());
  socket.unref();
  const pipe: LinePipe = {
    write: (line) => {
      if (!socket.destroyed) {
        socket.write(line);
      }
    },
    get isBehind() {
      return socket.writableLength > 0;
    },
    flush: () => flush(socket),
  };
  opened = { fd: text, pipe };
  return pipe;
}

function flush(socket: Socket): Promise<void> {
  if (socket.destroyed || socket.writableLength === 0) {
    return Promise.resolve();
  }
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(deadline);
      socket.unref();
      resolve();
    };
    const deadline = setTimeout(done, flushDeadlineMs);
    socket.ref();
    socket.once("close", done);
    socket.write("", done);
  });
}
