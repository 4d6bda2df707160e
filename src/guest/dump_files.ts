/** The crash dumps that a guest keeps, as the guest itself lists them. */

import { HvError } from "../base/errors.ts";
import { BoundedBytes } from "../base/bounded_bytes.ts";
import type { GuestChannel, GuestFamily } from "./channel.ts";
import { encodedCommand } from "./windows/encoded_command.ts";

/** A dump in a guest. */
export interface GuestDump {
  readonly path: string;
  readonly size_bytes: number;
  /** Its name apart from other dumps' of the same guest, safe on every host: the folder is part of it where it counts. */
  readonly name: string;
}

/**
 * The memory of the kernel that crashed, while the one that saves it runs; then what that one has saved. One line
 * each: size, tab, path. Names with line breaks are left out.
 */
const POSIX_SCRIPT = `for f in /proc/vmcore /var/crash/vmcore* /var/crash/*.dmp /var/crash/dump* \\
  /var/crash/*/vmcore* /var/crash/*/dump* /var/crash/*/*.dmp; do
  [ -f "$f" ] && [ -r "$f" ] || continue
  case $f in *.txt|*.log|*'
'*) continue ;; esac
  printf '%s\\t%s\\n' "$(stat -c %s -- "$f" 2>/dev/null || echo 0)" "$f"
done
exit 0`;

/**
 * What the settings of this Windows say, then where it keeps live dumps. Paths travel in base64: the encoding of a
 * console changes letters.
 */
export const WINDOWS_SCRIPT = `$ErrorActionPreference = 'SilentlyContinue'
$settings = Get-ItemProperty -LiteralPath 'HKLM:\\SYSTEM\\CurrentControlSet\\Control\\CrashControl'
$root = [Environment]::ExpandEnvironmentVariables('%SystemRoot%')
$file = if ($settings.DumpFile) { $settings.DumpFile } else { '%SystemRoot%\\MEMORY.DMP' }
$small = if ($settings.MinidumpDir) { $settings.MinidumpDir } else { '%SystemRoot%\\Minidump' }
$found = @(Get-Item -Force -LiteralPath ([Environment]::ExpandEnvironmentVariables($file)))
$found += @(Get-ChildItem -Force -File -LiteralPath ([Environment]::ExpandEnvironmentVariables($small)) -Filter '*.dmp')
$found += @(Get-ChildItem -Force -File -Recurse -LiteralPath (Join-Path $root 'LiveKernelReports') -Filter '*.dmp')
foreach ($one in $found) {
  if ($null -eq $one -or $one.PSIsContainer) { continue }
  $path = [Convert]::ToBase64String([Text.Encoding]::UTF8.GetBytes($one.FullName))
  [Console]::Out.WriteLine([string]$one.Length + [char]9 + $path)
}
exit 0
`;

const COMMANDS: Readonly<Record<GuestFamily, readonly string[]>> = {
  posix: ["sh", "-c", POSIX_SCRIPT],
  windows: encodedCommand("powershell.exe", WINDOWS_SCRIPT),
};

const LIST_BYTES = 4 * 1024 * 1024;
const MOST_DUMPS = 256;

/** Lists them. Fails as the channel does, and with `hv.job_failed` when the guest cannot list. */
export async function listGuestDumps(channel: GuestChannel, signal: AbortSignal): Promise<GuestDump[]> {
  const stdout = new BoundedBytes({ head: LIST_BYTES, tail: 1 });
  const stderr = new BoundedBytes({ head: 4096, tail: 1 });
  const sink = (kept: BoundedBytes) => (bytes: Uint8Array): Promise<void> =>
    Promise.resolve(kept.push(bytes));
  const exit = await channel.exec(
    { argv: COMMANDS[channel.family] },
    { stdout: sink(stdout), stderr: sink(stderr) },
    signal,
  );
  if (exit.exit_code !== 0) {
    throw new HvError(
      "hv.job_failed",
      `Cannot list the guest's dumps: its shell ended with ${exit.exit_code}`,
      {
        hint: "Look whether the guest is well, or leave it out: --no-guest",
        context: { exit_code: exit.exit_code, signal: exit.signal, stderr: stderr.toText().text },
      },
    );
  }
  return readList(stdout.toText().text, channel.family);
}

/** Reads the lines that the scripts print; whatever is none of them is passed over. */
export function readList(text: string, family: GuestFamily): GuestDump[] {
  const dumps: GuestDump[] = [];
  const taken = new Set<string>();
  for (const line of text.split(/\r?\n/)) {
    const [, size, word] = /^(\d{1,16})\t(.+)$/.exec(line) ?? [];
    if (size === undefined || word === undefined || dumps.length >= MOST_DUMPS) continue;
    const path = family === "windows" ? decoded(word) : word;
    if (path === undefined || dumps.some((dump) => dump.path === path)) continue;
    const name = freeName(safeName(path.split(family === "windows" ? /[\\/]/ : "/")), taken);
    dumps.push({ path, size_bytes: Number(size), name });
  }
  return dumps;
}

/** Folders whose name says nothing of the dump in them. */
const PLAIN_FOLDERS: ReadonlySet<string> = new Set([
  "crash",
  "proc",
  "windows",
  "minidump",
  "livekernelreports",
  "",
]);

/** The last part of a path, with its folder when that tells dumps apart. The guest's own names never reach a path. */
function safeName(parts: readonly string[]): string {
  const [folder = "", file = ""] = parts.slice(-2);
  const words = PLAIN_FOLDERS.has(folder.toLowerCase()) ? [file] : [folder, file];
  const safe = words.map((word) => word.replace(/[^A-Za-z0-9._-]+/g, "_").replace(/^\.+/, "_")).join("-");
  return safe.slice(-120).replace(/^\.+/, "_") || "dump";
}

function freeName(name: string, taken: Set<string>): string {
  let free = name;
  for (let count = 2; taken.has(free.toLowerCase()); count++) free = `${count}-${name}`;
  taken.add(free.toLowerCase());
  return free;
}

function decoded(word: string): string | undefined {
  try {
    const path = new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.fromBase64(word));
    return path.includes("\0") || path === "" ? undefined : path;
  } catch {
    return undefined;
  }
}
