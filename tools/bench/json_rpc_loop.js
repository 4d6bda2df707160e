// The least that answers `initialize` and `tools/list` over stdio, by hand: the yardstick for `hvlab mcp`.

const decoder = new TextDecoder();
const encoder = new TextEncoder();
let rest = "";

const handlers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "by-hand", version: "0" },
  }),
  "tools/list": () => ({
    tools: [{ name: "nothing", description: "Does nothing", inputSchema: { type: "object" } }],
  }),
  ping: () => ({}),
};

async function answer(line) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const handler = handlers[method];
  const body = handler === undefined
    ? { error: { code: -32601, message: `Method not found: ${method}` } }
    : { result: handler(params ?? {}) };
  await writeAll(encoder.encode(`${JSON.stringify({ jsonrpc: "2.0", id, ...body })}\n`));
}

async function writeAll(bytes) {
  let written = 0;
  while (written < bytes.length) written += await Deno.stdout.write(bytes.subarray(written));
}

for await (const chunk of Deno.stdin.readable) {
  rest += decoder.decode(chunk, { stream: true });
  const lines = rest.split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) if (line.trim() !== "") await answer(line);
}
