import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Command, CommanderError } from "commander";
import { setTimeout as pass } from "node:timers/promises";
import { BenchError } from "../../bench-error.ts";
import { exitCodes, type ExitCode } from "../../exit-codes.ts";
import { openStateFolder } from "../../leftovers/state-folder.ts";
import { benchVersion } from "../../report/environment.ts";
import type { Terminal } from "../../terminal.ts";
import { createEventStream } from "../../ui/event-stream.ts";
import { formOf, isMeasuring } from "../../ui/form.ts";
import { openKeptRuns } from "../../ui/kept-runs.ts";
import { createLookSession } from "../../ui/look-session.ts";
import { createReportAddresses } from "../../ui/report-pages.ts";
import type { ListedTopic, UiParts } from "../../ui/routes.ts";
import { createRunSession } from "../../ui/run-session.ts";
import { startUiServer } from "../../ui/server.ts";
import { resolveCluster } from "../resolve-source.ts";
import { addClusterFlags, type SourceFlags } from "../source-options.ts";
import type { UiFlags } from "../ui.ts";

/** How long a run may take to write what it has, before we leave: it goes on writing without us. */
const leaveAfterMs = 700;
const maxListedTopics = 500;

/** Serves the page until Ctrl-C. */
export async function ui(flags: UiFlags, terminal: Terminal, commands: readonly Command[]): Promise<ExitCode> {
  const dir = flags.dir ?? join(openStateFolder(terminal), "ui");
  const token = randomBytes(24).toString("base64url");
  const parts = await createParts(flags, terminal, commands, dir);
  const server = await startUiServer(parts, token, flags.port);
  // The token stands behind the #, which a browser does not send: it gets into no log.
  const address = `http://127.0.0.1:${server.port}/#token=${token}`;
  terminal.stdout.write(`${address}\n`);
  terminal.stderr.write(`The page is for this machine and this user alone. Results are kept in ${dir}. Ctrl-C ends it.\n`);
  const opener = flags.open === true ? await openBrowser(address, dir, terminal) : undefined;
  if (!terminal.interrupt.aborted) {
    await once(terminal.interrupt, "abort");
  }
  const ended = Promise.all([parts.runs.close(), parts.looks.close()]);
  await Promise.race([ended, pass(leaveAfterMs)]);
  await server.close();
  await opener?.forget();
  return exitCodes.interrupted;
}

async function createParts(flags: UiFlags, terminal: Terminal, commands: readonly Command[], dir: string): Promise<UiParts> {
  const events = createEventStream();
  const kept = await openKeptRuns(dir, flags.keep);
  const inspect = commands.find((command) => command.name() === "inspect") ?? new Command("inspect");
  return {
    version: benchVersion(),
    runForms: commands.filter(isMeasuring).map((command) => formOf(command)),
    lookForm: formOf(inspect, ["--explain", "--headers", ...(flags.maskValues === true ? ["--mask-values"] : [])]),
    topicsForm: formOf(addClusterFlags(new Command("topics")), [
      "--topics",
      "--fetch-bytes",
      "--max-decompressed-bytes",
      "--registry",
      "--registry-ids",
    ]),
    isMaskForced: flags.maskValues === true,
    ...{ kept, events, reports: createReportAddresses() },
    runs: createRunSession(kept, events, terminal.env),
    looks: createLookSession(events, terminal.env),
    listTopics: (args) => listTopics(args, terminal),
  };
}

/** The topics of the cluster that flags and environment name; Kafka's own are left out. */
async function listTopics(args: readonly string[], terminal: Terminal): Promise<readonly ListedTopic[]> {
  const { openCluster } = await import("../../load/cluster.ts");
  const command = addClusterFlags(new Command("topics"))
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  const { connection } = resolveCluster(parsed(command, args), terminal.env);
  if (connection === undefined) {
    throw new BenchError("usage", "which cluster? Give brokers, or start ui with KAFKA_BROKERS.");
  }
  const cluster = await openCluster(connection);
  try {
    const names = (await cluster.topicNames()).filter((name) => !name.startsWith("__")).toSorted();
    const extents = await cluster.extentsOf(names.slice(0, maxListedTopics));
    return extents.map(({ topic, partitions, maxRecords }) => ({
      name: topic,
      partitions: partitions.length,
      maxRecords: Number(maxRecords),
    }));
  } finally {
    await cluster.close();
  }
}

function parsed(command: Command, args: readonly string[]): SourceFlags {
  try {
    return command.parse([...args], { from: "user" }).opts<SourceFlags>();
  } catch (error) {
    if (error instanceof CommanderError) {
      throw new BenchError("usage", error.message.replace(/^error: /, ""), { cause: error });
    }
    throw error;
  }
}

/** Opens a file that leads to the page: the address, with its token, would stand in the list of processes. */
async function openBrowser(address: string, dir: string, terminal: Terminal): Promise<{ forget(): Promise<void> }> {
  const file = join(dir, `open-${process.pid}.html`);
  await writeFile(file, `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=${address}">\n`, { mode: 0o600 });
  const [program, ...args] =
    process.platform === "darwin" ? ["open"] : process.platform === "win32" ? ["cmd", "/c", "start", ""] : ["xdg-open"];
  const opener = spawn(program ?? "xdg-open", [...args, file], { stdio: "ignore", detached: true });
  opener.on("error", () => terminal.stderr.write("cannot open a browser: open the address yourself.\n"));
  opener.unref();
  return { forget: () => rm(file, { force: true }) };
}
