import assert from "node:assert/strict";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { HvError } from "../../../src/base/errors.ts";
import { isPlainObject } from "../../../src/base/json.ts";
import { listTools } from "../../../src/mcp/listing.ts";
import type { ListedTool } from "../../../src/mcp/sdk.ts";
import { readToolsets, type Selection } from "../../../src/mcp/selection.ts";
import { catalogue } from "../../../src/tools/table.ts";

const list = (selection: Partial<Selection> = {}): Promise<ListedTool[]> =>
  listTools(catalogue, { toolsets: [], readOnly: false, ...selection });

/** What a host puts before its model: name, description and input schema. */
function tokensOf(tools: readonly ListedTool[]): number {
  return tools.reduce(
    (sum, { name, description, inputSchema }) =>
      sum + encode(JSON.stringify({ name, description, inputSchema })).length,
    0,
  );
}

/** Every schema inside a schema, with the way to it. */
function* schemasIn(
  schema: unknown,
  path: string,
): Generator<[path: string, schema: Record<string, unknown>]> {
  if (!isPlainObject(schema)) return;
  yield [path, schema];
  for (const [name, inner] of Object.entries(isPlainObject(schema.properties) ? schema.properties : {})) {
    yield* schemasIn(inner, `${path}.${name}`);
  }
  yield* schemasIn(schema.items, `${path}[]`);
}

Deno.test("the default list has at most 20 tools and 1,800 tokens", async () => {
  const tools = await list();
  assert.deepEqual(
    tools.map(({ name }) => name),
    [...catalogue.defaultProfile].map((name) => `hv_${name}`).sort(),
  );
  assert.ok(tools.length <= 20, `${tools.length} tools`);
  assert.ok(tokensOf(tools) <= 1_800, `${tokensOf(tools)} tokens`);
});

Deno.test("everything listed stays under 9,000 tokens", async () => {
  const tools = await list({ toolsets: ["all"] });
  const forTerminals = (await catalogue.loadAll()).filter(({ terminalOnly }) => terminalOnly);
  assert.deepEqual(forTerminals.map(({ name }) => name), ["console_attach", "guest_shell"]);
  assert.equal(tools.length, catalogue.names.length - forTerminals.length);
  assert.ok(tokensOf(tools) < 9_000, `${tokensOf(tools)} tokens`);
});

Deno.test("a toolset lists its family, alone or beside the default profile", async () => {
  const families = new Map((await catalogue.loadAll()).map(({ name, family }) => [`hv_${name}`, family]));
  const alone = await list({ toolsets: ["image"] });
  assert.ok(alone.length > 1);
  assert.ok(alone.every(({ name }) => families.get(name) === "image"));
  const names = (await list({ toolsets: ["default", "image"] })).map(({ name }) => name);
  const wanted = [...await list(), ...alone].map(({ name }) => name);
  assert.deepEqual(names, [...new Set(wanted)].sort());
});

Deno.test("rare fields are listed where their toolset is asked for, and only there", async () => {
  const fieldsOf = async (toolsets: string[]): Promise<string[]> => {
    const listed = (await list({ toolsets })).find(({ name }) => name === "hv_vm_create");
    return Object.keys(listed?.inputSchema.properties ?? {});
  };
  const [usual, whole] = [await fieldsOf([]), await fieldsOf(["default", "vm"])];
  const { unlisted } = await catalogue.load("vm_create");
  assert.ok(unlisted.length > 0);
  assert.deepEqual(whole.filter((field) => !usual.includes(field)).sort(), [...unlisted].sort());
});

Deno.test("a read-only server lists reading tools only", async () => {
  const tools = await list({ toolsets: ["all"], readOnly: true });
  const reading = (await catalogue.loadAll()).filter((tool) => tool.class === "R");
  assert.deepEqual(tools.map(({ name }) => name), reading.map(({ name }) => `hv_${name}`).sort());
});

Deno.test("an unknown toolset is refused with the one that was meant", () => {
  assert.deepEqual(readToolsets(["vm", "all"]), ["vm", "all"]);
  assert.throws(
    () => readToolsets(["vm", "sandbx"]),
    (error) =>
      error instanceof HvError && error.code === "hv.usage" && error.hint === 'Did you mean "sandbox"?',
  );
});

Deno.test("every schema is one that strict clients take", async () => {
  for (const { name, inputSchema } of await list({ toolsets: ["all"] })) {
    assert.match(name, /^hv_[a-z_]{1,60}$/);
    assert.equal(inputSchema.type, "object", name);
    for (const [path, schema] of schemasIn(inputSchema, name)) {
      assert.equal(typeof schema.type, "string", `${path} has no single type`);
      for (const word of ["$schema", "$ref", "anyOf", "oneOf", "allOf", "not", "prefixItems", "const"]) {
        assert.ok(!(word in schema), `${path} has ${word}`);
      }
      if (schema.type === "integer") {
        assert.ok("minimum" in schema && "maximum" in schema, `${path} has no bounds`);
      }
      if (schema.type === "array") assert.ok(isPlainObject(schema.items), `${path} has no items`);
    }
  }
});

Deno.test("options of the pipeline are listed where the contract says", async () => {
  const classes = new Map((await catalogue.loadAll()).map((tool) => [`hv_${tool.name}`, tool]));
  for (const { name, inputSchema, annotations } of await list({ toolsets: ["all"] })) {
    const tool = classes.get(name);
    const listed = Object.keys(inputSchema.properties ?? {});
    const kind = tool?.class ?? "none";
    assert.equal(listed.includes("confirm"), kind === "D" || kind === "X", name);
    assert.equal(listed.includes("wait_s"), kind === "X" || tool?.waits === true, name);
    assert.equal(annotations?.readOnlyHint, kind === "R", name);
    assert.equal(annotations?.destructiveHint, kind === "D" || kind === "X", name);
  }
});
