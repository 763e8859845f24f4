import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/**
 * What tells a process from any other that had or will have its pid: the machine's boot and the process's start. Null if there is no such
 * process (any more), or if it has ended and its parent has not noticed yet.
 */
export function identifyProcess(pid: number): string | null {
  return process.platform === "linux" ? identifyOnLinux(pid) : identifyByPs(pid);
}

function identifyOnLinux(pid: number): string | null {
  const stat = textOf(`/proc/${pid}/stat`);
  if (stat === null) {
    return null;
  }
  // The second field is the program's name in parentheses, which may hold spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, startTicks] = [fields[0], fields[19]];
  const boot = textOf("/proc/sys/kernel/random/boot_id")?.trim() ?? "";
  return state === "Z" || state === "X" ? null : `${boot}/${startTicks}`;
}

/** macOS and others have no /proc. */
function identifyByPs(pid: number): string | null {
  try {
    const started = execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    return started.trim() || null;
  } catch {
    // `ps` ends with 1 if there is no such process. Without `ps` nobody can tell, and what nobody can tell is left alone: see below.
    return isThere(pid) ? "unknown" : null;
  }
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function textOf(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null; // the process has ended, or the system does not say
  }
}
