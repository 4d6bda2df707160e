// The client of the SDK's first major line, on Node: node THIS SDK_FOLDER SERVER. Prints what it saw as JSON.

import { pathToFileURL } from "node:url";

const [sdk, server] = process.argv.slice(2);
const load = (file) => import(pathToFileURL(`${sdk}/dist/esm/client/${file}`).href);
const { Client } = await load("index.js");
const { StdioClientTransport } = await load("stdio.js");

const client = new Client({ name: "first major", version: "1" });
await client.connect(new StdioClientTransport({ command: server, args: [] }));
const { tools } = await client.listTools();
const answer = await client.callTool({ name: "hv_vm_list", arguments: {} });
const failure = await client.callTool({ name: "hv_vm_stop", arguments: { vm: "none" } });
const unknown = await client.callTool({ name: "hv_nothing_like_it" }).catch(({ code }) => ({ code }));
await client.close();
console.log(
  JSON.stringify({
    tools: tools.length,
    data: answer.structuredContent,
    failed: failure.isError,
    code: unknown.code,
  }),
);
