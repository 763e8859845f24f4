import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runJava } from "../../scripts/stack/java.mjs";
import { kafkaClassPath } from "../../scripts/stack/kafka.mjs";
import { classPathOptions, keepClasses } from "../../scripts/stack/shared-classes.mjs";

/** Options of the JVM under which the classes of a service are written to a file when it ends. */
interface ServiceOptions {
  readonly jvm: readonly string[];
}

const mainClass = "kafka.tools.StorageTool";

describe("classes that a JVM has loaded", () => {
  let dir: string;
  let jars: string;
  const log: string[] = [];
  const kept = (): string[] => readdirSync(dir).filter((file) => file !== "kafka");

  beforeAll(async () => {
    jars = dirname(await kafkaClassPath());
    dir = mkdtempSync(join(tmpdir(), "cdckit-test-classes-"));
    symlinkSync(jars, join(dir, "kafka"));
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  const keep = (run: (options: ServiceOptions) => Promise<void>): Promise<void> =>
    keepClasses(join(dir, "kafka", "*"), run, (line) => log.push(line));

  test("are not kept if the service fails, or if their file is damaged, and the log says so", async () => {
    const classPath = join(dir, "kafka", "*");
    await keep(() => Promise.reject(new Error("no port is free")));
    await keep(async ({ jvm }) => writeFileSync((jvm[0] ?? "").replace("-XX:ArchiveClassesAtExit=", ""), "half of a file"));
    expect(log).toEqual([expect.stringContaining("no port is free"), expect.stringContaining("cannot be read back")]);
    expect(kept()).toEqual([]);
    expect(classPathOptions(classPath)).toEqual(["-cp", classPath]);
  });

  test("are kept once, and the next JVM takes them", async () => {
    const classPath = join(dir, "kafka", "*");
    const runTool = async ({ jvm }: ServiceOptions): Promise<void> => {
      await runJava({ classPath, mainClass, args: ["random-uuid"], jvm });
    };
    await keep(runTool);
    const [archive, ...others] = kept();
    expect(others).toEqual([]);
    expect(classPathOptions(classPath)).toEqual([`-XX:SharedArchiveFile=${join(dir, archive ?? "")}`, "-Xshare:auto", "-cp", classPath]);
    await keep(() => Promise.reject(new Error("called again")));
    const { stdout } = await runJava({ classPath, mainClass, args: ["random-uuid"], jvm: ["-Xlog:class+load:stdout"] });
    expect(stdout).toMatch(/kafka\.tools\.StorageTool source: shared objects file \(top\)/);
  });
});
