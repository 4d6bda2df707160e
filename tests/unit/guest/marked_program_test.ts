import assert from "node:assert/strict";
import fc from "fast-check";
import { quoteInLine, readEnd, scriptInLine } from "../../../src/guest/posix/marked_program.ts";

/** Shells that read the line on real guests; those that are here. */
const SHELLS = ["sh", "bash", "busybox"].filter((shell) => {
  try {
    return new Deno.Command(shell, { args: ["--help"], stdout: "null", stderr: "null" }).outputSync() !==
      undefined;
  } catch {
    return false;
  }
});

async function evaluate(shell: string, line: string): Promise<string> {
  const args = [...(shell === "busybox" ? ["sh"] : []), "-c", 'IFS= read -r hv_line && eval "$hv_line"'];
  const child = new Deno.Command(shell, { args, stdin: "piped", stdout: "piped" }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(line));
  await writer.close();
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode((await child.output()).stdout);
}

Deno.test("arguments survive the line that carries them, in every shell that is here", async () => {
  const script = 'printf \'%s\\n\' "$#"\nfor word in "$@"; do printf \'%s|\' "$word"; done';
  const text = fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc.string({ unit: fc.constantFrom("'", '"', "\\", "\n", "$", "`", "!", " ", "a", "\t", "*", "\r") }),
  ).filter((word) => !word.includes("\0") && word.isWellFormed());
  for (const shell of SHELLS) {
    await fc.assert(
      fc.asyncProperty(fc.array(text, { maxLength: 5 }), async (words) => {
        const expected = `${words.length}\n${words.map((word) => `${word}|`).join("")}`;
        assert.equal(await evaluate(shell, scriptInLine(script, words)), expected);
      }),
      { numRuns: 40 },
    );
  }
});

Deno.test("a line has one end", () => {
  assert.equal(scriptInLine("a\nb", ["c\nd"]).indexOf("\n"), scriptInLine("a\nb", ["c\nd"]).length - 1);
  assert.equal(quoteInLine("it's\n"), `'it'\\''s'"$hv_n"''`);
});

Deno.test("an end is a code, or a signal when the shell says so in words", () => {
  assert.deepEqual(readEnd("7"), { exit_code: 7, signal: null });
  assert.deepEqual(readEnd("137"), { exit_code: 137, signal: null });
  assert.deepEqual(readEnd("!137"), { exit_code: null, signal: 9 });
  assert.deepEqual(readEnd("!3"), { exit_code: 3, signal: null });
});
