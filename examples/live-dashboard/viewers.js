// Server-sent events to everybody who has the page open.
const maxWaitingBytes = 1_000_000;
const keepAliveMs = 15_000;

/** @typedef {import("node:http").ServerResponse} ServerResponse */

export function createViewers() {
  /** @type {Set<ServerResponse>} */
  const viewers = new Set();
  // A proxy closes a connection on which nothing comes.
  const keepAlive = setInterval(() => send(": still there\n\n"), keepAliveMs).unref();

  /** @param {string} text */
  function send(text) {
    for (const viewer of viewers) {
      if (viewer.writableLength > maxWaitingBytes) {
        viewer.destroy(); // it does not keep up: its browser connects again and begins with the rows as they are then
      } else {
        viewer.write(text);
      }
    }
  }

  return {
    /** @param {ServerResponse} response @param {unknown} first what it is sent at once @param {string} name */
    add(response, name, first) {
      response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
      response.write(eventText(name, first));
      viewers.add(response);
      response.once("close", () => viewers.delete(response));
    },

    /** @param {string} name @param {unknown} data */
    send: (name, data) => send(eventText(name, data)),

    close() {
      clearInterval(keepAlive);
      for (const viewer of viewers) viewer.end();
    },
  };
}

/** JSON has no line breaks outside of its texts, and none in them: an event is a line. @param {string} name @param {unknown} data */
function eventText(name, data) {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
