import { Deferred } from "../encoding/reader.ts";
import { inField, isDecodeError } from "../errors.ts";
import type { Source } from "../event.ts";
import type { Origin } from "./origin.ts";
import { plainSource, sourceOf } from "./source.ts";

/** A block's value, read now if it was deferred. If reading fails now, the error gets the coordinates of the record. */
export function blockValue(block: unknown, origin: Origin): unknown {
  if (!(block instanceof Deferred)) {
    return block;
  }
  try {
    return block.value;
  } catch (error) {
    const failed = inField(error, "source"); // no other block is deferred
    if (!isDecodeError(failed)) {
      throw failed;
    }
    const { topic, partition, offset } = origin.record;
    throw failed.locatedAt({ topic, partition, offset });
  }
}

export function sourceBlock(block: unknown, origin: Origin): Source {
  return sourceOf(blockValue(block, origin));
}

/** The source as a plain object. If the source cannot be read, the object holds the error instead, so that every event can be shown. */
export function shownSource(event: { readonly source: Source }): Record<string, unknown> {
  try {
    return plainSource(event.source);
  } catch (error) {
    if (!isDecodeError(error)) {
      throw error;
    }
    return { error: error.message };
  }
}

export function detachBlock(block: unknown): void {
  if (block instanceof Deferred) {
    block.detach();
  }
}
