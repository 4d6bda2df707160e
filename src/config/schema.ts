/** What may stand in `hvlab.yaml`. Each message says what is allowed at its place. */

import * as z from "zod/mini";
import { HvError } from "../base/errors.ts";
import { parseDuration, parseSize } from "../base/units.ts";
import { TOOL_CLASSES } from "../contract/tool_class.ts";

const FIELDS = "named fields";

const Flag = z.boolean("true or false");

const Name = z.string("a text").check(z.minLength(1, "a text that is not empty"));

const PATH = "a path";
const FilePath = z.string(PATH).check(
  z.minLength(1, "a path that is not empty"),
  z.refine((path) => !path.includes("\0"), "a path without a NUL character"),
  z.refine((path) => !path.startsWith("~"), 'a full path, since "~" is not expanded here'),
);

const COUNT = "a whole number from 1";
const Count = z.int(COUNT).check(z.minimum(1, COUNT));

const MEMORY = "a size such as 512M or 2G, or a whole number of MiB, from 1 MiB";
const Memory = amount(MEMORY, (text) => parseSize(text, "mb"));

const DURATION = "a duration such as 90s, 8h or 7d, or a whole number of seconds, from 1 s";
const Duration = amount(DURATION, (text) => parseDuration(text, "s"));

/** A tool as `guest_exec`, `hv_guest_exec` or as the command `guest exec`; the first form is what comes out. */
const ToolName = z.pipe(
  z.string("a tool's name such as vm_delete").check(
    z.regex(/^(hv_)?[a-z]+([_ -][a-z]+)*$/, "a tool's name such as vm_delete"),
  ),
  z.transform((name) => name.replace(/^hv_/, "").replaceAll(/[ -]/g, "_")),
);

const Deny = z.strictObject({
  classes: z.optional(
    z.array(z.enum(TOOL_CLASSES, `one of ${TOOL_CLASSES.join(", ")}`), "a list of classes"),
  ),
  tools: z.optional(z.array(ToolName, "a list of tools")),
}, FIELDS);

const CHANNELS = ["agent", "ssh", "psdirect"] as const;
const CHANNEL_LIST = "a list of ways into guests, each once";

const MODES = ["standard", "read-only"] as const;

const DEBUGGER_COMMAND = "a debugger command's first word, such as .reload or !process";
const DebuggerCommand = z.string(DEBUGGER_COMMAND).check(
  z.regex(/^[!.]?[A-Za-z][A-Za-z0-9_.]*$/, DEBUGGER_COMMAND),
);

const TAP = "a tap device's name such as tap0";
const Tap = z.string(TAP).check(z.regex(/^[A-Za-z0-9_.-]{1,15}$/, TAP));

const ADDRESS = "an address such as https://example.org/images/";
const Address = z.string(ADDRESS).check(z.regex(/^https?:\/\/[^\s/?#@]+(?:\/[^\s?#]*)?$/i, ADDRESS));

const Policy = z.strictObject({
  mode: z.optional(z.enum(MODES, `one of ${MODES.join(", ")}`)),
  deny: z.optional(Deny),
  vms: z.optional(z.array(Name, "a list of VM names or ids")),
  folders: z.optional(z.array(FilePath, "a list of folders")),
  downloads: z.optional(z.array(Address, "a list of addresses")),
  channels: z.optional(
    z.array(z.enum(CHANNELS, `one of ${CHANNELS.join(", ")}`), CHANNEL_LIST).check(
      z.refine((names) => new Set(names).size === names.length, CHANNEL_LIST),
    ),
  ),
  exec_without_plan: z.optional(z.array(Name, "a list of VM names or ids")),
  plan_for_exec_on_command_line: z.optional(Flag),
  taps: z.optional(z.array(Tap, "a list of tap devices")),
  debugger_commands: z.optional(z.array(DebuggerCommand, "a list of debugger commands")),
}, FIELDS);

const Limits = z.strictObject({
  vms: z.optional(Count),
  memory: z.optional(Memory),
  cpus: z.optional(Count),
  sandbox_ttl: z.optional(Duration),
}, FIELDS);

const NICE = "a whole number from 0 to 19";
const FILES = "a whole number from 256";
const OVERHEAD = "a size such as 4G, or a whole number of MiB, from 2G: emulated code alone takes 1G";

const Qemu = z.strictObject({
  memory_overhead: z.optional(amount(OVERHEAD, (text) => parseSize(text, "mb"), 2048)),
  open_files: z.optional(z.int(FILES).check(z.minimum(256, FILES))),
  nice: z.optional(z.int(NICE).check(z.minimum(0, NICE), z.maximum(19, NICE))),
}, FIELDS);

const Defaults = z.strictObject({
  memory: z.optional(Memory),
  cpus: z.optional(Count),
}, FIELDS);

const PROGRAM = "a program's usual name such as qemu-system-x86_64, without a folder";
const ProgramName = z.string(PROGRAM).check(z.regex(/^[A-Za-z0-9][A-Za-z0-9._+-]*$/, PROGRAM));

/** The whole file. */
export const ConfigFile = z.strictObject({
  state: z.optional(FilePath),
  driver: z.optional(Name),
  images: z.optional(z.array(FilePath, "a list of folders")),
  policy: z.optional(Policy),
  limits: z.optional(Limits),
  qemu: z.optional(Qemu),
  defaults: z.optional(Defaults),
  programs: z.optional(z.record(ProgramName, FilePath, "full paths under the programs' usual names")),
}, FIELDS);
export type ConfigFile = z.infer<typeof ConfigFile>;

/** The keys that are known at each place of the file; the place is written with dots, the top as "". */
export const KNOWN_KEYS: ReadonlyMap<string, readonly string[]> = new Map([
  ["", Object.keys(ConfigFile.shape)],
  ["policy", Object.keys(Policy.shape)],
  ["policy.deny", Object.keys(Deny.shape)],
  ["limits", Object.keys(Limits.shape)],
  ["qemu", Object.keys(Qemu.shape)],
  ["defaults", Object.keys(Defaults.shape)],
]);

function amount(allowed: string, read: (text: string) => number, least = 1) {
  return z.pipe(
    z.union([z.number(), z.string()], allowed),
    z.transform((value, context): number => {
      try {
        const number = typeof value === "number" ? value : read(value);
        if (Number.isSafeInteger(number) && number >= least) return number;
        context.issues.push({ code: "custom", message: allowed, input: value });
      } catch (error) {
        if (!(error instanceof HvError)) throw error;
        context.issues.push({ code: "custom", message: `${allowed} (${error.message})`, input: value });
      }
      return z.NEVER;
    }),
  );
}
