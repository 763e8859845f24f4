/** The order of a quick run: what stands next to the change, and what is soon done, comes first. */
import { relative } from "node:path";
import { BaseSequencer } from "vitest/node";
import { repositoryRoot } from "./set-up.mjs";

/** @typedef {Parameters<BaseSequencer["sort"]>[0]} TestFiles */

export class NearestFirst extends BaseSequencer {
  /**
   * What the next run is about, the nearest first. vitest makes the sequencer itself, from its class alone.
   * @type {readonly import("./related-tests.mjs").RelatedTest[]}
   */
  static tests = [];

  /**
   * Files that share a process stay together: it ends when a file comes that wants its own.
   * @override
   * @param {TestFiles} files
   */
  sort(files) {
    const turns = new Map(NearestFirst.tests.map(({ file, distance }, place, all) => [file, distance + place / all.length]));
    const turnOf = (/** @type {TestFiles[number]} */ file) => (turns.get(pathOf(file)) ?? 0) + this.#secondsOf(file);
    const sharing = (/** @type {TestFiles[number]} */ { project }) => (project.name === "values" ? 0 : 1);
    return Promise.resolve(files.toSorted((a, b) => sharing(a) - sharing(b) || turnOf(a) - turnOf(b)));
  }

  /**
   * How long the file took when it ran last. A second counts as much as one import more between test and change.
   * @param {TestFiles[number]} file
   */
  #secondsOf(file) {
    return (this.ctx.cache.getFileTestResults(`${file.project.name}:${pathOf(file)}`)?.duration ?? 0) / 1000;
  }
}

/** @param {TestFiles[number]} file */
function pathOf({ moduleId }) {
  return relative(repositoryRoot, moduleId);
}
