/** PowerShell Direct into simulated guests: a real child PowerShell runs what is sent there. */

import assert from "node:assert/strict";
import { timeoutError } from "../../src/base/deadline.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { HyperV } from "../../src/drivers/hyperv/client.ts";
import { openSecrets } from "../../src/drivers/hyperv/secrets.ts";
import { lineCommand } from "../../src/guest/shells.ts";
import { failureOf } from "../support/failures.ts";
import type { Lab } from "./lab.ts";
import { endSharedHost, faultTest, type HyperVLab } from "../support/hyperv_lab.ts";

const SMALL = { disk_size_mb: 64, memory_mb: 64 };

async function running(lab: Lab): Promise<void> {
  await lab.call("vm_create", { name: "web", ...SMALL });
  await lab.call("vm_start", { vm: "web", until: "heartbeat" });
}

faultTest("streams stay apart, and the exit code is the program's own", async ({ lab }) => {
  await running(lab);
  const result = await lab.exec("web", ["sh", "-c", "echo out; echo err >&2; exit 7"]);
  assert.deepEqual([result.exit_code, result.stdout, result.stderr, result.channel], [
    7,
    "out\n",
    "err\n",
    "psdirect",
  ]);
});

faultTest("arguments arrive byte for byte", async ({ lab }) => {
  await running(lab);
  const words = [
    ...[
      "",
      " ",
      "a b",
      "'",
      '"',
      "\\",
      '\\"',
      "a\\",
      "a b\\",
      "\n",
      "\t",
      "$HOME",
      "%PATH%",
      "&&",
      "--flag",
      "*",
    ],
    ...["é", "😀", "$(throw 1)", "`n", ";", "|", "\\\\", '\\\\"', "‘’“”", "2026-01-01T00:00:00Z", "{}", "@x"],
  ];
  const { stdout } = await lab.exec("web", ["printf", "[%s]", ...words]);
  assert.equal(stdout, words.map((word) => `[${word}]`).join(""));
});

faultTest("much output comes whole and in order", async ({ lab }) => {
  await running(lab);
  const result = await lab.exec("web", ["sh", "-c", "seq 1 20000; seq 1 300 >&2"]);
  const lines = (count: number): string => Array.from({ length: count }, (_, at) => `${at + 1}\n`).join("");
  assert.equal(result.stdout, lines(20_000));
  assert.equal(result.stderr, lines(300));
});

faultTest("a program ends at its limit, and the guest goes on", async (scene) => {
  await running(scene.lab);
  await refuseOutlivingLimit(scene, {});
});

faultTest("what a line for PowerShell says of its failure is plain text", async ({ lab }) => {
  await running(lab);
  const result = await lab.exec("web", lineCommand("pwsh", "Get-Nothing; exit 3"));
  assert.equal(result.exit_code, 3);
  assert.match(result.stderr, /^[^<]*Get-Nothing/);
});

faultTest("commands of one guest overlap", async ({ lab }) => {
  await running(lab);
  const all = [1, 2, 3].map((at) => lab.exec("web", ["sh", "-c", `sleep 0.3; echo ${at}`]));
  assert.deepEqual((await Promise.all(all)).map(({ stdout }) => stdout), ["1\n", "2\n", "3\n"]);
});

faultTest("files go in and come back unchanged", async ({ lab }) => {
  await running(lab);
  const bytes = crypto.getRandomValues(new Uint8Array(60_000));
  await Deno.writeFile(`${lab.root}/in`, bytes);
  const to = { vm: "web", source: `${lab.root}/in`, destination: `${lab.root}/new folder/it's -here` };
  const sent = await lab.call("guest_copy_to", to);
  assert.equal(sent.size_bytes, bytes.length);
  assert.equal((await lab.failure("guest_copy_to", to)).code, "hv.conflict");
  await lab.call("guest_copy_to", { ...to, overwrite: true });
  const back = { vm: "web", source: to.destination, destination: `${lab.root}/out` };
  assert.equal((await lab.call("guest_copy_from", back)).sha256, sent.sha256);
  assert.deepEqual(await Deno.readFile(`${lab.root}/out`), bytes);
  assert.deepEqual([...Deno.readDirSync(`${lab.root}/new folder`)].map(({ name }) => name), ["it's -here"]);
  const missing = await lab.failure("guest_copy_from", {
    ...back,
    source: `${lab.root}/none`,
    overwrite: true,
  });
  assert.equal(missing.code, "hv.not_found");
});

faultTest("what is not there is not found", async ({ lab }) => {
  await running(lab);
  const failure = await lab.failure("guest_exec", { vm: "web", argv: ["no-such-program"] });
  assert.deepEqual([failure.code, failure.context.program], ["hv.not_found", "no-such-program"]);
});

faultTest("a script is gone afterwards, and its exit code is its own", async ({ lab }) => {
  await running(lab);
  const text = 'echo "$# [$1]"; echo "$0"; exit 5';
  const result = await lab.call("guest_script", { vm: "web", text, interpreter: "bash", arg: ["a 'b"] });
  const [first, path = ""] = String(result.stdout).split("\n");
  assert.deepEqual([result.exit_code, first, result.channel], [5, "1 [a 'b]", "psdirect"]);
  assert.match(path, /hvlab-.*\.sh$/);
  await assert.rejects(Deno.stat(path), Deno.errors.NotFound);
});

faultTest("a program reads what is sent, to the last byte", async ({ lab }) => {
  await running(lab);
  const bytes = Uint8Array.from({ length: 700_001 }, (_, at) => (at * 2_654_435_761) >>> 13);
  const input = `${lab.root}/in`;
  await Deno.writeFile(input, bytes);
  const { sha256 } = await lab.call("guest_copy_to", {
    vm: "web",
    source: input,
    destination: `${lab.root}/same`,
  });
  const send = async (argv: string[], source = input) =>
    await lab.call("guest_exec", { vm: "web", argv, stdin: source });
  assert.equal((await send(["sha256sum"])).stdout, `${sha256}  -\n`);
  assert.equal((await send(["sh", "-c", "sleep 1; sha256sum"])).stdout, `${sha256}  -\n`);
  assert.equal((await send(["sh", "-c", "head -c 0; exit 4"])).exit_code, 4);
  await Deno.writeFile(input, new Uint8Array());
  assert.equal((await send(["wc", "-c"])).stdout, "0\n");
  assert.equal((await lab.exec("web", ["wc", "-c"])).stdout, "0\n");
});

faultTest("a program whose time is over before its start is heard of ends too", async ({ lab, world }) => {
  await running(lab);
  await lab.exec("web", ["true"]);
  const mark = `${lab.root}/mark`;
  const seconds = `30${crypto.getRandomValues(new Uint16Array(1))[0]}`;
  const argv = ["sh", "-c", 'touch "$1"; exec sleep "$2"', "sh", mark, seconds];
  const given = new AbortController();
  const call = lab.pipeline.call({ tool: "guest_exec", args: { vm: "web", argv } }, {
    signal: given.signal,
    progress: () => {},
  });
  const failure = failureOf("hv.timeout", () => call);
  while (await world.host.files.stat(mark) === undefined) await world.host.clock.sleep(1);
  given.abort(timeoutError(1_000));
  await failure;
  const count = ["sh", "-c", `ps -eo args | grep -c '^[s]leep ${seconds}'`];
  const limit = AbortSignal.timeout(60_000);
  while ((await lab.exec("web", count)).stdout !== "0\n") await world.host.clock.sleep(50, limit);
});

faultTest("a program that reads nothing ends at its limit all the same", async (scene) => {
  const { lab } = scene;
  await running(lab);
  await Deno.writeFile(`${lab.root}/in`, new Uint8Array(400_000));
  await refuseOutlivingLimit(scene, { stdin: `${lab.root}/in` });
});

/** Fails when a program goes on whose time is over once it has printed something. */
async function refuseOutlivingLimit({ lab, world }: HyperVLab, args: JsonObject): Promise<void> {
  // The guest's processes are this machine's, where the same test may run twice at once.
  const seconds = `30${crypto.getRandomValues(new Uint16Array(1))[0]}`;
  const argv = ["sh", "-c", 'echo begun; exec sleep "$1"', "sh", seconds];
  const given = new AbortController();
  const end = (): Promise<void> => Promise.resolve(given.abort(timeoutError(1_000)));
  const call = lab.pipeline.call({ tool: "guest_exec", args: { vm: "web", argv, ...args } }, {
    signal: given.signal,
    progress: () => {},
    sinks: { stdout: end, stderr: end },
  });
  const { context } = await failureOf("hv.timeout", () => call);
  assert.equal(context.stdout, "begun\n");
  const count = ["sh", "-c", `ps -eo args | grep -c '^[s]leep ${seconds}'`];
  const limit = AbortSignal.timeout(300_000);
  while ((await lab.exec("web", count)).stdout !== "0\n") await world.host.clock.sleep(50, limit);
}

faultTest("what PowerShell Direct cannot do is said", async ({ lab }) => {
  await running(lab);
  const as = await lab.failure("guest_exec", { vm: "web", argv: ["true"], run_as: "other" });
  assert.deepEqual([as.code, as.context.field], ["hv.unsupported", "run_as"]);
  assert.match(as.hint ?? "", /--user and --password-from-env/);
  const other = await lab.failure("guest_exec", { vm: "web", argv: ["true"], channel: "ssh" });
  assert.deepEqual([other.code, other.context.found], ["hv.unsupported", ["psdirect"]]);
});

faultTest("stored logins are used, also to run as somebody else, and are written nowhere", async (scene) => {
  const { lab, world } = scene;
  const passwords = { HVLAB_TEST_FIRST: "lab", HVLAB_TEST_OTHER: `0ther "Pa55" é` };
  for (const [name, value] of Object.entries(passwords)) Deno.env.set(name, value);
  world.variables.delete("HVLAB_GUEST_USER");
  try {
    await running(lab);
    const store = (user: string, variable: string): Promise<JsonObject> =>
      lab.call("guest_credential", { vm: "web", user, password_from_env: variable });
    const asOther = { vm: "web", argv: ["sh", "-c", "echo $USERNAME; exit 6"], run_as: "other" };
    assert.equal((await lab.failure("guest_exec", { vm: "web", argv: ["true"] })).code, "hv.guest_auth");
    await store("other", "HVLAB_TEST_FIRST");
    assert.equal((await lab.failure("guest_exec", asOther)).code, "hv.guest_auth");
    await store("other", "HVLAB_TEST_OTHER");
    assert.equal((await store("lab", "HVLAB_TEST_FIRST")).stored_in, "file");
    assert.equal((await lab.exec("web", ["sh", "-c", "echo $USERNAME"])).stdout, "lab\n");
    const surroundings = { signal: AbortSignal.timeout(300_000), progress: () => {} };
    const other = await lab.pipeline.call({ tool: "guest_exec", args: asOther }, surroundings);
    assert.ok(other.kind === "done");
    assert.deepEqual([other.result.exit_code, other.result.stdout], [6, "other\n"]);
    assert.match(other.warnings.join(), /logged in as "other" with the stored password/);
    const text = 'echo "$USERNAME $1"';
    const script = { vm: "web", text, interpreter: "bash", arg: ["a b"], run_as: "other" };
    assert.equal((await lab.call("guest_script", script)).stdout, "other a b\n");
    assert.equal((await lab.exec("web", ["sh", "-c", "echo $USERNAME"])).stdout, "lab\n");
    for (const folder of [lab.root, world.folder]) {
      const found = await filesWith(folder, ["0ther", btoa("0ther")]);
      assert.deepEqual(found.filter((path) => !path.endsWith("/credential.json")), []);
    }
    const { id } = await lab.vm("vm_get", { vm: "web" });
    await lab.call("guest_credential", { vm: "web", user: "other", forget: true });
    const forgotten = await lab.failure("guest_exec", asOther);
    assert.deepEqual([forgotten.code, forgotten.context.user], ["hv.unsupported", "other"]);
    const guest = `${lab.root}/state/hyperv_guests/${id}`;
    assert.doesNotMatch(await Deno.readTextFile(`${guest}/credential.json`), /0ther/);
    const { confirm } = await lab.plan("vm_delete", { vm: "web" });
    await lab.call("vm_delete", { vm: "web" }, { confirm });
    await assert.rejects(Deno.stat(guest), Deno.errors.NotFound);
  } finally {
    for (const name of Object.keys(passwords)) Deno.env.delete(name);
  }
}, { host: { GuestOthers: { other: `0ther "Pa55" é` } } });

faultTest("where there is no Credential Manager, that is said without the secret", async ({ world }) => {
  const hyperv = new HyperV(world.host);
  try {
    const writing = openSecrets(hyperv).write("vm-1", "lab", "0ther Pa55", AbortSignal.timeout(300_000));
    const failure = await failureOf("hv.unavailable", () => writing);
    assert.match(failure.message, /^Windows Credential Manager does not answer: /);
    assert.equal(failure.context.windows_error, 0);
    assert.doesNotMatch(JSON.stringify(failure.toEnvelope()), /0ther/);
  } finally {
    await hyperv.close();
  }
});

/** The files below a folder that hold one of the texts. */
async function filesWith(folder: string, texts: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory, isFile } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) found.push(...await filesWith(path, texts));
    else if (isFile && path !== `${folder}/host.json`) {
      const content = new TextDecoder("latin1").decode(await Deno.readFile(path));
      if (texts.some((text) => content.includes(text))) found.push(path);
    }
  }
  return found;
}

faultTest("a login is proved, and a refused one ends the wait", async ({ lab, world, another }) => {
  await running(lab);
  const { reached, login } = await lab.call("vm_wait", { vm: "web", until: "login" });
  assert.deepEqual([reached, login], [true, { boot_id: null, channel: "psdirect" }]);
  world.variables.set("HVLAB_GUEST_PASSWORD", "wrong");
  const stranger = await another();
  assert.equal((await stranger.failure("vm_wait", { vm: "web", until: "login" })).code, "hv.guest_auth");
  world.variables.set("HVLAB_GUEST_PASSWORD", "lab");
});

faultTest("a guest's refusal is told from one that boots", async ({ lab, world, another }) => {
  await running(lab);
  world.variables.set("HVLAB_GUEST_PASSWORD", "wrong");
  const stranger = await another();
  const refused = await stranger.failure("guest_exec", { vm: "web", argv: ["true"] });
  assert.equal(refused.code, "hv.guest_auth");
  assert.doesNotMatch(JSON.stringify(refused.toEnvelope()), /wrong/);
  world.variables.delete("HVLAB_GUEST_USER");
  assert.equal((await stranger.failure("guest_exec", { vm: "web", argv: ["true"] })).code, "hv.guest_auth");
  world.variables.set("HVLAB_GUEST_USER", "lab").set("HVLAB_GUEST_PASSWORD", "lab");
  await lab.call("vm_create", { name: "slow", ...SMALL });
  await lab.call("vm_start", { vm: "slow" });
  await lab.call("vm_pause", { vm: "slow" });
  const paused = await lab.failure("guest_exec", { vm: "slow", argv: ["true"] });
  assert.deepEqual([paused.code, paused.context.found], ["hv.conflict", "paused"]);
});

faultTest("a guest without PowerShell Direct is not ready", async ({ lab }) => {
  await lab.call("vm_create", { name: "web", ...SMALL });
  await lab.call("vm_start", { vm: "web" });
  assert.equal((await lab.failure("guest_exec", { vm: "web", argv: ["true"] })).code, "hv.guest_not_ready");
}, { host: { GuestOs: "none" } });

faultTest("a machine that goes off under a program leaves the outcome unknown", async ({ lab, world }) => {
  await running(lab);
  const mark = `${lab.root}/runs`;
  const script = 'touch "$1"; exec sleep 300';
  const outcome = lab.failure("guest_exec", { vm: "web", argv: ["sh", "-c", script, "sh", mark] });
  while (await world.host.files.stat(mark) === undefined) await world.host.clock.sleep(50);
  await lab.call("vm_stop", { vm: "web", mode: "off" });
  assert.equal((await outcome).code, "hv.outcome_unknown");
  await lab.call("vm_start", { vm: "web", until: "heartbeat" });
  assert.equal((await lab.exec("web", ["sh", "-c", "echo again"])).stdout, "again\n");
});

endSharedHost();
