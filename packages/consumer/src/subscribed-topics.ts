/** Whether a consumer of these topics reads the topic of this name. */
export function isSubscribed(topics: readonly (string | RegExp)[], text: string): boolean {
  return topics.some((topic) => (typeof topic === "string" ? topic === text : text.search(topic) !== -1));
}
