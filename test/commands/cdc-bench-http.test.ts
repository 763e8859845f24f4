import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

/** The program as users start it; it runs what the build made. */
const binary = fileURLToPath(new URL("../../packages/cdc-bench/bin/cdc-bench.js", import.meta.url));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** @param detached in a group of processes of its own, which can be signalled as a whole */
async function http(
  args: readonly string[],
  whenStarted?: (child: ChildProcess) => void,
  { detached = false }: { readonly detached?: boolean } = {},
): Promise<Ended> {
  const child = spawn(process.execPath, [binary, "http", ...args], { env: { PATH: process.env["PATH"] }, detached });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  whenStarted?.(child);
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout, stderr };
}

interface Response {
  readonly method: string;
  readonly format: string;
  readonly encoding: string;
  readonly sentBytes: number;
  readonly plainBytes: number;
  readonly allocatedByServerBytes: number;
  readonly allocatedByClientBytes: number;
  readonly request: { readonly count: number; readonly p50Ns: number };
}

/** The processes that this one has started, as the kernel knows them. */
function childrenOf(pid: number): readonly number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);
}

describe.skipIf(process.platform !== "linux")("cdc-bench http", () => {
  test("measures every method, format and coding of its own API, in a process of its own", async () => {
    const { code, stdout, stderr } = await http(["--rows", "500", "--requests", "4", "--concurrency", "2", "--json"]);
    expect(code, stderr).toBe(0);
    const { responses, unanswered } = JSON.parse(stdout) as { readonly responses: readonly Response[]; readonly unanswered: unknown };
    expect(unanswered).toEqual([]);
    const of = (method: string, format: string, encoding: string): Response | undefined =>
      responses.find((each) => each.method === method && each.format === format && each.encoding === encoding);
    for (const method of ["GET", "POST"]) {
      for (const format of ["json", "avro", "avro-headless"]) {
        for (const encoding of ["identity", "gzip", "br"]) {
          const found = of(method, format, encoding);
          expect([method, format, encoding, found?.request.count]).toEqual([method, format, encoding, 4]);
          expect(Math.min(found!.allocatedByClientBytes, found!.allocatedByServerBytes)).toBeGreaterThan(0);
        }
      }
      expect(of(method, "avro", "identity")!.sentBytes).toBeLessThan(of(method, "json", "identity")!.sentBytes / 2);
      expect(of(method, "json", "gzip")!.sentBytes).toBeLessThan(of(method, "json", "identity")!.sentBytes / 4);
    }
    expect(of("GET", "json", "identity")!.sentBytes).toBe(of("POST", "json", "identity")!.sentBytes);
  });

  test("says that the published figures are of more rows", async () => {
    const args = ["--methods", "get", "--formats", "json", "--encodings", "identity"];
    const { code, stdout, stderr } = await http([...args, "--rows", "500", "--requests", "2"]);
    expect(code, stderr).toBe(0);
    expect(stdout).toContain("Published with 60,000 rows, here with 500: only the multiples can be compared.\n\nAs published");
    const asPublished = await http([...args, "--requests", "1"]);
    expect(asPublished.stdout).toContain("As published");
    expect(asPublished.stdout).not.toContain("only the multiples");
  });

  test("takes at least as long as the link needs", async () => {
    const args = ["--rows", "2000", "--requests", "2", "--methods", "get", "--formats", "json", "--encodings", "identity", "--json"];
    const { code, stdout, stderr } = await http([...args, "--link", "10mbit"]);
    expect(code, stderr).toBe(0);
    const [response] = (JSON.parse(stdout) as { readonly responses: readonly Response[] }).responses;
    const linkMs = (response!.sentBytes * 8 * 1e3) / 10e6;
    // What is under way in buffers may be a little ahead of the rate.
    expect(response!.request.p50Ns / 1e6).toBeGreaterThan(linkMs * 0.8);
  });

  test("that gets SIGTERM with the process of its API, as from timeout, gives what it has, with exit code 130", async () => {
    let isSignalled = false;
    const { code, stdout, stderr } = await http(
      ["--rows", "200", "--duration", "10m"],
      (child) => {
        child.stderr?.on("data", (chunk: Buffer) => {
          if (!isSignalled && chunk.toString().includes("requests")) {
            isSignalled = true;
            process.kill(-child.pid!, "SIGTERM");
          }
        });
      },
      { detached: true },
    );
    expect(code, stderr).toBe(130);
    expect(stdout).toMatch(/^ABORTED/);
  });

  test.each(["SIGINT", "SIGKILL"] as const)("leaves no process behind after %s", async (signal) => {
    let api: readonly number[] = [];
    const { code, stdout } = await http(["--rows", "200", "--duration", "10m"], (child) => {
      child.stderr?.on("data", (chunk: Buffer) => {
        // Once: a second signal ends the process before it has written what it has.
        if (api.length === 0 && chunk.toString().includes("requests")) {
          api = childrenOf(child.pid ?? 0);
          child.kill(signal);
        }
      });
    });
    expect(api.length).toBeGreaterThan(0);
    if (signal === "SIGINT") {
      expect(code).toBe(130);
      expect(stdout).toMatch(/^ABORTED/);
    }
    await expect.poll(() => api.filter(isAlive), { timeout: 30_000 }).toEqual([]);
  });
});

/** A process that has ended and that nobody has asked about yet (a zombie) is not alive. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
