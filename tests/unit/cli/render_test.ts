import assert from "node:assert/strict";
import { displayWidth, inColumns } from "../../../src/cli/columns.ts";
import { renderObject } from "../../../src/cli/render.ts";
import { catalogue } from "../../../src/tools/table.ts";

Deno.test("displayWidth counts wide and combining characters as a terminal does", () => {
  assert.equal(displayWidth("abc"), 3);
  assert.equal(displayWidth("箱"), 2);
  assert.equal(displayWidth("🙂"), 2);
  assert.equal(displayWidth("e\u0301"), 1);
});

Deno.test("inColumns aligns cells and leaves no spaces at the ends of lines", () => {
  assert.equal(inColumns([["a", "bb", ""], ["箱子", "c", "d"]]), "a     bb\n箱子  c   d");
});

Deno.test("renderObject shows units, and the exact size beside a rounded one", () => {
  assert.equal(
    renderObject({
      name: "web",
      memory_mb: 2048,
      size_bytes: 1536,
      small_bytes: 12,
      uptime_s: 90,
      took_ms: 1500,
      sandbox: false,
      gone: null,
      labels: ["a", "b"],
      none: [],
    }),
    [
      "name:     web",
      "memory:   2 GiB",
      "size:     1.5 KiB (1536 bytes)",
      "small:    12 B",
      "uptime:   1 min 30 s",
      "took:     1.5 s",
      "sandbox:  no",
      "gone:     -",
      "labels:   a, b",
      "none:     -",
    ].join("\n"),
  );
});

Deno.test("renderObject shows a list alone as a table, with a dash where a field is missing", () => {
  assert.equal(
    renderObject({ vms: [{ name: "a", size_bytes: 2048 }, { name: "bb", memory_mb: 256 }] }),
    ["NAME  SIZE   MEMORY", "a     2 KiB  -", "bb    -      256 MiB"].join("\n"),
  );
});

Deno.test("renderObject says that a list is empty", () => {
  assert.equal(renderObject({ skipped_paths: [] }), "No skipped paths");
});

Deno.test("renderObject puts inner objects and tables below", () => {
  assert.equal(
    renderObject({ reached: true, vm: { name: "a" }, disks: [{ path: "/d" }] }),
    ["reached:  yes", "vm:", "  name:  a", "disks:", "  PATH", "  /d"].join("\n"),
  );
});

Deno.test("renderObject lets no text of others act on the terminal or break its lines", () => {
  assert.equal(
    renderObject({ name: "a\x1b[2J\nstate:  off", "k\x07": "v", list: ["\x9b\n"] }),
    ["k\\x07:  v", "list:   \\x9b\\x0a", "name:", "  a\\x1b[2J", "  state:  off"].join("\n"),
  );
});

Deno.test("renderObject prints what a program wrote as lines, and its size under a name of its own", () => {
  assert.equal(
    renderObject({
      result: { exit_code: 0, stdout: "1\n2\n", stderr: "one\r\n", stdout_bytes: 4, stderr_bytes: 5 },
    }),
    [
      "result:",
      "  exit code:     0",
      "  stderr:        one",
      "  stdout bytes:  4 B",
      "  stderr bytes:  5 B",
      "  stdout:",
      "    1",
      "    2",
    ].join("\n"),
  );
});

Deno.test("renderObject shows the chosen columns in their order, without those that no row has", () => {
  const result = { vms: [{ id: "1", name: "web", state: "off" }, { id: "2", name: "db", state: "running" }] };
  assert.equal(
    renderObject(result, ["name", "state", "state_reason", "id"]),
    "NAME  STATE    ID\nweb   off      1\ndb    running  2",
  );
  assert.equal(renderObject({ vms: [] }, ["name"]), "No vms");
});

Deno.test("people see an operation's outcome and not its result", async () => {
  const tool = await catalogue.load("op_list");
  const operation = {
    op: "op-1",
    tool: "vm_start",
    target: null,
    state: "failed",
    started_at: "A",
    ended_at: "B",
  };
  assert.equal(
    renderObject(
      { operations: [{ ...operation, result: { a: 1 }, progress: { message: "b" } }] },
      tool.columns,
    ),
    "STATE   TOOL      TARGET  STARTED AT  ENDED AT  OP\nfailed  vm_start  -       A           B         op-1",
  );
});

Deno.test("a clean-up without leftovers says so", async () => {
  const tool = await catalogue.load("vm_cleanup");
  assert.equal(tool.render({ removed: [] }), "Nothing was removed");
  assert.equal(tool.render({ removed: [{ id: "1", removed: true, files: [] }] }), undefined);
});
