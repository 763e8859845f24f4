/**
 * The work in one transaction: the order and its event are both there, or neither. A connection that is lost in between fails the work alone:
 * without a listener, Node would end the process, and the pool must not hand the connection out again.
 * @template Made
 * @param {import("pg").Pool} database
 * @param {(client: import("pg").PoolClient) => Promise<Made>} work
 */
export async function inTransaction(database, work) {
  const client = await database.connect();
  /** @type {Error | undefined} */
  let lost;
  /** @param {Error} error */
  const onLost = (error) => void (lost ??= error);
  client.on("error", onLost);
  try {
    await client.query("begin");
    const made = await work(client);
    await client.query("commit");
    return made;
  } catch (error) {
    await client.query("rollback").catch(onLost); // the error to tell of is the first one
    throw error;
  } finally {
    if (lost === undefined) client.off("error", onLost);
    client.release(lost);
  }
}
