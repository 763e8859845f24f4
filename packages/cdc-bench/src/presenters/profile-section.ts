import { formatDuration } from "../report/quantities.ts";
import type { ProfileResult } from "../result/profile-result.ts";
import type { Section } from "../presentation/document.ts";
import { profileAreas } from "../presentation/render/flame.ts";

/** Where the processor's time went, and the flame graph. */
export function profileSection({
  flameGraphFile,
  cpuProfileFile,
  subtitle,
  samplingIntervalUs,
  threads,
  areas,
  root,
}: ProfileResult): Section {
  return {
    title: "CPU profile",
    blocks: [
      {
        kind: "table",
        columns: [{ title: "area", align: "left" }, { title: "share" }, { title: "time" }],
        rows: areas.map(({ area, share, selfUs }) => [
          area,
          { text: `${(share * 100).toFixed(1)}%`, value: share, bar: share },
          { text: formatDuration(selfUs * 1e3), value: selfUs * 1e3 },
        ]),
      },
      { kind: "list", items: areas.map(({ area }) => `${area}: ${profileAreas[area].about}`) },
      { kind: "flame", title: "Flame graph", subtitle, root },
      {
        kind: "paragraph",
        text: `${threads === "main" ? "The main thread" : "All worker threads together"}, looked at every ${samplingIntervalUs} µs. Flame graph: ${flameGraphFile}. For Chrome's DevTools or Speedscope: ${cpuProfileFile}.`,
      },
    ],
  };
}
