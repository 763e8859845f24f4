/** The program of a worker thread: loads the module, makes its consumer and runs it, and says to the other thread how it goes. */
import { subscribe } from "node:diagnostics_channel";
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { systemClock } from "../clock.ts";
import { ConsumerError } from "../errors.ts";
import type { Logger } from "../observe/logger.ts";
import { readMember, readText, textOf, toError } from "../user-code/user-value.ts";
import { carryError } from "./carried-error.ts";
import type { FromWorker, ToWorker, WorkerSetup } from "./messages.ts";
import { forceStop, type RunnableConsumer } from "./runnable-consumer.ts";
import type { LogLevel, WorkerConsumerOptions, WorkerPlace } from "./workers-options.ts";

const setup = workerData as WorkerSetup;
const { number, count } = setup;
const closers: (() => unknown)[] = [];
let consumer: RunnableConsumer | null = null;
/** It was stopped before its consumer was made, which is not run then; or its run has settled. What the module has opened is being closed. */
let isEnding = false;

const tell = (message: FromWorker): void => parentPort?.postMessage(message);

function report(): void {
  if (consumer !== null) {
    tell({ kind: "health", health: consumer.health() });
  }
}

/** Sends the lines of the levels that are wanted there. A field that cannot cross becomes a text. */
function sendingLogger(): Logger {
  const send =
    (level: LogLevel): Logger["info"] =>
    (fields, message) => {
      if (!setup.levels.includes(level)) {
        return;
      }
      try {
        tell({ kind: "log", level, fields, message });
      } catch {
        tell({
          kind: "log",
          level,
          fields: Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, textOf(value)])),
          message,
        });
      }
    };
  return { debug: send("debug"), info: send("info"), warn: send("warn"), error: send("error") };
}

function memberOptions(): WorkerConsumerOptions {
  const options = setup.options as unknown as WorkerConsumerOptions; // checked on the thread that has sent them
  return { ...options, logger: setup.levels.length === 0 ? false : sendingLogger(), signals: false };
}

async function makeConsumer(): Promise<RunnableConsumer> {
  const place: WorkerPlace = { number, count, onStopped: (close) => closers.push(close) };
  const make = await load();
  const made = await madeBy(() => make(memberOptions(), place));
  if (!["run", "stop", "health"].every((name) => typeof readMember(made, name) === "function")) {
    throw wrongModule(`its default export must return the consumer that it has made, and returned ${made === null ? "null" : typeof made}`);
  }
  return made as RunnableConsumer;
}

/** Errors of ours say what is wrong. Of any other, as of a database that is away, nobody would know where it comes from. */
async function madeBy(make: () => unknown): Promise<unknown> {
  try {
    return await make();
  } catch (error) {
    if (readText(error, "helpUrl") !== undefined) {
      throw error;
    }
    throw new ConsumerError(
      "worker-failed",
      `the function of ${setup.module} that makes the consumer failed on worker ${number}: ${toError(error).message}`,
      { cause: error },
    );
  }
}

async function load(): Promise<(options: WorkerConsumerOptions, place: WorkerPlace) => unknown> {
  let module: unknown;
  try {
    module = await import(setup.module);
  } catch (error) {
    throw new ConsumerError("worker-failed", `the module ${setup.module} cannot be loaded on worker ${number}: ${toError(error).message}`, {
      cause: error,
    });
  }
  const exported = readMember(module, "default");
  // A module that a compiler wrote as CommonJS has its default export as a member of what is imported as the default.
  const make = readMember(exported, "__esModule") === true ? readMember(exported, "default") : exported;
  if (typeof make !== "function") {
    throw wrongModule(`its default export must be a function that makes a consumer, and is ${typeof make}`);
  }
  return make as (options: WorkerConsumerOptions, place: WorkerPlace) => unknown;
}

function wrongModule(why: string): ConsumerError {
  return new ConsumerError("invalid-option", `the module ${setup.module} makes no consumer: ${why}`);
}

/** `run()` would say that it was started before, and whoever reads that would look for a second `run()`. */
function refuseStarted(made: RunnableConsumer): void {
  if (made.health().phase !== "idle") {
    void made.stop();
    const what =
      "has started its consumer itself, by run() or stream(): it must return one that is not started, because the thread runs it";
    throw new ConsumerError("invalid-option", `the module ${setup.module} ${what}`);
  }
}

function obey(message: ToWorker): void {
  if (isEnding) {
    return; // the other thread ends this one if the module does not close
  }
  if (consumer === null) {
    isEnding = true;
    tell({ kind: "stopped", health: null, error: null });
    void closeModule().finally(() => process.exit()); // of the thread alone: a module that is still being loaded need not end
    return;
  }
  if (message === "stop") {
    void consumer.stop();
    return;
  }
  const force = readMember(consumer, forceStop) as ((why: string) => void) | undefined;
  force?.call(consumer, "a second stop signal came");
}

/** Obeys what came while the module was loaded: without a turn of the event loop since, its consumer would handle records after a stop. */
function obeyWaiting(): void {
  while (parentPort !== null) {
    const waiting = receiveMessageOnPort(parentPort) as { readonly message: ToWorker } | undefined;
    if (waiting === undefined) {
      return;
    }
    obey(waiting.message);
  }
}

/** After the report, so that a module that does not close delays nobody's commit. */
async function closeModule(): Promise<void> {
  for (const close of closers) {
    try {
      await close();
    } catch (error) {
      sendingLogger().warn({ err: error }, "a function of onStopped failed");
    }
  }
}

/** The timer does not keep a thread alive whose consumer has stopped. */
function reportFromTimeToTime(): () => void {
  let cancel = (): void => {};
  const next = (): void => {
    cancel = systemClock.after(setup.reportEveryMs, () => {
      report();
      next();
    });
  };
  next();
  return () => cancel();
}

async function main(): Promise<void> {
  parentPort?.on("message", obey);
  let error: unknown = null;
  let endReports = (): void => {};
  try {
    const made = await makeConsumer();
    obeyWaiting();
    if (isEnding) {
      return;
    }
    refuseStarted(made);
    consumer = made;
    report();
    endReports = reportFromTimeToTime();
    subscribe("cdckit:consumer:phase", () => queueMicrotask(report)); // after the change is done
    await made.run();
  } catch (thrown) {
    if (isEnding) {
      return; // what it was made with is being closed
    }
    error = thrown ?? new Error("undefined was thrown");
  }
  isEnding = true;
  endReports();
  tell({ kind: "stopped", health: consumer === null ? null : consumer.health(), error: error === null ? null : carryError(error) });
  await closeModule();
  tell({ kind: "module-closed" });
  parentPort?.close(); // an open port keeps its thread alive
}

await main();
