/**
 * Loaded before each test file: the lines that consumers without a logger write to stderr are left out, or they would drown the results.
 * A test that wants to see them sets `logger`.
 */
import process from "node:process";

const marker = Symbol.for("cdckit.test.quiet-stderr");
const { stderr } = process;

if (!(marker in stderr)) {
  const write = stderr.write.bind(stderr) as (...args: readonly unknown[]) => boolean; // it has several signatures
  const isLogLine = (text: unknown): boolean => typeof text === "string" && /^\{"level":[45]0,"time":/.test(text);
  stderr.write = (...args: readonly unknown[]) => isLogLine(args[0]) || write(...args);
  Object.defineProperty(stderr, marker, { value: true }); // files of one process share it
}
