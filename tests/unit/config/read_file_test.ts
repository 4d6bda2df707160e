import assert from "node:assert/strict";
import fc from "fast-check";
import { DEFAULT_CONFIG } from "../../../src/config/config.ts";
import { parseConfig } from "../../../src/config/read_file.ts";
import { HvError } from "../../../src/base/errors.ts";

const FILE = "/etc/hvlab/hvlab.yaml";
const KNOWN = {
  tools: ["vm_delete", "vm_nmi", "console_type", "guest_copy_to"],
  drivers: ["qemu", "hyperv"],
};

function failureOf(text: string): HvError {
  try {
    parseConfig(text, FILE, KNOWN);
  } catch (error) {
    if (error instanceof HvError) return error;
    throw error;
  }
  throw new Error("the file was taken");
}

Deno.test("the example in the documentation loads and uses every key", async () => {
  const text = await Deno.readTextFile(new URL("../../../docs/configuration.md", import.meta.url));
  const example = /<!-- example -->\s*```yaml\n([\s\S]*?)```/.exec(text)?.[1] ?? "";
  assert.deepEqual(parseConfig(example, FILE, KNOWN), {
    file: FILE,
    state: "/srv/hvlab",
    driver: "qemu",
    images: ["/srv/hvlab-images", "/etc/hvlab/more-images"],
    policy: {
      mode: "standard",
      deny: { classes: ["D"], tools: ["vm_nmi", "console_type"] },
      vms: ["web", "vm-0b3f2c1e-5a77-4e1b-9d5e-0f6a1c2b3d4e"],
      folders: ["/srv/exchange"],
      downloads: ["https://cloud.example.org/images/"],
      channels: ["ssh", "agent"],
      exec_without_plan: ["web"],
      plan_for_exec_on_command_line: true,
      taps: ["tap0"],
      debugger_commands: [".reload", "!process"],
    },
    limits: { vms: 8, memory_mb: 4096, cpus: 4, sandbox_ttl_s: 8 * 3600 },
    qemu: { memory_overhead_mb: 6144, open_files: 2048, nice: 5 },
    defaults: { memory_mb: 512, cpus: 2 },
    programs: new Map([["qemu-system-x86_64", "/opt/qemu/bin/qemu-system-x86_64"]]),
  });
});

for (const text of ["", "\n", "# only a comment\n", "\uFEFF", "{}\n"]) {
  Deno.test(`the text ${JSON.stringify(text)} is the default`, () => {
    assert.deepEqual(parseConfig(text, FILE), { ...DEFAULT_CONFIG, file: FILE });
  });
}

Deno.test("bare numbers are in the field's own unit", () => {
  const config = parseConfig("limits: {memory: 2048, sandbox_ttl: 90}\ndefaults: {memory: 1.5G}\n", FILE);
  assert.equal(config.limits.memory_mb, 2048);
  assert.equal(config.limits.sandbox_ttl_s, 90);
  assert.equal(config.defaults.memory_mb, 1536);
});

Deno.test("a limit under the default takes the default down with it", () => {
  const config = parseConfig("limits: {memory: 256M}\n", FILE);
  assert.equal(config.defaults.memory_mb, 256);
});

Deno.test("a denied tool may be written as a tool and as a command", () => {
  const tools = "[vm_nmi, hv_vm_delete, console type, guest copy-to]";
  const config = parseConfig(`policy: {deny: {tools: ${tools}}}`, FILE, KNOWN);
  assert.deepEqual(config.policy.deny.tools, ["vm_nmi", "vm_delete", "console_type", "guest_copy_to"]);
});

Deno.test("an empty list of allowed VMs, folders or addresses allows none", () => {
  const { policy } = parseConfig("policy: {vms: [], folders: [], downloads: []}\n", FILE);
  assert.deepEqual([policy.vms, policy.folders, policy.downloads], [[], [], []]);
});

/** Text, line, column, a part of the message, a part of the hint. */
const REFUSED: [string, number | undefined, number | undefined, string, string][] = [
  ["policy:\n  readonly: true\n", 2, 3, 'unknown key "readonly" in "policy"', "Known here: mode, deny"],
  ["policy:\n  mod: standard\n", 2, 3, 'unknown key "mod" in "policy"', 'Did you mean "mode"?'],
  ["Policy: {}\n", 1, 1, 'unknown key "Policy"', 'Did you mean "policy"?'],
  ["mode: read-only\n", 1, 1, 'unknown key "mode"', 'Did you mean "policy.mode"?'],
  ["policy:\n  mode: readonly\n", 2, 3, '"policy.mode" is the text "readonly"', 'Did you mean "read-only"?'],
  [
    "policy:\n  deny:\n    classes: [M, d]\n",
    3,
    18,
    '"policy.deny.classes[1]" is the text "d"',
    '"D"? Allowed',
  ],
  ["policy:\n  deny:\n    tools: [vm_delte]\n", 3, 13, 'no tool "vm_delte"', 'Did you mean "vm_delete"?'],
  ["policy:\n  deny: D\n", 2, 3, '"policy.deny" is the text "D"', "named fields"],
  ["policy:\n  deny:\n    classes: D\n", 3, 5, '"policy.deny.classes" is the text "D"', "a list of classes"],
  ["policy:\n", 1, 1, '"policy" is empty', "remove the line"],
  ["policy:\n  vms:\n  mode: standard\n", 2, 3, '"policy.vms" is empty', "a list of VM names"],
  ["policy:\n  channels: [agent, shh]\n", 2, 21, '"policy.channels[1]" is the text "shh"', '"ssh"? Allowed'],
  ["policy:\n  channels: ssh\n", 2, 3, '"policy.channels" is the text "ssh"', "a list of ways into guests"],
  ["policy:\n  channels: [ssh, ssh]\n", 2, 3, '"policy.channels"', "each once"],
  ["policy:\n  vms: web\n", 2, 3, '"policy.vms" is the text "web"', "a list of VM names"],
  ["policy:\n  vms: ['']\n", 2, 9, '"policy.vms[0]" is the text ""', "not empty"],
  ["policy:\n  plan_for_exec_on_command_line: yes\n", 2, 3, 'is the text "yes"', "true or false"],
  ["limits:\n  vms: 0\n", 2, 3, '"limits.vms" is 0', "from 1"],
  ["limits:\n  vms: 1.5\n", 2, 3, '"limits.vms" is 1.5', "whole number"],
  ["qemu:\n  nice: 20\n", 2, 3, '"qemu.nice" is 20', "from 0 to 19"],
  ["qemu:\n  open_files: 64\n", 2, 3, '"qemu.open_files" is 64', "from 256"],
  ["qemu:\n  memory_overhead: 1G\n", 2, 3, '"1G"', "from 2G"],
  ["limits:\n  memory: 2 parsecs\n", 2, 3, '"2 parsecs"', 'Cannot read "2 parsecs" as a size'],
  ["limits:\n  memory: 1000K\n", 2, 3, '"1000K"', "not a whole number of MiB"],
  ["limits:\n  memory: -5\n", 2, 3, '"limits.memory" is -5', "512M or 2G"],
  ["limits:\n  memory: true\n", 2, 3, '"limits.memory" is true', "512M or 2G"],
  ["limits:\n  sandbox_ttl: 500ms\n", 2, 3, '"500ms"', "a duration such as 90s"],
  ["limits:\n  memory_mb: 5\n", 2, 3, 'unknown key "memory_mb" in "limits"', 'Did you mean "memory"?'],
  ["limits: {memory: 1G}\ndefaults: {memory: 2G}\n", 2, 12, '"defaults.memory" is more than', "Lower"],
  ["driver: quemu\n", 1, 1, 'there is no driver "quemu"', 'Did you mean "qemu"? Known: qemu, hyperv'],
  ["state: ~/lab\n", 1, 1, '"state" is the text "~/lab"', '"~" is not expanded'],
  ["images: [a, ~/b]\n", 1, 13, '"images[1]" is the text "~/b"', '"~" is not expanded'],
  ["programs: {qemu-img: bin/qemu-img}\n", 1, 12, '"programs.qemu-img" is "bin/qemu-img"', "full path"],
  ["programs:\n  /bin/sh: /bin/sh\n", 2, 3, '"/bin/sh" cannot be a key', "usual name"],
  ["driver: a\ndriver: b\n", 2, 1, '"driver" stands here twice', "duplicate keys"],
  ["policy:\n  mode: standard\n  'mode': read-only\n", 3, 3, '"mode" stands here twice', "duplicate keys"],
  ["images: &a [x]\npolicy: {folders: *a}\n", 1, 9, "an anchor", "aliases"],
  ["policy: {folders: *a}\n", 1, 19, "an alias", "aliases"],
  ["driver: qemu\nstate: &here /lab\n", 2, 8, "an anchor", "anchors"],
  ["driver: qemu\npolicy: &p\n  mode: standard\n", 2, 9, "an anchor", "anchors"],
  ["driver: qemu\n&k state: /lab\n", 2, 1, "an anchor", "anchors"],
  ["limits:\n  vms: !!int '3'\n", 2, 8, "a tag", "tags"],
  ["driver: qemu\nstate: ! /lab\n", 2, 8, "a tag", "tags"],
  ["driver: qemu\npolicy:\n  vms:\n    - web\n    -\n", 3, 3, '"policy.vms[1]" is empty', "a text"],
  ["defaults:\n  cpus: 300\n", 2, 3, '"defaults.cpus" is more than "limits.cpus"', "raise the limit"],
  ["\uFEFFdrivr: qemu\n", 1, 1, 'unknown key "drivr"', "driver"],
  ["\uFEFF# a\r\n# b\r  \ndrivr: qemu\n", 4, 1, 'unknown key "drivr"', "driver"],
  ["state: /a\n---\nstate: /b\n", undefined, undefined, "more than one document", "YAML"],
  ["<<: {driver: qemu}\n", 1, 1, 'unknown key "<<"', "Known here"],
  ["__proto__: {mode: 1}\n", 1, 1, '"__proto__" is refused', "YAML"],
  ["? {a: b}\n: c\n", 1, 3, "a key must be a plain text", "YAML"],
  ["driver: !secret x\n", 1, 9, "tag", "tags"],
  ["driver: [a\n", 2, 1, "indentation", "YAML"],
  ['state: "C:\\lab"\n', 1, 12, "escape", "without quotes"],
  ["a: 1\n---\nb: 2\n", undefined, undefined, "more than one document", "YAML"],
  ["- a\n", 1, 1, "the file is a list", "named fields"],
  ["just text\n", 1, 1, 'the file is the text "just text"', "named fields"],
  ["driver: \uFFFD\n", 1, 9, "not UTF-8", "UTF-8"],
  [`images: ${"[".repeat(50)}${"]".repeat(50)}\n`, 1, 24, "maxDepth", "YAML"],
];

for (const [text, line, column, message, hint] of REFUSED) {
  Deno.test(`refused with its place: ${JSON.stringify(text.slice(0, 60))}`, () => {
    const error = failureOf(text);
    assert.equal(error.code, "hv.usage");
    assert.ok(error.message.startsWith(`Cannot use "${FILE}": `), error.message);
    assert.ok(error.message.includes(message), error.message);
    assert.ok(error.hint?.includes(hint), error.hint);
    assert.deepEqual([error.context["line"], error.context["column"]], [line, column]);
    assert.equal(error.context["file"], FILE);
  });
}

Deno.test("all problems of a file are told at once", () => {
  const error = failureOf("drivr: qemu\nlimits:\n  vms: none\n  cpu: 2\n");
  assert.match(error.message, /\(and 2 more, see the context\)$/);
  const problems = error.context["problems"];
  assert.ok(Array.isArray(problems));
  assert.equal(problems.length, 3);
});

Deno.test("a file with very many mistakes is refused at once, and says that it tells some of them", () => {
  const keys = Array.from({ length: 20_000 }, (_, index) => `  unknown${index}: 1\n`);
  const started = performance.now();
  const { message, context } = failureOf(`policy:\n${keys.join("")}`);
  // It took ten minutes when every mistake counted the lines before it anew.
  assert.ok(performance.now() - started < 60_000);
  assert.match(message, /line 2, column 3: unknown key "unknown0" .*and 19999 more/);
  const { problems, truncated } = context;
  assert.ok(Array.isArray(problems));
  assert.equal(problems.length, 100);
  assert.equal(truncated, true);
});

Deno.test("a long text is quoted in part", () => {
  const { message } = failureOf(`policy:\n  mode: ${"x".repeat(100_000)}\n  ${"y".repeat(100_000)}: 1\n`);
  assert.ok(message.length < 1_000, `${message.length}`);
});

Deno.test("any text is taken or refused with hv.usage, and nothing else happens", () => {
  const word = fc.constantFrom(
    "policy",
    "mode",
    "limits",
    "memory",
    ": ",
    "\n",
    "  ",
    "- ",
    "[",
    "]",
    "{",
    "}",
    "2G",
    "'",
    "&a",
    "*a",
    "!t",
    "#",
    "~",
    "null",
    "__proto__",
  );
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.array(word, { maxLength: 30 }).map((words) => words.join(""))),
      (text) => {
        try {
          assert.equal(parseConfig(text, FILE).file, FILE);
        } catch (error) {
          assert.ok(error instanceof HvError, String(error));
          assert.equal(error.code, "hv.usage");
        }
      },
    ),
    { numRuns: 500 },
  );
});

Deno.test("one letter wrong in any key is refused", () => {
  const keys = ["mode", "deny", "vms", "folders", "exec_without_plan", "plan_for_exec_on_command_line"];
  fc.assert(
    fc.property(fc.constantFrom(...keys), fc.nat(), fc.constantFrom("x", "_", "E", ""), (key, at, letter) => {
      const index = at % key.length;
      const wrong = key.slice(0, index) + letter + key.slice(index + 1);
      fc.pre(!keys.includes(wrong) && wrong !== "");
      assert.match(failureOf(`policy:\n  ${wrong}: standard\n`).message, /line 2, column 3: unknown key/);
    }),
  );
});
