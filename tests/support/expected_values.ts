/** Values that others found for the shared samples: JSON manifests, and what the real debugger printed. */

import assert from "node:assert/strict";
import { type JsonObject, type JsonValue, parseJson } from "../../src/base/json.ts";
import { hasSample, readSample, samplePath } from "./shared_samples.ts";

/** A JSON file of the samples. */
export function readExpected(name: string): JsonObject {
  return asObject(parseJson(Deno.readTextFileSync(samplePath(name))));
}

export function asObject(value: JsonValue | undefined): JsonObject {
  assert(typeof value === "object" && value !== null && !Array.isArray(value));
  return value;
}

export function asList(value: JsonValue | undefined): JsonValue[] {
  assert(Array.isArray(value));
  return value;
}

export function asText(value: JsonValue | undefined): string {
  assert(typeof value === "string");
  return value;
}

/** A number in whichever way it was written. */
export function asNumber(value: JsonValue | undefined): bigint {
  assert(typeof value === "string" || typeof value === "number");
  return BigInt(value);
}

/** Registers and other numbers by name. */
export function asNumbers(value: JsonValue | undefined): Map<string, bigint> {
  return new Map(Object.entries(asObject(value)).map(([name, number]) => [name, asNumber(number)]));
}

/** Bytes as hexadecimal digits; null for bytes that are not there. */
export function hexBytes(bytes: Uint8Array | undefined): string | null {
  return bytes === undefined ? null : [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** What the debugger printed for each command of its first pass, by the command; null when it is not there. */
export function debuggerOutput(sample: string): ReadonlyMap<string, string> | null {
  const name = `dumps/oracle-outputs/dbgeng/${sample}.txt`;
  return hasSample(name) ? sections(new TextDecoder().decode(readSample(name))) : null;
}

/** The first text of each command between the lines that mark its begin and end. */
export function sections(text: string): ReadonlyMap<string, string> {
  const outputs = new Map<string, string>();
  for (const [, command, output] of text.matchAll(/^==== begin \d+ (.+)\n([\s\S]*?)^==== end /gm)) {
    if (command !== undefined && output !== undefined && !outputs.has(command)) outputs.set(command, output);
  }
  return outputs;
}

/** The registers in the debugger's text. */
export function printedRegisters(text: string): Map<string, bigint> {
  return new Map(
    [...text.matchAll(/\b([a-z][a-z0-9]{1,3})= ?([0-9a-f]{4,16})\b/g)]
      .map(([, name = "", value = "0"]) => [name, BigInt(`0x${value}`)]),
  );
}

/** Start and end of the modules in the debugger's list, loaded and unloaded. */
export function printedModules(text: string): { loaded: [bigint, bigint][]; unloaded: [bigint, bigint][] } {
  const [loaded = "", unloaded = ""] = text.split("Unloaded modules:");
  return { loaded: ranges(loaded), unloaded: ranges(unloaded) };
}

/** Lines of memory as the debugger dumps it (`dq`, `db`): address and bytes, what is missing left out. */
export function printedMemory(text: string): { address: bigint; bytes: string }[] {
  return [...text.matchAll(/^([0-9a-f]{8}(?:`[0-9a-f]{8})?) {2}(.+)$/gm)].map(
    ([, address = "", rest = ""]) => {
      const words = [...rest.matchAll(/([0-9a-f]{8})`([0-9a-f]{8})/g)];
      const bytes = words.length > 0
        ? words.map(([, high = "", low = ""]) => reversed(high + low)).join("")
        : rest.slice(0, 47).replaceAll(/[^0-9a-f]/g, "");
      return { address: pointer(address), bytes };
    },
  );
}

function ranges(text: string): [bigint, bigint][] {
  return [...text.matchAll(/^([0-9a-f`]{8,17}) ([0-9a-f`]{8,17}) {2,}\S/gm)]
    .map(([, start = "", end = ""]) => [pointer(start), pointer(end)]);
}

function pointer(text: string): bigint {
  return BigInt(`0x${text.replace("`", "")}`);
}

function reversed(digits: string): string {
  return (digits.match(/../g) ?? []).reverse().join("");
}
