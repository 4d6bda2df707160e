/** The only file that sees the MCP SDK. What hvlab serves is said in its own terms; here it becomes protocol. */

import {
  type CallToolResult,
  type JSONRPCMessage,
  parseJSONRPCMessage,
  ProtocolError,
  ProtocolErrorCode,
  type RequestId,
  Server,
  type ServerContext,
  type Tool as ListedTool,
  type Transport,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

export { parseJSONRPCMessage, ProtocolError, ProtocolErrorCode };
export type { CallToolResult, JSONRPCMessage, ListedTool, RequestId, Transport };

/** One `tools/call`, with the protocol around it taken away. */
export interface IncomingCall {
  name: string;
  arguments: unknown;
  meta: Record<string, unknown>;
  signal: AbortSignal;
  /** Sends a progress notification; absent when the caller did not ask for progress. */
  notify: ((progress: { progress: number; total?: number; message: string }) => Promise<void>) | undefined;
}

/** What a server offers. */
export interface Service {
  version: string;
  instructions: string;
  listTools: () => Promise<ListedTool[]>;
  callTool: (call: IncomingCall) => Promise<CallToolResult>;
}

/** How long a client may keep the tool list: it never changes while the server runs. */
const LIST_LIFE_MS = 3_600_000;

/** Makes one server instance of a service; both protocol eras are served by the same instance kind. */
export function buildServer(service: Service): Server {
  const server = new Server({ name: "hvlab", title: "hvlab", version: service.version }, {
    capabilities: { tools: {} },
    instructions: service.instructions,
    cacheHints: {
      "tools/list": { ttlMs: LIST_LIFE_MS, cacheScope: "public" },
      "server/discover": { ttlMs: LIST_LIFE_MS, cacheScope: "public" },
    },
  });
  server.setRequestHandler("tools/list", async ({ params }) => {
    refuseCursor(params?.cursor);
    return { tools: await service.listTools() };
  });
  server.setRequestHandler("tools/call", async ({ params }, context) =>
    await service.callTool({
      name: params.name,
      arguments: params.arguments ?? {},
      meta: { ...params._meta },
      signal: context.mcpReq.signal,
      notify: notifierOf(context),
    }));
  return server;
}

/** Serves over a transport until its other side goes away; `closed` resolves then. */
export function serveOverTransport(service: Service, transport: Transport): { close: () => Promise<void> } {
  return serveStdio(() => buildServer(service), { transport });
}

/** The list is one page, so no cursor was ever given out. */
function refuseCursor(cursor: string | undefined): void {
  if (cursor === undefined) return;
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    "There is one page, and no cursor leads on from it",
  );
}

function notifierOf({ mcpReq }: ServerContext): IncomingCall["notify"] {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  return (progress) =>
    mcpReq.notify({ method: "notifications/progress", params: { progressToken, ...progress } });
}
