import assert from "node:assert/strict";
import { HvError } from "../../../src/base/errors.ts";
import { commandOf, findCommand, OWN_COMMANDS } from "../../../src/cli/commands.ts";
import { tokenize } from "../../../src/cli/tokens.ts";

const NAMES = ["doctor", "tools_search", "vm_list", "vm_create", "guest_copy_to", ...OWN_COMMANDS];

function find(line: string): { name: string; left: string[] } {
  const { name, tokens } = findCommand(tokenize(line.split(" ")).tokens, NAMES);
  return { name, left: tokens.map(({ text }) => text) };
}

function failureOf(line: string): HvError {
  try {
    find(line);
  } catch (error) {
    if (error instanceof HvError) return error;
  }
  throw new Error(`"${line}" was taken`);
}

Deno.test("commandOf writes a tool as it is typed", () => {
  assert.equal(commandOf("vm_list"), "vm list");
  assert.equal(commandOf("guest_copy_to"), "guest copy-to");
  assert.equal(commandOf("doctor"), "doctor");
});

for (
  const [line, name, left] of [
    ["vm list", "vm_list", []],
    ["guest copy-to web a b", "guest_copy_to", ["web", "a", "b"]],
    ["guest copy to web a b", "guest_copy_to", ["web", "a", "b"]],
    ["tools", "tools", []],
    ["tools search disk", "tools_search", ["disk"]],
    ["doctor vm list", "doctor", ["vm", "list"]],
    ["--memory 2G vm create web", "vm_create", ["--memory", "2G", "web"]],
    ["vm --memory 2G create web", "vm_create", ["--memory", "2G", "web"]],
    ["--name vm vm create", "vm_create", ["--name", "vm"]],
    ["vm list vm create", "vm_list", ["vm", "create"]],
  ] as const
) {
  Deno.test(`findCommand reads "${line}" as ${name}`, () => {
    assert.deepEqual(find(line), { name, left: [...left] });
  });
}

Deno.test("findCommand suggests a noun and lists all", () => {
  const error = failureOf("vmm list");
  assert.equal(error.message, 'Unknown command "vmm"');
  assert.match(error.hint ?? "", /^Did you mean "vm"\? Commands begin with doctor, tools, vm, guest/);
  assert.equal(error.context.suggestion, "vm");
});

Deno.test("findCommand suggests a verb and lists those of the noun alone", () => {
  const error = failureOf("vm lst");
  assert.equal(error.message, 'Unknown command "vm lst"');
  assert.equal(error.hint, 'Did you mean "vm list"? "vm" goes on with list, create');
});

Deno.test("findCommand says what an incomplete command goes on with", () => {
  assert.equal(failureOf("vm").message, 'The command "vm" is not complete');
  assert.equal(failureOf("vm --memory 2G").message, 'The command "vm" is not complete');
});

for (const name of ["vm_list", "hv_vm_list", "vm-list"]) {
  Deno.test(`findCommand leads from the tool's name ${name} to the command`, () => {
    assert.match(failureOf(name).hint ?? "", /^Did you mean "vm list"\?/);
  });
}

Deno.test("findCommand needs a command", () => {
  assert.equal(failureOf("--memory 2G").message, "No command is given");
});

Deno.test("findCommand knows a misspelt flag that stands alone", () => {
  assert.match(failureOf("--hlep").hint ?? "", /^Did you mean "--help"\?/);
});
