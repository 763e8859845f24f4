import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import MiniSearch from "minisearch";

const indexOptions = {
  fields: ["title", "author", "summary"],
  storeFields: ["id", "title", "author", "summary"],
  searchOptions: { prefix: true, fuzzy: 0.2, boost: { title: 2 } },
};

/** @typedef {{ id: string, title: string, author: string, summary: string }} Book */
/** @typedef {{ id: string | null, book: Book | null }} Change a null book is gone, with a null id all are */
/** @typedef {{ topic: string, partition: number, offset: string, topicId: string | null }} Checkpoint `offset`: of the next record */

/**
 * A full-text index in memory, and a file that has all of it together with the offset that it has reached in each partition. The file is
 * replaced as a whole: after a kill, the index goes on where the file ends, and reads again what came after it.
 * @param {string} path
 */
export function openIndex(path) {
  const { id, index, checkpoints } = readIndex(path);
  let isWritten = true;
  const saved = new Set(checkpoints.keys());
  /** @type {Promise<void>} */
  let writing = Promise.resolve();

  return {
    /** Of this index: another one when the file was lost. */
    id,

    /** @param {string} text */
    search: (text) => index.search(text).map(({ id, title, author, summary, score }) => ({ id, title, author, summary, score })),
    count: () => index.documentCount,
    /** @param {string} topic @param {number} partition */
    checkpointOf: (topic, partition) => checkpoints.get(`${topic}/${partition}`) ?? null,
    /** Whether the file has a checkpoint of the partition. @param {string} topic @param {number} partition */
    hasSaved: (topic, partition) => saved.has(`${topic}/${partition}`),

    /** @param {readonly Change[]} changes @param {Checkpoint} checkpoint */
    apply(changes, checkpoint) {
      for (const { id, book } of changes) {
        if (id === null) index.removeAll();
        else if (index.has(id)) index.discard(id);
        if (book !== null) index.add(book);
      }
      checkpoints.set(`${checkpoint.topic}/${checkpoint.partition}`, checkpoint);
      isWritten = false;
    },

    /** Writes the file if anything has changed. One write at a time. */
    save() {
      writing = writing
        .catch(() => {})
        .then(async () => {
          if (isWritten) return;
          // In one go, before anything else is applied: index and checkpoints belong together.
          const places = [...checkpoints.keys()];
          const text = JSON.stringify({ id, checkpoints: [...checkpoints.values()], index });
          isWritten = true;
          await replaceFile(path, text).catch((error) => {
            isWritten = false; // the next save tries again
            throw error;
          });
          for (const place of places) saved.add(place);
        });
      return writing;
    },
  };
}

/** @param {string} path */
function readIndex(path) {
  const text = readOrNull(path);
  /** @type {Map<string, Checkpoint>} */
  const checkpoints = new Map();
  if (text === null) return { id: randomUUID(), index: new MiniSearch(indexOptions), checkpoints };
  const saved = JSON.parse(text);
  for (const checkpoint of saved.checkpoints) {
    checkpoints.set(`${checkpoint.topic}/${checkpoint.partition}`, checkpoint);
  }
  return { id: saved.id, index: MiniSearch.loadJS(saved.index, indexOptions), checkpoints };
}

/** @param {string} path */
function readOrNull(path) {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === "ENOENT") return null;
    throw error;
  }
}

/** A reader of the file finds the old one or the new one, also after a power cut. @param {string} path @param {string} text */
async function replaceFile(path, text) {
  const file = await open(`${path}.new`, "w");
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
}
