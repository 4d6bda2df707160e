/** Which QEMU this host has: its place, version and pinned machine type, asked once for each binary. */

import { HvError } from "../../../base/errors.ts";
import { isPlainObject } from "../../../base/json.ts";
import { waitForAll } from "../../../base/wait_for_all.ts";
import { QEMU, QEMU_IMG, type QemuContext } from "../context.ts";

/** What is known of the installed QEMU. */
export interface QemuProgram {
  path: string;
  /** Such as `7.2.22`. */
  version: string;
  /** What the alias `q35` means for it, such as `pc-q35-7.2`. */
  machine: string;
}

const APT_HINT = "Run: apt-get install qemu-system-x86 qemu-utils";

/** Where QEMU is. Throws `hv.unavailable` when it is not installed. */
export async function findQemu(context: QemuContext): Promise<string> {
  return await findProgram(context, QEMU);
}

/** Where qemu-img is. Throws `hv.unavailable` when it is not installed. */
export async function findQemuImg(context: QemuContext): Promise<string> {
  return await findProgram(context, QEMU_IMG);
}

async function findProgram({ host }: QemuContext, program: string): Promise<string> {
  const path = await host.processes.find(program);
  if (path !== undefined) return path;
  throw new HvError("hv.unavailable", `Cannot find "${program}" on PATH`, {
    hint: host.os === "linux" ? APT_HINT : 'Install QEMU, or name its place under "programs" in hvlab.yaml',
    context: { program },
    retryable: false,
  });
}

/**
 * The facts of the installed QEMU. They are kept under the binary's path, time and size, so that a start needs no
 * process for them. `remember` writes what had to be asked; only changing calls do that.
 */
export async function readQemuProgram(
  context: QemuContext,
  options: { remember: boolean; signal?: AbortSignal },
): Promise<QemuProgram> {
  const path = await findQemu(context);
  const facts = await context.host.files.stat(path, { follow: true });
  const key = `qemu/program/${path}/${facts?.modified ?? 0}/${facts?.size_bytes ?? 0}`;
  const known = asProgram(await context.findings.get(key), path);
  if (known !== undefined) return known;
  const [version, machines] = await waitForAll([
    ask(context, ["--version"], options.signal),
    ask(context, ["-machine", "help"], options.signal),
  ]);
  const found = { path, version: parseVersion(version), machine: parseMachine(machines) };
  if (options.remember) await context.findings.put(key, { version: found.version, machine: found.machine });
  return found;
}

async function ask({ host }: QemuContext, args: string[], signal?: AbortSignal): Promise<string> {
  const finished = await host.processes.run(QEMU, args, signal === undefined ? {} : { signal });
  const text = new TextDecoder().decode(finished.stdout);
  if (finished.code === 0) return text;
  const words = new TextDecoder().decode(finished.stderr).trim();
  throw new HvError(
    "hv.unavailable",
    `Cannot run "${QEMU} ${args.join(" ")}": ${words || `exit code ${finished.code}`}`,
    {
      hint: "Repair the installation of QEMU",
      context: { program: QEMU, exit_code: finished.code },
      retryable: false,
    },
  );
}

/** Reads `QEMU emulator version 7.2.22 (Debian ...)`. */
export function parseVersion(text: string): string {
  const version = /version (\d+\.\d+(?:\.\d+)?)/.exec(text)?.[1];
  if (version !== undefined) return version;
  throw new HvError("hv.unavailable", `"${QEMU} --version" does not name a version: "${text.slice(0, 80)}"`, {
    hint: "Check that the program of this name is QEMU",
    retryable: false,
  });
}

/** Reads the line `q35 ... (alias of pc-q35-7.2)` of the machine list. */
export function parseMachine(text: string): string {
  const machine = /^q35\s.*\(alias of (pc-q35-[^\s)]+)\)/m.exec(text)?.[1];
  if (machine !== undefined) return machine;
  throw new HvError("hv.unavailable", `This QEMU has no machine type "q35"`, {
    hint: "Install the full qemu-system-x86 package",
    retryable: false,
  });
}

function asProgram(value: unknown, path: string): QemuProgram | undefined {
  if (!isPlainObject(value)) return undefined;
  const { version, machine } = value;
  return typeof version === "string" && typeof machine === "string" ? { path, version, machine } : undefined;
}
