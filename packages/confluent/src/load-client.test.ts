import { expect, test } from "vitest";
import { notLoaded } from "./load-client.ts";

test("a package that is not installed is named, with what to do", () => {
  const error = notLoaded(
    Object.assign(new Error("Cannot find package '@confluentinc/kafka-javascript' imported from x"), { code: "ERR_MODULE_NOT_FOUND" }),
  );
  expect([error.code, error.message.includes("npm install @confluentinc/kafka-javascript")]).toEqual(["client-missing", true]);
});

test.each([
  ["it was never built", "Could not locate the bindings file. Tried:\n → /app/build/confluent-kafka-javascript.node"],
  [
    "it was built for another Node",
    "The module '/app/x.node' was compiled against a different Node.js version using NODE_MODULE_VERSION 115.",
  ],
  ["a library is missing", "librdkafka.so.1: cannot open shared object file: No such file or directory"],
  ["it was loaded in a worker thread", "Module did not self-register: '/app/x.node'."],
])("a native part that does not load is another error: %s", (_, message) => {
  const error = notLoaded(new Error(message));
  expect([error.code, error.message.includes(message.split("\n")[0] ?? ""), error.message.includes(process.arch)]).toEqual([
    "native-part-missing",
    true,
    true,
  ]);
});
