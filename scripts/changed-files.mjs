/** What changed: what is not committed yet, and what this branch has on top of `main`. */
import { capture } from "./set-up.mjs";

/**
 * @typedef {object} Change
 * @property {readonly string[]} files paths below the root, also of files that are gone
 * @property {string} since what they are compared with, in words
 */

/**
 * The files that differ from where this branch left `main`; on `main` itself those that are not committed, and if all are, those of the
 * last commit.
 * @returns {Change}
 */
export function changedFiles() {
  const base = git("merge-base", "HEAD", mainBranch()).trim();
  const files = [...lines(git("diff", "--name-only", base)), ...lines(git("ls-files", "--others", "--exclude-standard"))];
  return files.length > 0
    ? { files, since: ` since main (${base.slice(0, 8)})` }
    : { files: lines(git("diff", "--name-only", "HEAD~1")), since: " in the last commit" };
}

function mainBranch() {
  return capture("git", ["rev-parse", "--verify", "--quiet", "main"]).status === 0 ? "main" : "HEAD";
}

/** @param {readonly string[]} args */
function git(...args) {
  const { status, stdout, output } = capture("git", args);
  if (status !== 0) {
    throw new Error(`git ${args.join(" ")} failed: ${output}`);
  }
  return stdout;
}

/** @param {string} text */
function lines(text) {
  return text.split("\n").filter((line) => line !== "");
}
