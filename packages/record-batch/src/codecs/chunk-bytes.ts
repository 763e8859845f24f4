/** The chunk in which zlib takes memory; it joins the chunks in the end. Few for a large batch, and no large one for a small batch. */
export function chunkBytes(compressedBytes: number): number {
  return Math.min(256 * 1024, Math.max(16 * 1024, compressedBytes * 8));
}
