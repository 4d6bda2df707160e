/** A sandbox from its image to the guest's first answer, beside plain QEMU started by hand with the same arguments. */

import { JsonLines } from "../image/json_lines.ts";
import { ROOT, runOrThrow } from "../programs.ts";
import { bundleArguments } from "./program.ts";
import { measureSideBySide, type Row } from "./report.ts";

const ROUNDS = 5;
const WARM_UPS = 1;
const SOCKET_LIMIT_MS = 10_000;

/** What `sandbox create` says of a new sandbox, as far as it is needed here. */
interface Sandbox {
  id: string;
  pid: number;
}

/** Measures both ways with the image `tiny` of `dist/tiny`, in a state folder of its own. Linux only. */
export async function measureSandbox(): Promise<Row[]> {
  const state = await Deno.makeTempDir();
  const hvlab = (...args: string[]): Promise<string> =>
    runOrThrow(Deno.execPath(), bundleArguments([...args, "--state", state, "--json"]));
  const create = async (): Promise<Sandbox> => JSON.parse(await hvlab("sandbox", "create", "tiny"));
  try {
    await importTiny(hvlab);
    const sample = await create();
    const [program = "", ...args] = (await Deno.readTextFile(`/proc/${sample.pid}/cmdline`)).split("\0")
      .slice(0, -1);
    const folders = [runtimeFolderOf(args), `${state}/vms/${sample.id}`];
    await hvlab("sandbox", "destroy", sample.id);

    const [byHand = NaN, ours = NaN] = await measureSideBySide(
      [
        () => timeByHand(program, args, folders),
        async () => {
          const start = performance.now();
          const { id } = await create();
          const time = performance.now() - start;
          await hvlab("sandbox", "destroy", id);
          return time;
        },
      ],
      ROUNDS,
      WARM_UPS,
    );
    return [
      { what: "plain QEMU, start to the agent's first answer", value: byHand },
      { what: "hvlab sandbox create, the whole process", value: ours, baseline: byHand },
      { what: "difference", value: ours - byHand, target: 150 },
    ];
  } finally {
    await Deno.remove(state, { recursive: true });
  }
}

async function importTiny(hvlab: (...args: string[]) => Promise<string>): Promise<void> {
  const tiny = `${ROOT}/dist/tiny`;
  const append = await Deno.readTextFile(`${tiny}/append`);
  const files = [
    "--kernel",
    `${tiny}/vmlinuz`,
    "--fast-kernel",
    `${tiny}/vmlinux`,
    "--initrd",
    `${tiny}/initrd`,
  ];
  await hvlab("image", "import", "tiny", ...files, "--append", append.trim());
}

function runtimeFolderOf(args: readonly string[]): string {
  const file = args[args.indexOf("-pidfile") + 1] ?? "";
  return file.slice(0, file.lastIndexOf("/"));
}

/** Starts the same vector with all of the VM's own files in a new folder, and asks the agent once. */
async function timeByHand(
  program: string,
  args: readonly string[],
  folders: readonly string[],
): Promise<number> {
  const folder = await Deno.makeTempDir();
  const moved = args.map((arg) => folders.reduce((text, old) => text.replaceAll(old, folder), arg));
  const start = performance.now();
  const qemu = new Deno.Command(program, { args: moved, stdin: "null", stdout: "null", stderr: "inherit" })
    .spawn();
  try {
    const agent = await JsonLines.open(`${folder}/agent`, SOCKET_LIMIT_MS);
    await agent.send({ execute: "guest-sync-delimited", arguments: { id: 1 } }, Uint8Array.of(0xff));
    for (;;) {
      const answer = await agent.receive();
      if (answer === undefined) throw new Error("QEMU ended before the agent answered");
      if (answer.return === 1) break;
    }
    const time = performance.now() - start;
    agent.close();
    return time;
  } finally {
    qemu.kill("SIGKILL");
    await qemu.status;
    await Deno.remove(folder, { recursive: true });
  }
}
