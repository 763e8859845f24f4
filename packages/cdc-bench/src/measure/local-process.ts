import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Linux counts processor time in hundredths of a second, on every architecture that Node runs on. */
const msPerTick = 10;
const listening = "0A";

/** What a process has used so far. */
export interface ProcessUse {
  readonly cpuMs: number;
  /** Bytes that it has caused to be written to disks; null if this user may not know. */
  readonly writtenBytes: number | null;
}

/** The process that listens on this port of this machine. Null if there is none, if it is somebody else's, or if this is not Linux. */
export function listenerOf(address: string): number | null {
  const match = /^(?:\w+:\/\/)?(?:[^@/]*@)?(localhost|127\.[\d.]+|\[::1\]):(\d+)/.exec(address);
  if (match === null || process.platform !== "linux") {
    return null;
  }
  try {
    const inode = inodeListeningOn(Number(match[2]));
    return inode === null ? null : ownerOf(inode);
  } catch {
    return null; // no /proc, or a part of it is closed to us
  }
}

/** Of the process and its children: PostgreSQL works in these. Null if the process has ended. */
export function useOf(pid: number): ProcessUse | null {
  const own = statOf(String(pid));
  if (own === null) {
    return null;
  }
  const children = readdirSync("/proc").flatMap((name) => {
    const stat = /^\d+$/.test(name) ? statOf(name) : null;
    return stat?.parent === pid ? [stat] : [];
  });
  const ticks = children.reduce((sum, child) => sum + child.ticks, own.ticks + own.endedChildrenTicks);
  return { cpuMs: ticks * msPerTick, writtenBytes: writtenBy(pid) };
}

interface ProcessStat {
  readonly parent: number;
  readonly ticks: number;
  readonly endedChildrenTicks: number;
}

function statOf(pid: string): ProcessStat | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // Behind the program's name, which may hold spaces and parentheses.
    const fields = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number);
    const at = (index: number): number => fields[index] ?? 0;
    return { parent: at(1), ticks: at(11) + at(12), endedChildrenTicks: at(13) + at(14) };
  } catch {
    return null;
  }
}

function writtenBy(pid: number): number | null {
  try {
    const found = /^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, "utf8"))?.[1];
    return found === undefined ? null : Number(found);
  } catch {
    return null;
  }
}

function inodeListeningOn(port: number): string | null {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  for (const table of ["/proc/net/tcp", "/proc/net/tcp6"]) {
    for (const line of readFileSync(table, "utf8").split("\n").slice(1)) {
      const fields = line.trim().split(/\s+/);
      if (fields[1]?.endsWith(suffix) === true && fields[3] === listening) {
        return fields[9] ?? null;
      }
    }
  }
  return null;
}

function ownerOf(inode: string): number | null {
  const wanted = `socket:[${inode}]`;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    if (openFilesOf(pid).includes(wanted)) {
      return Number(pid);
    }
  }
  return null;
}

function openFilesOf(pid: string): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((name) => linkOf(`/proc/${pid}/fd/${name}`));
  } catch {
    return []; // it has ended, or is somebody else's
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
