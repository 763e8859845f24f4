import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished, vi } from "vitest";
import { type Found, type SharedStack, withStack } from "../integration/stack.ts";

const root = join(import.meta.dirname, "../..");

/** The shared stack, for examples, which run on the built packages; or why not. */
export async function withStackForExamples(): Promise<Found<SharedStack>> {
  return existsSync(join(root, "packages/cdckit/dist/index.js"))
    ? withStack()
    : { skip: "the packages are not built: run `npm test`, or `npm run build` first" };
}

/** What `npm run example` gives an example. */
export function exampleEnvironment({ brokers, registryUrl, connectUrl, postgres }: SharedStack): Readonly<Record<string, string>> {
  const { user, password, host, port, database } = postgres;
  return {
    KAFKA_BROKERS: brokers,
    SCHEMA_REGISTRY_URL: registryUrl,
    CONNECT_URL: connectUrl,
    DATABASE_URL: `postgres://${user}:${password}@${host}:${port}/${database}`,
  };
}

/** Runs another program of an example, such as its `seed.js`, to its end. */
export function runExampleFile(name: string, file: string, env: Readonly<Record<string, string>>): void {
  const { status, stdout, stderr } = spawnSync(process.execPath, [file], { cwd: folderOf(name), env: { ...process.env, ...env } });
  if (status !== 0) throw new Error(`${file} of ${name} ended with ${status}: ${stdout.toString()}${stderr.toString()}`);
}

/** A line of an example's log, which is JSON. */
export type LogLine = Readonly<Record<string, unknown>>;

/** The service of an example, as a process of its own. */
export interface ExampleService {
  /** Where its pages are. */
  readonly url: string;
  /** What it has logged, when it fits. A line may arrive after the answer to a request that was sent later: its pipe is another. */
  untilLogged(fits: (lines: readonly LogLine[]) => void): Promise<void>;
  /** The JSON at a path, when it fits. */
  until<Answer>(path: string, fits: (answer: Answer, status: number) => void): Promise<void>;
  /** Ends it with a signal, and gives its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts the service of an example and waits until it listens. It ends with the test. */
export async function startExample(
  name: string,
  env: Readonly<Record<string, string>>,
  file = "index.js",
  args: readonly string[] = [],
): Promise<ExampleService> {
  const child = spawn(process.execPath, [file, ...args], {
    cwd: folderOf(name),
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const logged: Record<string, unknown>[] = [];
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const entry = JSON.parse(line) as Record<string, unknown>;
      logged.push(entry);
      const listening = /listening at (http:\S+)/.exec(String(entry["msg"]));
      if (listening?.[1] !== undefined) resolve(listening[1]);
    });
    void ended.then((code) => reject(new Error(`${name} ended with ${code}: ${JSON.stringify(logged)}`)));
  });
  return {
    url,
    untilLogged: (fits) => vi.waitFor(() => fits(logged), { timeout: 90_000, interval: 50 }),
    async until<Answer>(path: string, fits: (answer: Answer, status: number) => void): Promise<void> {
      await vi.waitFor(
        async () => {
          const response = await fetch(`${url}${path}`);
          fits((await response.json()) as Answer, response.status);
        },
        { timeout: 90_000, interval: 50 },
      );
    },
    stop(signal = "SIGTERM") {
      child.kill(signal);
      return ended;
    },
  };
}

function folderOf(name: string): string {
  return join(root, "examples", name);
}
