import assert from "node:assert/strict";
import { VERSION } from "../../src/base/version.ts";
import { hvlabCommand, hvlabEnvironment, runHvlab } from "../support/program.ts";
import { withTemporaryFolder } from "../support/temporary_folder.ts";

Deno.test("hvlab --version", async () => {
  const { code, stdout, stderr } = await runHvlab(["--version"]);
  assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: `hvlab ${VERSION}\n`, stderr: "" });
});

Deno.test("hvlab --help lists every command and needs no folder of the user", async () => {
  const { code, stdout, stderr } = await runHvlab(["--help"]);
  assert.deepEqual([code, stderr], [0, ""]);
  for (const command of ["vm list", "sandbox run", "guest copy-to", "dump inspect", "doctor", "mcp"]) {
    assert.match(stdout, new RegExp(`^  ${command} `, "m"));
  }
});

Deno.test("hvlab tools --json gives one object on stdout", async () => {
  const { code, stdout } = await runHvlab(["tools", "--json"]);
  assert.equal(code, 0);
  const { tools } = JSON.parse(stdout);
  assert.ok(Array.isArray(tools) && tools.length > 20);
});

for (const shell of ["bash", "zsh", "fish", "powershell"]) {
  Deno.test(`hvlab completions ${shell}`, async () => {
    const { code, stdout, stderr } = await runHvlab(["completions", shell]);
    assert.deepEqual([code, stderr], [0, ""]);
    assert.match(stdout, /hvlab/);
    // deno-lint-ignore no-control-regex
    assert.doesNotMatch(stdout, /[\x00-\x08\x0b-\x1f]/);
  });
}

for (
  const [args, exitCode, errorCode] of [
    [["nonsense"], 2, "hv.usage"],
    [["vm", "list", "--jsn"], 2, "hv.usage"],
    [["sandbox", "run", "tiny", "ls"], 125, "hv.usage"],
    [["sandbox", "run", "--wrong", "--", "ls"], 125, "hv.usage"],
    [["dump", "inspect", "/nonexistent/a.dmp"], 3, "hv.not_found"],
    [["vm", "list", "--driver", "xen"], 2, "hv.usage"],
    [["vm", "list", "--config", "/nonexistent.yaml"], 3, "hv.not_found"],
    [["plan", "vm", "list"], 2, "hv.usage"],
    [["version", "--driver", "xen"], 2, "hv.usage"],
    [["op", "list", "--state", import.meta.filename ?? ""], 2, "hv.usage"],
  ] as const
) {
  Deno.test(`hvlab ${args.join(" ")} fails in both forms`, async () => {
    const text = await runHvlab(args);
    assert.deepEqual([text.code, text.stdout], [exitCode, ""]);
    assert.match(text.stderr, new RegExp(`^error: .*\\(${errorCode.replace(".", "\\.")}\\)\\nhint: `));
    const [first, ...rest] = args;
    const json = await runHvlab([first, "--json", ...rest]);
    assert.deepEqual([json.code, json.stderr], [exitCode, ""]);
    assert.equal(JSON.parse(json.stdout).code, errorCode);
  });
}

Deno.test("a misspelt key in the configuration is refused with its line, and stdout parses alone", async () => {
  await withTemporaryFolder(async (home) => {
    await Deno.mkdir(`${home}/config/hvlab`, { recursive: true });
    await Deno.writeTextFile(
      `${home}/config/hvlab/hvlab.yaml`,
      "limits:\n  vms: 3\npolcy:\n  mode: read-only\n",
    );
    const { code, stdout, stderr } = await runHvlab(["vm", "list", "--json"], { home });
    assert.deepEqual([code, stderr], [2, ""]);
    const error = JSON.parse(stdout);
    assert.equal(error.code, "hv.usage");
    assert.match(`${error.message} ${JSON.stringify(error.context)}`, /3/);
    assert.match(`${error.message} ${error.hint}`, /policy/);
  });
});

Deno.test("reading a dump writes nothing and makes no state folder", async () => {
  await withTemporaryFolder(async (home) => {
    await Deno.writeTextFile(`${home}/empty.dmp`, "");
    const { code, stdout } = await runHvlab(["dump", "inspect", "empty.dmp", "--json"], { home, cwd: home });
    assert.equal(code, 14);
    assert.equal(JSON.parse(stdout).code, "hv.bad_dump");
    assert.deepEqual((await Array.fromAsync(Deno.readDir(home))).map(({ name }) => name), ["empty.dmp"]);
  });
});

Deno.test("a command that reads files alone works without any folder of the user", async () => {
  await withTemporaryFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/empty.dmp`, "");
    const { program, args } = hvlabCommand(["dump", "inspect", `${folder}/empty.dmp`, "--json"]);
    const { HOME: _home, XDG_CONFIG_HOME: _config, XDG_STATE_HOME: _state, ...env } = hvlabEnvironment({});
    const { code } = await new Deno.Command(program, { args, clearEnv: true, env }).output();
    assert.equal(code, 14);
  });
});

Deno.test({
  name: "a reader that leaves after one line ends hvlab quietly",
  ignore: Deno.build.os === "windows",
  async fn() {
    const { program, args } = hvlabCommand(["--help"]);
    const line = [program, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
    // The reader has ended before hvlab starts, so the outcome does not hang on who is faster.
    const script = `exec 4> >(true); wait $!; ${line} >&4; echo "$?" >&2`;
    const { stderr } = await new Deno.Command("bash", { args: ["-c", script], env: hvlabEnvironment({}) })
      .output();
    assert.equal(new TextDecoder().decode(stderr), "141\n");
  },
});

Deno.test({
  name: "a full disk behind stdout is told on stderr",
  ignore: Deno.build.os !== "linux",
  async fn() {
    for (const flags of [[], ["--json"]]) {
      const { program, args } = hvlabCommand(["tools", ...flags]);
      const line = [program, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
      const { code, stderr } = await new Deno.Command("bash", {
        args: ["-c", `${line} >/dev/full`],
        env: hvlabEnvironment({}),
      }).output();
      assert.equal(code, 15);
      assert.match(new TextDecoder().decode(stderr), /^error: .*the disk is full \(hv\.io\)/);
    }
  },
});

Deno.test("what the runtime never opens is told with a way that works", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  const { code, stderr } = await runHvlab(["dump", "inspect", "/dev/stdin"]);
  assert.equal(code, 5);
  assert.match(stderr, /hint: .*copy it into an ordinary file/);
});

Deno.test("a call that is handed on says the line that makes the other tool's token", async () => {
  const { code, stderr } = await runHvlab(["call", "--tool", "vm_cleanup"]);
  assert.equal(code, 6);
  assert.match(stderr, /hint: Make one with hvlab plan vm cleanup --json /);
});
