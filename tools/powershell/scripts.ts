/** What PowerShell scripts use, as PowerShell's own parser sees them. */

import * as z from "zod/mini";
import { ROOT } from "../programs.ts";

const Place = { line: z.int() };

/** One script. Lines count from 1. */
export const Script = z.object({
  path: z.string(),
  errors: z.array(z.object({ what: z.string(), ...Place })),
  functions: z.array(z.string()),
  commands: z.array(z.object({
    /** As written: `Hyper-V\Get-VM`, or empty where a variable is called. */
    name: z.string(),
    /** Named parameters, those that are splatted from a table in the same function too. */
    parameters: z.array(z.string()),
    splats: z.array(z.string()),
    /** Bare and quoted words among its arguments. */
    values: z.array(z.string()),
    ...Place,
  })),
  statics: z.array(z.object({ type: z.string(), member: z.string(), ...Place })),
  members: z.array(z.object({ member: z.string(), ...Place })),
  types: z.array(z.object({ type: z.string(), ...Place })),
  variables: z.array(z.object({ name: z.string(), ...Place })),
  /** Syntax that Windows PowerShell 5.1 does not know. */
  newer: z.array(z.object({ what: z.string(), ...Place })),
});
export type Script = z.infer<typeof Script>;

const READER = `${ROOT}/tools/powershell/read_scripts.ps1`;

/** Reads scripts with the given PowerShell 7; it knows the newer syntax and so can name it. */
export async function readScripts(pwsh: string, paths: readonly string[]): Promise<Script[]> {
  const { success, stdout, stderr } = await new Deno.Command(pwsh, {
    args: ["-NoProfile", "-NonInteractive", "-File", READER, ...paths],
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).output();
  const decoder = new TextDecoder();
  if (!success) throw new Error(`The scripts cannot be read: ${decoder.decode(stderr)}`);
  return z.object({ scripts: z.array(Script) }).parse(JSON.parse(decoder.decode(stdout))).scripts;
}
