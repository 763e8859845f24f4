import { accessSync, chmodSync, constants, lstatSync, mkdirSync } from "node:fs";
import { homedir, tmpdir, userInfo } from "node:os";
import { isAbsolute, join } from "node:path";
import { BenchError } from "../bench-error.ts";
import type { Terminal } from "../terminal.ts";

/**
 * The folder in which runs write down what they make: `$XDG_STATE_HOME/cdc-bench`, or `~/.local/state/cdc-bench`. If it cannot be written,
 * a folder for temporary files, and stderr says so.
 */
export function openStateFolder({ env, stderr }: Pick<Terminal, "env" | "stderr">): string {
  const wanted = wantedFolder(env);
  try {
    return makeOwn(wanted);
  } catch (error) {
    const folder = makeOwn(join(tmpdir(), `cdc-bench-${ownerName()}`));
    const reason = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
    stderr.write(
      `cannot write to ${wanted} (${reason}): what this run makes is written down in ${folder}. XDG_STATE_HOME names another.\n`,
    );
    return folder;
  }
}

function wantedFolder(env: Terminal["env"]): string {
  const home = env["XDG_STATE_HOME"];
  // The specification ignores a path that is not absolute.
  return home !== undefined && isAbsolute(home) ? join(home, "cdc-bench") : join(env["HOME"] || homedir(), ".local", "state", "cdc-bench");
}

/** A folder that nobody else can write to: what is written there names things to delete. */
function makeOwn(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { uid, mode } = lstatSync(folder);
  if (!lstatSync(folder).isDirectory() || (process.getuid !== undefined && uid !== process.getuid())) {
    throw new BenchError("usage", `${folder} belongs to somebody else: set XDG_STATE_HOME to a folder of your own.`);
  }
  if ((mode & 0o022) !== 0) {
    chmodSync(folder, 0o700);
  }
  accessSync(folder, constants.W_OK | constants.X_OK);
  return folder;
}

function ownerName(): string {
  return String(process.getuid?.() ?? userInfo().username);
}
