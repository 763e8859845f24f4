/** @typedef {import("./index-file.js").Book} Book */

/**
 * A sink has checkpoints of its own: the consumer goes on from those of the file, wherever the group's commits are.
 * @param {ReturnType<typeof import("./index-file.js").openIndex>} index
 * @param {{ path: string, logger: Pick<import("pino").Logger, "info"> }} parts
 * @returns {import("cdckit").Sink}
 */
export function indexSink(index, { path, logger }) {
  return {
    name: "search-index",
    host: path,
    claim: async (_groupId, assignments) =>
      assignments.flatMap((assignment) => {
        const checkpoint = index.checkpointOf(assignment.topic, assignment.partition);
        return checkpoint === null ? [] : [{ assignment, offset: BigInt(checkpoint.offset), topicId: checkpoint.topicId }];
      }),
    apply: async ({ assignment: { topic, partition, topicId }, events, nextOffset }) => {
      const changes = events.flatMap(changesOf);
      index.apply(changes, { topic, partition, offset: String(nextOffset), topicId: topicId ?? null });
      // A partition that the file does not have starts at the group's commit, which follows: it must not be ahead of what is in the file.
      if (!index.hasSaved(topic, partition)) await index.save();
      if (changes.length > 0) logger.info({ ids: changes.map(({ id }) => id) }, "indexed"); // null: all of them
    },
    close: () => index.save(),
  };
}

/** @param {import("cdckit").CdcEvent} event @returns {import("./index-file.js").Change[]} */
function changesOf(event) {
  if (event.kind === "truncate") return [{ id: null, book: null }];
  if (event.kind !== "change") return [];
  const { id } = /** @type {{ id: string }} */ (event.key);
  return [{ id, book: /** @type {Book | null} */ (event.after) }];
}
