import assert from "node:assert/strict";
import { completionScript } from "../../../src/cli/completions.ts";
import { SHELLS } from "../../../src/cli/completions/model.ts";
import { runCommandLine } from "../../support/command_line.ts";
import { sampleCatalogue } from "../../support/sample_tools.ts";
import { withTemporaryFolder } from "../../support/temporary_folder.ts";

const tools = await sampleCatalogue.loadAll();

for (const shell of SHELLS) {
  Deno.test(`completions ${shell} prints the script`, async (t) => {
    const { code, out } = await runCommandLine(["completions", shell]);
    assert.equal(code, 0);
    await t.assertSnapshot(out);
  });
}

Deno.test("completions for an unknown shell lists the known ones", async () => {
  const { code, err } = await runCommandLine(["completions", "pwsh"]);
  assert.equal(code, 2);
  assert.match(err, /Did you mean "powershell"\? Shells are bash, zsh, fish, powershell/);
});

/** A line that is being typed, with its last word open, and what the shells offer for it. */
const CASES: readonly { words: readonly string[]; offers: readonly string[] }[] = [
  { words: ["b"], offers: ["box"] },
  { words: ["com"], offers: ["completions"] },
  { words: ["box", "l"], offers: ["list"] },
  { words: ["--state", "box", "box", "m"], offers: ["make"] },
  { words: ["plan", "box", "del"], offers: ["delete"] },
  { words: ["box", "make", "web", "--mem"], offers: ["--memory"] },
  { words: ["box", "make", "--no-t"], offers: ["--no-tight"] },
  { words: ["box", "make", "--mode", ""], offers: ["hard", "soft"] },
  { words: ["box", "make", "--dri"], offers: ["--driver"] },
  { words: ["file", "pick-from", "re"], offers: ["red"] },
  { words: ["completions", "f"], offers: ["fish"] },
  { words: ["box", "make", "--memory", ""], offers: [] },
  { words: ["file", "pick-from", "red", "a fi"], offers: ["a file"] },
  { words: ["--config", "a fi"], offers: ["a file"] },
  { words: ["box", "run", "x", "--", "a fi"], offers: ["a file"] },
];

async function shellOutput(shell: string, args: readonly string[]): Promise<string> {
  return await withTemporaryFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/a file`, "");
    const { success, stdout, stderr } = await new Deno.Command(shell, {
      args: [...args],
      cwd: folder,
      env: { HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder },
    }).output();
    const text = new TextDecoder().decode(stderr);
    assert.deepEqual([success, text], [true, ""]);
    return new TextDecoder().decode(stdout);
  });
}

function isInstalled(shell: string): boolean {
  try {
    new Deno.Command(shell, { args: ["--version"], stdout: "null", stderr: "null" }).outputSync();
    return true;
  } catch {
    return false;
  }
}

function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/** The offers, one a line and sorted, without descriptions. */
function sorted(output: string): string[] {
  return output.split("\n").filter((line) => line !== "").map((line) => line.split("\t")[0] ?? "").sort();
}

for (const { words, offers } of CASES) {
  const line = words.join(" ");

  Deno.test({
    name: `bash completes "${line}"`,
    ignore: !isInstalled("bash"),
    async fn() {
      const program = [
        completionScript("bash", tools),
        `COMP_WORDS=(hvlab ${words.map(quote).join(" ")}); COMP_CWORD=${words.length}`,
        `_hvlab; printf '%s\\n' "\${COMPREPLY[@]}"`,
      ].join("\n");
      assert.deepEqual(sorted(await shellOutput("bash", ["--norc", "-c", program])), offers);
    },
  });

  Deno.test({
    name: `zsh completes "${line}"`,
    ignore: !isInstalled("zsh"),
    async fn() {
      // The completion system itself runs only at a prompt; these stand in for the parts of it that the script uses.
      const program = [
        "compdef() { : }; compset() { : }",
        `compadd() { shift; local word; for word; do [[ $word == "$cur"* ]] && print -r -- $word; done }`,
        `_files() { local name; for name in *(N); do [[ $name == "$cur"* ]] && print -r -- $name; done }`,
        `_describe() { local word; for word in "\${(@P)2}"; do [[ \${word%%:*} == "$cur"* ]] && print -r -- \${word%%:*}; done }`,
        completionScript("zsh", tools),
        `words=(hvlab ${words.map(quote).join(" ")}); CURRENT=${words.length + 1}; _hvlab; true`,
      ].join("\n");
      assert.deepEqual(sorted(await shellOutput("zsh", ["-f", "-c", program])), offers);
    },
  });

  Deno.test({
    name: `fish completes "${line}"`,
    ignore: !isInstalled("fish"),
    async fn() {
      const typed = ["hvlab", ...words.map((word) => word.replaceAll(" ", "\\ "))].join(" ");
      const program = `${completionScript("fish", tools)}\ncomplete -C '${typed.replaceAll("\\", "\\\\")}'`;
      assert.deepEqual(sorted(await shellOutput("fish", ["--no-config", "-c", program])), offers);
    },
  });
}

Deno.test({
  name: "bash completes the value after an equals sign, which it takes for a word of its own",
  ignore: !isInstalled("bash"),
  async fn() {
    for (const words of [["box", "make", "--mode", "=", "h"], ["box", "make", "--mode", "="]]) {
      const program = [
        completionScript("bash", tools),
        `COMP_WORDS=(hvlab ${words.join(" ")}); COMP_CWORD=${words.length}`,
        `_hvlab; printf '%s\\n' "\${COMPREPLY[@]}"`,
      ].join("\n");
      const found = sorted(await shellOutput("bash", ["--norc", "-c", program]));
      assert.deepEqual(found, words.length === 5 ? ["hard"] : ["hard", "soft"]);
    }
  },
});
