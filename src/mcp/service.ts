/** hvlab's tools as an MCP service: listing and calling, through the same pipeline as the command line. */

import { HvError, toHvError } from "../base/errors.ts";
import type { Dispatcher, Tool } from "../tools/tool.ts";
import type { Session } from "../tools/session.ts";
import { answerOf, failureOf, shortEnvelope } from "./answer.ts";
import { listTools } from "./listing.ts";
import { separateOptions } from "./options.ts";
import { ProgressReporter } from "./progress.ts";
import {
  type CallToolResult,
  type IncomingCall,
  ProtocolError,
  ProtocolErrorCode,
  type Service,
} from "./sdk.ts";
import type { Selection } from "./selection.ts";

const INSTRUCTIONS =
  "hvlab controls test VMs: create, start, stop and delete them, make disposable sandboxes, run programs and copy " +
  "files in guests, and read crash dumps. A vm is named by its id or exact name. Tools are of class R (read), " +
  "M (change), D (lose something) or X (run in a guest). D and X on lasting VMs need a plan: call hv_plan with the " +
  "tool and its args, look at the preview, then pass its confirm. Sandboxes need none. Tools that are not listed are " +
  "found with hv_tools_search and called with hv_read (class R) or hv_call. A call that takes long answers with an op: " +
  "go on with hv_op_wait. Errors carry code, hint and retryable. States are observed, never assumed.";

/** What a service is made of. */
export interface ServiceOptions {
  session: Session;
  pipeline: Dispatcher;
  selection: Selection;
  version: string;
  /** Ends every call that still runs. */
  closing: AbortSignal;
}

/** Offers the session's tools. The list is made when it is first asked for, and stays. */
export function buildService({ session, pipeline, selection, version, closing }: ServiceOptions): Service {
  let list: ReturnType<typeof listTools> | undefined;
  return {
    version,
    instructions: INSTRUCTIONS,
    listTools: () => list ??= listTools(session.catalogue, selection),
    callTool: (call) => callTool(call, { session, pipeline, closing }),
  };
}

async function callTool(
  call: IncomingCall,
  { session, pipeline, closing }: Pick<ServiceOptions, "session" | "pipeline" | "closing">,
): Promise<CallToolResult> {
  const { host, state, catalogue } = session;
  const signal = AbortSignal.any([call.signal, closing]);
  using reporter = call.notify === undefined
    ? undefined
    : new ProgressReporter(call.notify, host.clock, signal);
  try {
    const tool = await loadOrRefuse(call.name, catalogue);
    const { args, options } = separateOptions(tool, call);
    const answer = await pipeline.call({ ...options, tool: tool.name, args }, {
      signal,
      progress: (progress) => reporter?.report(progress),
    });
    return await answerOf(answer, host, state, catalogue.names);
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    const failure = toHvError(error);
    if (failure.code === "hv.internal") await tell(session, failure);
    return failureOf(failure, catalogue.names);
  }
}

/** The protocol wants an unknown tool to be a protocol error, not a tool's result. */
async function loadOrRefuse(name: string, catalogue: Session["catalogue"]): Promise<Tool> {
  try {
    return await catalogue.load(name);
  } catch (error) {
    if (!(error instanceof HvError) || error.code !== "hv.not_found") throw error;
    const hint = error.context.suggestion === undefined ? "Find tools with hv_tools_search" : error.hint;
    const envelope = shortEnvelope(error);
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `${envelope.message}. ${hint}`, {
      ...envelope,
      hint,
    });
  }
}

/** Our own bugs go to stderr whole, since an answer has room for little of them. */
async function tell({ host }: Session, { message, correlationId, context, cause }: HvError): Promise<void> {
  const stack = cause instanceof Error ? cause.stack : JSON.stringify(context);
  const text = `hvlab: ${message} (${correlationId})\n${stack}\n`;
  await host.terminal.stderr.write(new TextEncoder().encode(text)).catch(() => {});
}
