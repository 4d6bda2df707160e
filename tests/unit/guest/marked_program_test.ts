import assert from "node:assert/strict";
import fc from "fast-check";
import type { GuestCommand } from "../../../src/guest/channel.ts";
import {
  markedArguments,
  newMark,
  quoteInLine,
  readEnd,
  RUN_MARKED,
  scriptInLine,
} from "../../../src/guest/posix/marked_program.ts";

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

Deno.test("a program ends with all that it started when whoever holds the other end is gone", async () => {
  for (const shell of SHELLS) {
    const mark = newMark();
    const script = "trap '' TERM HUP; sleep 311 & setsid sleep 312 & echo begun; sleep 313";
    const begun = await begin(shell, mark, { argv: ["sh", "-c", script] });
    await begun.writer.close();
    const { stdout, stderr } = await begun.rest();
    assert.equal(stdout, `${mark}>\nbegun\n`);
    assert.equal(stderr, "");
    const left = new Deno.Command("sh", { args: ["-c", "ps -eo args | grep -c '^[s]leep 31[123]'"] });
    assert.equal(new TextDecoder().decode((await left.output()).stdout), "0\n", shell);
  }
});

Deno.test("a program that ends by itself leaves nobody waiting at our stream", async () => {
  for (const shell of SHELLS) {
    const mark = newMark();
    const begun = await begin(shell, mark, { argv: ["sh", "-c", "echo begun; exit 7"] });
    // The streams end although ours is open: nothing that the script started has them.
    const { stdout, stderr } = await begun.rest();
    assert.equal(stdout, `${mark}>\nbegun\n${mark}<\n`);
    assert.equal(stderr, `${mark}<7\n`);
    await assert.rejects(begun.writer.write(new TextEncoder().encode("x")), shell);
  }
});

/** Starts a program as an SSH server would, and lets it begin; it has said "begun". */
async function begin(shell: string, mark: string, command: GuestCommand) {
  const args = [...(shell === "busybox" ? ["sh"] : []), "-c", 'IFS= read -r hv_line && eval "$hv_line"'];
  const child = new Deno.Command(shell, { args, stdin: "piped", stdout: "piped", stderr: "piped" }).spawn();
  const writer = child.stdin.getWriter();
  const out = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const err = child.stderr.pipeThrough(new TextDecoderStream()).getReader();
  await writer.write(new TextEncoder().encode(scriptInLine(RUN_MARKED, markedArguments(mark, command))));
  const first = await readUntil(err, (text) => text.endsWith("\n"));
  assert.match(first, new RegExp(`^${mark}>[0-9]+\n$`));
  await writer.write(new TextEncoder().encode("\n"));
  const stdout = await readUntil(out, (text) => text.includes("begun\n"));
  return {
    writer,
    rest: async () => {
      const [more, stderr] = await Promise.all([readUntil(out), readUntil(err)]);
      await child.status;
      return { stdout: stdout + more, stderr };
    },
  };
}

async function readUntil(
  reader: ReadableStreamDefaultReader<string>,
  isEnough: (text: string) => boolean = () => false,
): Promise<string> {
  let text = "";
  while (!isEnough(text)) {
    const { value, done } = await reader.read();
    if (done) break;
    text += value;
  }
  return text;
}
