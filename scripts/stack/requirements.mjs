import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { StackError } from "./stack-error.mjs";
import { versions } from "./versions.mjs";

/**
 * The `java` to run: the one in JAVA_HOME, else the one on the PATH.
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {string}
 */
export function javaCommand(env = process.env) {
  return env["JAVA_HOME"] ? join(env["JAVA_HOME"], "bin", "java") : "java";
}

/** @type {Map<string, string>} */
const javaTexts = new Map();

/**
 * What `java -version` says: asked once in a process for each `java`, because a JVM is started for it. Null if there is none.
 * @param {string} java
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {string | null}
 */
export function javaVersionText(java, env = process.env) {
  const known = javaTexts.get(java);
  if (known !== undefined) return known;
  const { error, status, stderr, stdout } = spawnSync(java, ["-version"], { encoding: "utf8", env });
  if (error !== undefined || status !== 0) return null;
  javaTexts.set(java, `${stderr}${stdout}`);
  return `${stderr}${stdout}`;
}

/**
 * Makes sure that Java is there and new enough.
 * @param {NodeJS.ProcessEnv} [env]
 */
export function requireJava(env = process.env) {
  const java = javaCommand(env);
  const found = javaVersionText(java, env);
  if (found === null) {
    throw new StackError(
      "java-missing",
      `no Java found (tried "${java} -version"). Kafka needs Java ${versions.javaMajor} or later. ${howToGetJava}`,
    );
  }
  const major = javaMajor(found);
  if (major === null || major < versions.javaMajor) {
    const what = major === null ? "a Java whose version could not be read" : `Java ${major}`;
    throw new StackError("java-too-old", `"${java}" is ${what}; Kafka needs Java ${versions.javaMajor} or later. ${howToGetJava}`);
  }
}

/**
 * The `mvn` to run.
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {string}
 */
export function requireMaven(env = process.env) {
  const found = spawnSync("mvn", ["-v"], { encoding: "utf8", env });
  if (found.error !== undefined || found.status !== 0) {
    throw new StackError(
      "maven-missing",
      'no Maven found (tried "mvn -v"). It downloads Kafka and Debezium once. ' +
        "Get it with: apt-get install maven (Debian, Ubuntu), brew install maven (macOS), or from https://maven.apache.org/download.cgi",
    );
  }
  return "mvn";
}

/** The 17 of `openjdk version "17.0.15"`, the 8 of `java version "1.8.0_392"`. @param {string} output @returns {number | null} */
export function javaMajor(output) {
  const match = /version "(?:1\.)?(\d+)/.exec(output);
  return match === null ? null : Number(match[1]);
}

const howToGetJava =
  "Get it with: apt-get install openjdk-17-jre-headless (Debian, Ubuntu), brew install openjdk@17 (macOS), or from https://adoptium.net; " +
  "if it is installed elsewhere, set JAVA_HOME";
