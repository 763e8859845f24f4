import { listenerOf, type ProcessUse, useOf } from "../../measure/local-process.ts";
import type { ProcessMeasure } from "./result.ts";

export type ServiceName = ProcessMeasure["service"];
type Moment = "start" | "written" | "drained";

/** Watches what the services of a pipeline use, if they run on this machine and belong to this user. */
export interface ServiceWatch {
  mark(moment: Moment): void;
  /** Between the marks. */
  used(): readonly ProcessMeasure[];
}

/** @param addresses `host:port`, or a URL, by service; null if it is not known */
export function watchServices(addresses: Readonly<Record<ServiceName, string | null>>): ServiceWatch {
  const found = Object.entries(addresses).flatMap(([service, address]) => {
    const pid = address === null ? null : listenerOf(address);
    return pid === null ? [] : [{ service: service as ServiceName, pid }];
  });
  const marks = new Map<Moment, ReadonlyMap<number, ProcessUse | null>>();
  const spent = (pid: number, from: Moment, to: Moment, of: (use: ProcessUse) => number | null): number | null => {
    const [before, after] = [marks.get(from)?.get(pid) ?? null, marks.get(to)?.get(pid) ?? null];
    const [first, last] = [before && of(before), after && of(after)];
    return first === null || last === null ? null : last - first;
  };
  return {
    mark: (moment) => void marks.set(moment, new Map(found.map(({ pid }) => [pid, useOf(pid)]))),
    used: () =>
      found.flatMap(({ service, pid }) => {
        const snapshotCpuMs = spent(pid, "start", "written", ({ cpuMs }) => cpuMs);
        const drainCpuMs = spent(pid, "written", "drained", ({ cpuMs }) => cpuMs);
        const writtenBytes = spent(pid, "start", "written", ({ writtenBytes: bytes }) => bytes);
        return snapshotCpuMs === null || drainCpuMs === null ? [] : [{ service, pid, snapshotCpuMs, drainCpuMs, writtenBytes }];
      }),
  };
}
