import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { once } from "node:events";
import { BenchError } from "../bench-error.ts";
import { assetAt } from "./assets.ts";
import { answer, answerJson, commonHeaders } from "./http-answers.ts";
import { reportHeaders, reportPage } from "./report-pages.ts";
import { createRequestGuard, type RequestGuard } from "./request-guard.ts";
import { answerApi, keptRun, type UiParts } from "./routes.ts";

const maxHeaderBytes = 16 * 1024;
const requestTimeoutMs = 30_000;
const maxConnections = 128;

/** The page, while it is served. */
export interface UiServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Listens on loopback alone. @throws BenchError if the port is taken */
export async function startUiServer(parts: UiParts, token: string, port: number): Promise<UiServer> {
  let guard: RequestGuard = () => ({ status: 421, sentence: "Not ready yet." });
  const server = createServer({ maxHeaderSize: maxHeaderBytes, requestTimeout: requestTimeoutMs }, (request, response) => {
    void answerRequest(parts, guard, request, response);
  });
  server.maxConnections = maxConnections;
  const listening = await listen(server, port);
  guard = createRequestGuard(listening, token);
  return {
    port: listening,
    async close() {
      parts.events.close();
      const closed = once(server, "close");
      server.close();
      server.closeIdleConnections();
      // Answers that are being written get a moment; a reader that does not read gets no more.
      const force = setTimeout(() => server.closeAllConnections(), 100);
      await closed;
      clearTimeout(force);
    },
  };
}

async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === "EADDRINUSE" ? "another program has it" : code === "EACCES" ? "it may not be used" : (code ?? "unknown reason");
    throw new BenchError("usage", `cannot listen on 127.0.0.1:${port} (${reason}): give another --port, or none for a free one.`, {
      cause: error,
    });
  }
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : port;
}

async function answerRequest(parts: UiParts, guard: RequestGuard, request: IncomingMessage, response: ServerResponse): Promise<void> {
  Object.entries(commonHeaders).forEach(([name, value]) => response.setHeader(name, value));
  response.on("error", () => response.destroy());
  const [path = "/"] = (request.url ?? "/").split("?");
  const refusal = guard({ method: request.method ?? "", path, headers: request.headers });
  if (refusal !== null) {
    request.resume();
    answerJson(response, refusal.status, { error: refusal.sentence, field: null });
    return;
  }
  try {
    await (path.startsWith("/api/") ? answerApi(parts, request, response) : answerFile(parts, path, response));
  } catch {
    response.destroy();
  }
}

async function answerFile(parts: UiParts, path: string, response: ServerResponse): Promise<void> {
  const asset = await assetAt(path);
  if (asset !== null) {
    answer(response, 200, asset.type, asset.bytes);
    return;
  }
  const id = parts.reports.idAt(path);
  if (id === null) {
    answer(response, 404, "text/plain; charset=utf-8", "There is nothing at this address.\n");
    return;
  }
  try {
    answer(response, 200, "text/html; charset=utf-8", reportPage(await keptRun(parts.kept, id)), reportHeaders);
  } catch (error) {
    answer(response, 404, "text/plain; charset=utf-8", `${(error as Error).message}\n`);
  }
}
