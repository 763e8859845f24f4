import { expect, test } from "vitest";
import { loadClient } from "./load-client.ts";

test("a package that is not installed is named, with what to do", async () => {
  const missing = Object.assign(new Error("Cannot find package '@platformatic/kafka' imported from x"), { code: "ERR_MODULE_NOT_FOUND" });
  await expect(loadClient(() => Promise.reject(missing))).rejects.toMatchObject({
    code: "client-missing",
    message: expect.stringMatching(/npm install @platformatic\/kafka.*Node 22\.22/) as string,
    cause: missing,
  });
});

test("a module that is another one is refused", async () => {
  await expect(loadClient({ Kafka: class {} })).rejects.toMatchObject({ code: "invalid-option" });
});
