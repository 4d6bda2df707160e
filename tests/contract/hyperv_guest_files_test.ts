/** Files of Windows guests over PowerShell Direct: what was given up leaves nothing, and a path is a file's or nothing. */

import assert from "node:assert/strict";
import { timeoutError } from "../../src/base/deadline.ts";
import { HyperV } from "../../src/drivers/hyperv/client.ts";
import { PowerShellDirect } from "../../src/drivers/hyperv/psdirect.ts";
import { passingName } from "../../src/guest/passing.ts";
import { failureOf } from "../support/failures.ts";
import { endSharedHost, faultTest } from "../support/hyperv_lab.ts";
import { plainGuestFolder } from "../support/plain_guest_folder.ts";

const LIMIT_MS = 300_000;

/** A way to Hyper-V on which a call is given up when the guest has done it and nobody has heard so. */
class DeafEnd extends HyperV {
  #deaf = "";
  #given = new AbortController();

  /** Is deaf for the guest's answers to these calls, and answers the signal of the work that is given up then. */
  deafFor(call: string): AbortSignal {
    this.#deaf = call;
    this.#given = new AbortController();
    return this.#given.signal;
  }

  override async askGuest(...[id, request, scope]: Parameters<HyperV["askGuest"]>): Promise<string> {
    if (request.call !== this.#deaf) return await super.askGuest(id, request, scope);
    await super.askGuest(id, request, { signal: AbortSignal.timeout(LIMIT_MS) });
    this.#given.abort(timeoutError(1_000));
    throw this.#given.signal.reason;
  }
}

/** Whether a process has the file open: the guest's processes are this machine's. */
async function isOpen(path: string): Promise<boolean> {
  const { code } = await new Deno.Command("sh", {
    args: ["-c", 'ls -l /proc/[0-9]*/fd 2> /dev/null | grep -qF -e "-> $1"', "sh", path],
  }).output();
  return code === 0;
}

faultTest("a file whose opening was given up is open no longer, and nothing of it is left", async (scene) => {
  const { lab, world } = scene;
  const { id: key } = await lab.vm("vm_create", { name: "web", disk_size_mb: 64, memory_mb: 64 });
  await lab.call("vm_start", { vm: "web", until: "heartbeat" });
  const hyperv = new DeafEnd(world.host);
  try {
    const place = { host: world.host, folder: plainGuestFolder(`${lab.root}/guest`), key };
    const guest = new PowerShellDirect(hyperv, place);
    const [path, token] = [`${lab.root}/file`, "0123abcd"];
    const writing = hyperv.deafFor("open_write");
    const nothing = (): Promise<null> => Promise.resolve(null);
    await failureOf("hv.timeout", () => guest.writeFile(path, nothing, { overwrite: false, token }, writing));
    assert.deepEqual([...Deno.readDirSync(lab.root)].filter(({ name }) => name.startsWith("file")), []);
    assert.equal(await isOpen(passingName(path, token)), false);
    await Deno.writeTextFile(path, "text");
    const reading = hyperv.deafFor("open_read");
    await failureOf("hv.timeout", () => guest.readFile(path, () => Promise.resolve(), reading));
    assert.equal(await isOpen(path), false);
  } finally {
    await hyperv.close();
  }
});

faultTest(
  "a path that leads to no file system of the guest is not found, and nothing is written",
  async ({ lab }) => {
    await lab.call("vm_create", { name: "web", disk_size_mb: 64, memory_mb: 64 });
    await lab.call("vm_start", { vm: "web", until: "heartbeat" });
    const source = `${lab.root}/in`;
    await Deno.writeTextFile(source, "text");
    for (const path of ["env:hvlab_x", "Q:\\nowhere\\x", "function:hvlab_x"]) {
      const sent = await lab.failure("guest_copy_to", { vm: "web", source, destination: path });
      const fetched = await lab.failure("guest_copy_from", {
        vm: "web",
        source: path,
        destination: `${lab.root}/out`,
      });
      assert.deepEqual([sent.code, fetched.code], ["hv.not_found", "hv.not_found"], path);
    }
    const { stdout } = await lab.exec("web", ["sh", "-c", "ls | grep -c hvlab_x"]);
    assert.equal(stdout, "0\n");
  },
);

endSharedHost();
