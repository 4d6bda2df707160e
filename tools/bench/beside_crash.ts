/** A triage beside the program `crash` on the same core, where that is installed with the debug symbols of the guest's kernel. */

import { isJsonObject, type JsonObject, parseJson } from "../../src/base/json.ts";
import { canRunGuests, findTinyImage, hasProgram } from "../../tests/support/tiny_image.ts";
import { bundleArguments } from "./program.ts";
import { measureSideBySide, type Row } from "./report.ts";

const ROUNDS = 5;
/** What it answers is what a triage answers: the machine, the stack, the modules, the log. */
const COMMANDS = "sys\nbt\nmod\nlog\nquit\n";
/** Where Debian's `-dbg` package of a kernel puts it. */
const DEBUG_FOLDER = "/usr/lib/debug/boot";
const CRASHED = 126;

/**
 * Crashes a guest and measures both on all of its memory, since `crash` asks for more than a reduced core holds. Where
 * something is missing the only row says what.
 */
export async function measureBesideCrash(): Promise<Row[]> {
  if (!hasProgram("crash")) return notRun("the program is not installed");
  if (!canRunGuests()) return notRun("there is no tiny guest to crash");
  const folder = await Deno.makeTempDir();
  try {
    const { path, release } = await collectCore(folder);
    const vmlinux = Deno.env.get("HVLAB_CRASH_VMLINUX") || `${DEBUG_FOLDER}/vmlinux-${release}`;
    if (!await isFile(vmlinux)) {
      return notRun(`there is no ${vmlinux}; HVLAB_CRASH_VMLINUX names another one`);
    }
    await Deno.writeTextFile(`${folder}/commands`, COMMANDS);
    const [baseline = NaN, value = NaN] = await measureSideBySide([
      () => timeOf("crash", ["-s", "-i", `${folder}/commands`, vmlinux, path]),
      () => timeOf(Deno.execPath(), bundleArguments(["dump", "triage", path, "--full"])),
    ], ROUNDS);
    return [
      { what: "crash on the core of a guest (sys, bt, mod, log), whole process", value: baseline },
      { what: "dump triage --full on it, whole process", value, baseline, target: 1 },
    ];
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function notRun(why: string): Row[] {
  return [{ what: `crash on the same core: not run, ${why}`, value: NaN }];
}

/** All memory of a guest that has crashed. */
async function collectCore(folder: string): Promise<{ path: string; release: string }> {
  const image = findTinyImage();
  if (image === undefined) throw new Error("build the tiny guest first: tools/image/build_tiny.sh dist/tiny");
  const files = (["kernel", "fast_kernel", "initrd", "append"] as const)
    .flatMap((name) => image[name] === undefined ? [] : [`--${name.replace("_", "-")}=${image[name]}`]);
  const call = (words: string[], code = 0): Promise<JsonObject> => callBundle(folder, words, code);
  await call(["image", "import", "tiny", ...files]);
  const crash = ["sh", "-c", "echo c > /proc/sysrq-trigger"];
  await call(["sandbox", "run", "tiny", "--memory=256M", "--keep", "--", ...crash], CRASHED);
  const [sandbox] = listIn(await call(["sandbox", "list"]), "sandboxes");
  const id = textIn(sandbox, "id");
  try {
    const collected = await call(["dump", "collect", id, `--output=${folder}/core`, "--no-guest"]);
    const [file] = listIn(collected, "files");
    return { path: textIn(file, "path"), release: textIn(file, "os_version") };
  } finally {
    await call(["sandbox", "destroy", id]);
  }
}

async function callBundle(state: string, words: string[], expected: number): Promise<JsonObject> {
  const [before, behind] = [words.slice(0, 2), words.slice(2)];
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: bundleArguments([...before, "--json", ...behind]),
    env: { HVLAB_STATE: state },
    stdin: "null",
  }).output();
  const text = new TextDecoder().decode(stdout);
  if (code !== expected) {
    throw new Error(
      `"${words.join(" ")}" ended with code ${code}: ${text}${new TextDecoder().decode(stderr)}`,
    );
  }
  const answer = parseJson(text);
  if (!isJsonObject(answer)) throw new Error(`"${words.join(" ")}" answered: ${text}`);
  return answer;
}

function listIn(answer: JsonObject, name: string): JsonObject[] {
  const list = answer[name];
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

function textIn(answer: JsonObject | undefined, name: string): string {
  const text = answer?.[name];
  if (typeof text !== "string") throw new Error(`there is no ${name} in ${JSON.stringify(answer)}`);
  return text;
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isFile;
  } catch {
    return false;
  }
}

async function timeOf(program: string, args: string[]): Promise<number> {
  const start = performance.now();
  const { code } = await new Deno.Command(program, { args, stdin: "null", stdout: "null", stderr: "null" })
    .output();
  if (code !== 0) throw new Error(`"${program} ${args.join(" ")}" ended with code ${code}`);
  return performance.now() - start;
}
