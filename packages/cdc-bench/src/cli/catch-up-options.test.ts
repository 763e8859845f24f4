import { expect, test } from "vitest";
import { changeFormat, changeFormats } from "../load/change-events/index.ts";
import { formatNames, resolveProxy } from "./catch-up-options.ts";

test("the flag knows every format in which events can be written", () => {
  expect(formatNames.map(changeFormat)).toEqual(
    [...changeFormats].sort((a, b) => formatNames.indexOf(short(a.name)) - formatNames.indexOf(short(b.name))),
  );
});

function short(name: string): string {
  return formatNames.includes(name) ? name : name.replace("confluent-", "");
}

test("faults open a proxy, --no-proxy leaves them out, and --proxy needs none", () => {
  const cut = { kind: "cut", window: { fromMs: 5, toMs: 5 } } as const;
  expect(resolveProxy({ fault: [cut] })).toEqual({ faults: [cut], usesProxy: true });
  expect(resolveProxy({ fault: [cut], proxy: false })).toEqual({ faults: [], usesProxy: false });
  expect(resolveProxy({ proxy: true })).toEqual({ faults: [], usesProxy: true });
  expect(resolveProxy({})).toEqual({ faults: [], usesProxy: false });
});
