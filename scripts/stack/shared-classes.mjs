import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { javaCommand, javaVersionText } from "./requirements.mjs";

// A JVM spends about half of its start on reading and verifying classes. What it has made of them can be kept in a file (class data sharing),
// which every JVM with the same class path maps: a broker starts with 3.3 s of processor time in place of 5.3, and a tool with 1 s in place of 2.

/**
 * The options of a JVM with this class path: with the classes that were kept for it, if they are there.
 * @param {string} classPath
 * @returns {readonly string[]}
 */
export function classPathOptions(classPath) {
  const archive = archiveOf(classPath);
  return [...(archive !== null && existsSync(archive) ? [`-XX:SharedArchiveFile=${archive}`, "-Xshare:auto"] : []), "-cp", classPath];
}

/**
 * Keeps what a JVM with this class path loads, once for each Java. Nothing depends on it: what goes wrong is logged, and JVMs start as before.
 * @param {string} classPath
 * @param {(options: { dir: string, jvm: readonly string[] }) => Promise<void>} run starts a service with these options of the JVM, and ends it in order
 * @param {(line: string) => void} log
 */
export async function keepClasses(classPath, run, log) {
  const archive = archiveOf(classPath);
  if (archive === null || existsSync(archive)) return;
  const dir = mkdtempSync(join(tmpdir(), "cdckit-classes-"));
  const fresh = `${archive}.${basename(dir)}`;
  try {
    await run({ dir, jvm: [`-XX:ArchiveClassesAtExit=${fresh}`] });
    // A file that is cut short, as on a full disk, would end each JVM that maps it.
    const { status, stderr } = spawnSync(
      javaCommand(),
      ["-Xshare:on", "-XX:+VerifySharedSpaces", `-XX:SharedArchiveFile=${fresh}`, "-cp", classPath, "-version"],
      {
        encoding: "utf8",
        cwd: dir, // a JVM that crashes leaves its report there
      },
    );
    if (status !== 0) throw new Error(`the file cannot be read back: ${stderr.trim()}`);
    renameSync(fresh, archive);
  } catch (error) {
    log(`classes are not kept beside ${dirname(classPath)}, so each start takes longer: ${error instanceof Error ? error.message : error}`);
  } finally {
    rmSync(fresh, { force: true });
    rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Beside the folder of the jars, whose name stands for exactly these files. Null if the class path is not all jars of one folder. @param {string} classPath */
function archiveOf(classPath) {
  return basename(classPath) === "*" ? `${dirname(classPath)}-${javaBuild()}.jsa` : null;
}

/** The build of Java, as it can stand in the name of a file: another one does not take the classes. */
function javaBuild() {
  const build = /\(build ([^),]+)/.exec(javaVersionText(javaCommand()) ?? "")?.[1] ?? "";
  return build.replaceAll(/[^\w.+-]/g, "_");
}
