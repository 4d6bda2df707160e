import assert from "node:assert/strict";
import { joinPath } from "../../../src/base/paths.ts";
import { VERSION } from "../../../src/base/version.ts";
import { runCommandLine } from "../../support/command_line.ts";
import { withTemporaryFolder } from "../../support/temporary_folder.ts";

Deno.test("--version prints the version and loads no tool", async () => {
  const { code, out, err, loadedTools } = await runCommandLine(["vm", "--version"]);
  assert.deepEqual({ code, out, err, loadedTools }, {
    code: 0,
    out: `hvlab ${VERSION}\n`,
    err: "",
    loadedTools: [],
  });
});

Deno.test("--json gives exactly one object on stdout, warnings inside, nothing on stderr", async () => {
  const { code, out, err } = await runCommandLine(["box", "list", "--json"]);
  assert.equal(code, 0);
  assert.equal(err, "");
  assert.deepEqual(JSON.parse(out), {
    boxes: [{ name: "tiny\x07", size_bytes: 2048 }, { name: "箱", size_bytes: 10 }],
    warnings: ["one box\x1b[2J is damaged"],
  });
  assert.equal(out.trimEnd().split("\n").length, 1);
});

Deno.test("text goes to stdout and warnings to stderr, both without control characters", async () => {
  const { out, err } = await runCommandLine(["box", "list"]);
  assert.equal(out, "NAME      SIZE\ntiny\\x07  2 KiB\n箱        10 B\n");
  assert.equal(err, "warning: one box\\x1b[2J is damaged\n");
});

Deno.test("--quiet leaves warnings out", async () => {
  assert.equal((await runCommandLine(["box", "list", "--quiet"])).err, "");
});

Deno.test("a failure is told on stderr with its code and hint", async () => {
  const { code, out, err } = await runCommandLine(["box", "get", "x\ny"]);
  assert.equal(code, 3);
  assert.equal(out, "");
  assert.equal(
    err,
    'error: There is no box "x\\x0ay" (hv.not_found)\nhint: List them with `hvlab box list`\n',
  );
});

Deno.test("under --json a failure is the one object on stdout", async () => {
  const { code, out, err } = await runCommandLine(["box", "get", "x", "--json"]);
  assert.equal(code, 3);
  assert.equal(err, "");
  const { correlation_id: id, ...error } = JSON.parse(out);
  assert.match(id, /^[0-9a-f-]{36}$/);
  assert.deepEqual(error, {
    code: "hv.not_found",
    message: 'There is no box "x"',
    retryable: false,
    hint: "List them with `hvlab box list`",
    context: {},
  });
});

for (
  const argv of [["nonsense"], ["box", "get"], ["box", "get", "--state"], ["box", "get", "x", "--confg", "y"]]
) {
  Deno.test(`a wrong command line gives 2, as JSON too: ${argv.join(" ")}`, async () => {
    const text = await runCommandLine(argv);
    assert.equal(text.code, 2);
    assert.match(text.err, /^error: .* \(hv\.usage\)\nhint: /);
    const json = await runCommandLine(["--json", ...argv]);
    assert.equal(json.code, 2);
    assert.equal(JSON.parse(json.out).code, "hv.usage");
    assert.equal(json.err, "");
  });
}

for (
  const argv of [["box", "run"], ["box", "run", "a", "b"], ["box", "run", "--state"], [
    "box",
    "run",
    "a",
    "--x",
    "--",
    "b",
  ]]
) {
  Deno.test(`a wrong command line of a tool that runs a program gives 125: ${argv.join(" ")}`, async () => {
    assert.equal((await runCommandLine(argv)).code, 125);
  });
}

Deno.test("a broken configuration fails a program's tool with 125 and others with their own code", async () => {
  const config = ["--config", "/nonexistent/hvlab.yaml"];
  assert.equal((await runCommandLine(["box", "run", "a", ...config, "--", "exit", "0"])).code, 125);
  assert.equal((await runCommandLine(["box", "get", "good", ...config])).code, 3);
});

Deno.test("permissions that the tool can do without are dropped", async () => {
  assert.deepEqual((await runCommandLine(["file", "pick-from", "red"])).dropped, ["run", "net"]);
  assert.deepEqual((await runCommandLine(["box", "list"])).dropped, []);
});

Deno.test("a reader that goes away ends the command quietly", async () => {
  const { code, err } = await runCommandLine(["box", "list", "--quiet"], { readerLeavesAfter: 3 });
  assert.deepEqual([code, err], [141, ""]);
});

Deno.test("a command that reads needs no home folder", async () => {
  const { code, out } = await runCommandLine(["box", "get", "good", "--json"]);
  assert.equal(code, 0);
  assert.deepEqual(JSON.parse(out), { name: "good" });
});

Deno.test("signals are watched while a call runs and not afterwards", async () => {
  const { terminal } = await runCommandLine(["box", "list"]);
  assert.equal(terminal.isWatched, false);
});

Deno.test("tools lists every tool with its class", async () => {
  const { out } = await runCommandLine(["tools"]);
  assert.match(out, /^box delete {6}D {2}Delete a box$/m);
  assert.match(out, /^file pick-from {2}R {2}Pick files$/m);
  const json = JSON.parse((await runCommandLine(["tools", "--json"])).out);
  assert.deepEqual(json.tools[1], {
    name: "hv_box_make",
    command: "box make",
    class: "M",
    family: "vm",
    summary: "Make a box",
  });
});

Deno.test("version names the runtime, the protocol and the folders", async () => {
  const { out } = await runCommandLine(["version", "--json", "--state", "/here"]);
  const { version, deno, protocol_revisions, driver, state, config } = JSON.parse(out);
  assert.deepEqual({ version, deno, protocol_revisions, driver, state, config }, {
    version: VERSION,
    deno: Deno.version.deno,
    protocol_revisions: ["2025-11-25", "2026-07-28"],
    driver: "qemu",
    state: "/here",
    config: null,
  });
});

Deno.test("the state folder comes from the flag, the environment, the platform, in this order", async () => {
  const stateOf = async (argv: string[], env: Record<string, string> = {}): Promise<string> =>
    JSON.parse((await runCommandLine(["version", "--json", ...argv], { env, folder: "/f" })).out).state;
  assert.equal(await stateOf(["--state=/flag"], { HVLAB_STATE: "/env" }), "/flag");
  assert.equal(await stateOf([], { HVLAB_STATE: "/env" }), "/env");
  assert.equal(await stateOf([]), "/f/state");
  assert.equal(await stateOf(["--state", "sub"]), joinPath(await Deno.realPath("."), "sub"));
});

Deno.test("mcp hands its flags to the server and gives the server's exit code", async () => {
  const { code, served } = await runCommandLine([
    "mcp",
    "--toolsets",
    "vm,guest",
    "--toolsets=dump",
    "--read-only",
  ]);
  assert.equal(code, 3);
  const [options] = served;
  assert.deepEqual(options?.toolsets, ["vm", "guest", "dump"]);
  assert.equal(options?.readOnly, true);
  assert.equal(options?.version, VERSION);
});

for (
  const argv of [["mcp", "--json"], ["mcp", "x"], ["mcp", "--read-only=1"], ["mcp", "--tolsets", "vm"], [
    "tools",
    "x",
  ]]
) {
  Deno.test(`${argv.join(" ")} is refused`, async () => {
    const { code, served } = await runCommandLine(argv);
    assert.deepEqual([code, served.length], [2, 0]);
  });
}

Deno.test("plan takes the planned command's own arguments and gives the token", async () => {
  await withTemporaryFolder(async (folder) => {
    const { code, out } = await runCommandLine(["plan", "box", "delete", "web", "--json"], { folder });
    assert.equal(code, 0);
    const plan = JSON.parse(out);
    assert.equal(plan.confirm, `${plan.plan_id}:${plan.digest}`);
    assert.equal(plan.preview.summary, 'Delete the box "web"');
    const done = await runCommandLine(["box", "delete", "web", "--confirm", plan.confirm, "--json"], {
      folder,
    });
    assert.deepEqual(JSON.parse(done.out), { deleted: "web" });
  });
});

Deno.test("without a terminal a destructive call needs a token", async () => {
  const { code, err } = await runCommandLine(["box", "delete", "web"]);
  assert.equal(code, 6);
  assert.match(err, /hvlab plan box delete web/);
});

Deno.test("a value out of bounds is named by its flag", async () => {
  const { code, err } = await runCommandLine(["box", "make", "web", "--memory=-5"]);
  assert.equal(code, 2);
  assert.match(
    err,
    /^error: --memory is -5 MiB, but at least 16 is wanted \(hv\.usage\)\nhint: Usage: hvlab box make NAME/,
  );
});

Deno.test("what needs a plan says that the name confirms too", async () => {
  await withTemporaryFolder(async (folder) => {
    const missing = await runCommandLine(["box", "delete", "web"], { folder });
    assert.match(missing.err, /\(hv\.plan_required\)\nhint: .* or give --confirm web\n/);
    const wrong = await runCommandLine(["box", "delete", "web", "--confirm", "wbe"], { folder });
    assert.match(wrong.err, /\(hv\.plan_invalid\)\nhint: .* or give --confirm web\n/);
  });
});

Deno.test("mcp does not offer the global flag that it refuses", async () => {
  assert.equal(
    JSON.parse((await runCommandLine(["mcp", "--json"])).out).hint,
    "It takes --toolsets, --read-only",
  );
});

Deno.test("a state folder that is none, and a driver that is none, are refused by commands that need neither", async () => {
  await withTemporaryFolder(async (folder) => {
    const file = joinPath(folder, "file");
    await Deno.writeTextFile(file, "");
    for (const flags of [["--state", file], ["--driver", "xen"], ["--driver="]]) {
      const { code, out, served } = await runCommandLine(["version", ...flags], { folder });
      assert.deepEqual([code, out, served], [2, "", []], flags.join(" "));
    }
    assert.equal(
      (await runCommandLine(["version", "--state", joinPath(folder, "none")], { folder })).code,
      0,
    );
  });
});
