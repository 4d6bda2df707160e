/** One host on stdin and stdout, from the first message to the end. */

import { HvError } from "../base/errors.ts";
import type { Config } from "../config/config.ts";
import type { Host } from "../host/host.ts";
import type { StateFolder } from "../state/layout.ts";
import { Pipeline } from "../tools/call.ts";
import { Session, type SessionOptions } from "../tools/session.ts";
import { catalogue } from "../tools/table.ts";
import { serveOverTransport } from "./sdk.ts";
import type { Selection } from "./selection.ts";
import { buildService } from "./service.ts";
import { StdioTransport } from "./stdio_transport.ts";

/** What a connection is made of. */
export interface ConnectionOptions {
  host: Host;
  config: Config;
  state: StateFolder;
  driverName?: string;
  version: string;
  /** Opens the driver; tests put an in-memory one in its place. */
  openDriver?: SessionOptions["openDriver"];
  /** Starts a keeper; without it none is ever started. */
  startKeeper?: SessionOptions["startKeeper"];
  startFollower?: SessionOptions["startFollower"];
  selection: Selection;
  /** Aborted from here when the host goes away, and from outside to end the connection. */
  closing: AbortController;
}

/** An open connection. */
export interface Connection {
  /**
   * Aborts what runs, waits until it is undone and recorded, and writes what is still to be written. False when the
   * host did not take all that was written.
   */
  close(): Promise<boolean>;
}

/** Begins to serve. Nothing is made, started or written before the first call of a tool. */
export function openConnection(options: ConnectionOptions): Connection {
  const { host, state, selection, version, closing, driverName, openDriver, startKeeper, startFollower } =
    options;
  const session = new Session({
    host,
    config: selection.readOnly ? readOnlyConfig(options.config) : options.config,
    state,
    door: "mcp",
    catalogue,
    ...(driverName === undefined ? {} : { driverName }),
    ...(openDriver === undefined ? {} : { openDriver }),
    ...(startKeeper === undefined ? {} : { startKeeper }),
    ...(startFollower === undefined ? {} : { startFollower }),
  });
  const calls = new AbortController();
  const endCalls = (): void =>
    calls.abort(new HvError("hv.cancelled", "The MCP server ended while the call ran", { retryable: true }));
  const transport = new StdioTransport({
    terminal: host.terminal,
    clock: host.clock,
    ended: () => closing.abort(),
  });
  const service = buildService({
    session,
    pipeline: new Pipeline(session),
    selection,
    version,
    closing: calls.signal,
  });
  const server = serveOverTransport(service, transport);
  return {
    async close() {
      endCalls();
      await server.close();
      await session[Symbol.asyncDispose]();
      return await transport.flush();
    },
  };
}

function readOnlyConfig(config: Config): Config {
  return { ...config, policy: { ...config.policy, mode: "read-only" } };
}
