/** One configuration file to a {@link Config}. Loaded only when there is a file to read. */

import { folderOf, isAbsolutePath, resolvePath } from "../base/paths.ts";
import type { Host } from "../host/host.ts";
import { type Config, DEFAULT_CONFIG } from "./config.ts";
import { configFailure, describeIssue, type Problem, unknownName } from "./problems.ts";
import { ConfigFile } from "./schema.ts";
import { parseYaml, placeAt, type YamlDocument, YamlError } from "./yaml.ts";

/** Names that the file may use, for those who know them. What is not given here is not checked. */
export interface KnownNames {
  /** Tools without `hv_`, such as `vm_delete`. */
  tools?: readonly string[];
  drivers?: readonly string[];
}

/** Far more than any configuration needs. */
const LARGEST_FILE_BYTES = 1024 * 1024;

/** Reads and checks a file. Throws `hv.usage` with every problem and its place, or what reading the file threw. */
export async function readConfigFile(host: Host, file: string, known: KnownNames): Promise<Config> {
  const facts = await host.files.stat(file, { follow: true });
  if (facts !== undefined && facts.kind !== "file") {
    throw configFailure(file, [problemOfWhole("it is not a file", "Name a file")]);
  }
  if ((facts?.size_bytes ?? 0) > LARGEST_FILE_BYTES) {
    throw configFailure(file, [problemOfWhole("it is larger than 1 MiB", "Name a configuration file")]);
  }
  return parseConfig(await host.files.readText(file), file, known);
}

/** Checks the text of a configuration file; relative paths in it are relative to `file`'s folder. */
export function parseConfig(text: string, file: string, known: KnownNames = {}): Config {
  const document = parseText(text.replace(/^\uFEFF/, ""), file);
  if (document.data === undefined) return { ...DEFAULT_CONFIG, file };
  const parsed = ConfigFile.safeParse(document.data);
  if (!parsed.success) {
    throw configFailure(
      file,
      parsed.error.issues.flatMap((issue) => describeIssue(issue, document.data, document.placeOf)),
    );
  }
  const problems = findContradictions(parsed.data, document, known);
  if (problems.length > 0) throw configFailure(file, problems);
  return configOf(parsed.data, file);
}

function parseText(text: string, file: string): YamlDocument {
  const replaced = text.indexOf("\uFFFD");
  if (replaced >= 0) {
    const problem = problemOfWhole("a character that is not UTF-8", "Save the file as UTF-8");
    throw configFailure(file, [{ ...problem, place: placeAt(text, replaced) }]);
  }
  try {
    return parseYaml(text);
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    const advice = error.message.includes("escape")
      ? "Write Windows paths without quotes or in single quotes"
      : "Correct the YAML; anchors, aliases, merge keys, tags and duplicate keys are not taken";
    throw configFailure(file, [{ key: "", place: error.place, found: error.message, advice }], error);
  }
}

/** What the schema alone cannot see. */
function findContradictions(data: ConfigFile, { placeOf }: YamlDocument, known: KnownNames): Problem[] {
  const problems: Problem[] = [];
  if (data.driver !== undefined && known.drivers !== undefined && !known.drivers.includes(data.driver)) {
    problems.push(unknownName("driver", data.driver, ["driver"], known.drivers, placeOf));
  }
  for (const [index, tool] of (data.policy?.deny?.tools ?? []).entries()) {
    if (known.tools === undefined || known.tools.includes(tool)) continue;
    problems.push(unknownName("tool", tool, ["policy", "deny", "tools", index], known.tools, placeOf));
  }
  for (const [name, path] of Object.entries(data.programs ?? {})) {
    if (isAbsolutePath(path)) continue;
    const place = placeOf(["programs", name]);
    const advice = "Allowed: the full path of the program";
    problems.push({ key: `programs.${name}`, place, found: `"programs.${name}" is "${path}"`, advice });
  }
  const { memory_mb: memory, cpus } = DEFAULT_CONFIG.limits;
  const usual = { memory, cpus };
  for (const name of ["memory", "cpus"] as const) {
    const wanted = data.defaults?.[name];
    if (wanted === undefined || wanted <= (data.limits?.[name] ?? usual[name])) continue;
    const found = `"defaults.${name}" is more than "limits.${name}"`;
    const advice = "Lower the default or raise the limit";
    problems.push({ key: `defaults.${name}`, place: placeOf(["defaults", name]), found, advice });
  }
  return problems;
}

function configOf(data: ConfigFile, file: string): Config {
  const folder = folderOf(file);
  const full = (path: string): string => resolvePath(folder, path);
  const { policy, limits, defaults, qemu } = DEFAULT_CONFIG;
  const memoryLimit = data.limits?.memory ?? limits.memory_mb;
  const cpuLimit = data.limits?.cpus ?? limits.cpus;
  return {
    file,
    state: data.state === undefined ? null : full(data.state),
    driver: data.driver ?? null,
    images: (data.images ?? []).map(full),
    policy: {
      mode: data.policy?.mode ?? policy.mode,
      deny: { classes: data.policy?.deny?.classes ?? [], tools: data.policy?.deny?.tools ?? [] },
      vms: data.policy?.vms ?? null,
      folders: data.policy?.folders?.map(full) ?? null,
      downloads: data.policy?.downloads ?? null,
      channels: data.policy?.channels ?? null,
      exec_without_plan: data.policy?.exec_without_plan ?? [],
      plan_for_exec_on_command_line: data.policy?.plan_for_exec_on_command_line ??
        policy.plan_for_exec_on_command_line,
      taps: data.policy?.taps ?? [],
      debugger_commands: data.policy?.debugger_commands ?? [],
    },
    limits: {
      vms: data.limits?.vms ?? limits.vms,
      memory_mb: memoryLimit,
      cpus: cpuLimit,
      sandbox_ttl_s: data.limits?.sandbox_ttl ?? limits.sandbox_ttl_s,
    },
    qemu: {
      memory_overhead_mb: data.qemu?.memory_overhead ?? qemu.memory_overhead_mb,
      open_files: data.qemu?.open_files ?? qemu.open_files,
      nice: data.qemu?.nice ?? qemu.nice,
    },
    defaults: {
      memory_mb: data.defaults?.memory ?? Math.min(defaults.memory_mb, memoryLimit),
      cpus: data.defaults?.cpus ?? Math.min(defaults.cpus, cpuLimit),
    },
    programs: new Map(Object.entries(data.programs ?? {})),
  };
}

function problemOfWhole(found: string, advice: string): Problem {
  return { key: "", place: undefined, found, advice };
}
