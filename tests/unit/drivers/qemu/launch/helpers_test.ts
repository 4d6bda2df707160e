import assert from "node:assert/strict";
import {
  endHelpers,
  findHelpers,
  readHelperSocket,
  startHelpers,
} from "../../../../../src/drivers/qemu/launch/helpers.ts";
import {
  escapeSource,
  findShareWays,
  lackOf,
  needShareWays,
} from "../../../../../src/drivers/qemu/shares.ts";
import { findTpmProgram, tpmHelper } from "../../../../../src/drivers/qemu/launch/tpm.ts";
import { RuntimeFolder } from "../../../../../src/drivers/qemu/runtime_folder.ts";
import { failureOf } from "../../../../support/failures.ts";
import { recordOf, withQemu } from "../../../../support/qemu_context.ts";

const STARTED = "Sun Nov 29 11:30:00 2026";

Deno.test("a helper's command line says which socket it serves, and a stranger's does not", () => {
  const virtiofsd =
    "/usr/lib/qemu/virtiofsd -f --socket-path=/run/a b/0123/share-0 -o source=/x -o cache=auto";
  assert.equal(readHelperSocket(virtiofsd), "/run/a b/0123/share-0");
  const swtpm = "swtpm socket --tpm2 --tpmstate dir=. --ctrl type=unixio,path=/run/0123/tpm --terminate";
  assert.equal(readHelperSocket(swtpm), "/run/0123/tpm");
  for (
    const other of [
      "swtpm socket --tpm2 --tpmstate dir=/mine --ctrl type=unixio,path=/mine/tpm",
      "virtiofsd --socket-path=/mine/vfs.sock --shared-dir /x",
      "sh -c virtiofsd",
    ]
  ) assert.equal(readHelperSocket(other), undefined, other);
});

Deno.test("the TPM's program carries the mark by which it is found", () =>
  withQemu(({ context }) => {
    const { program, args, socket } = tpmHelper(context, recordOf(), new RuntimeFolder("/run/0123"));
    assert.equal(readHelperSocket([program, ...args].join(" ")), socket);
    return Promise.resolve();
  }));

Deno.test("helpers of one folder are ended and no others, and without a note nobody is looked for", () =>
  withQemu(async ({ host, context, scope }) => {
    const ours = `${host.root}/run/0123`;
    const args = (folder: string): string =>
      `swtpm socket --tpm2 --tpmstate dir=. --ctrl type=unixio,path=${folder}/tpm --terminate`;
    host.processes.table.push({ pid: 50, started: STARTED, args: args(ours) });
    host.processes.table.push({ pid: 51, started: STARTED, args: args(`${host.root}/run/4567`) });
    await Deno.mkdir(ours, { recursive: true });
    await endHelpers(context, ours, scope.signal);
    assert.equal((await findHelpers(context)).length, 2);
    await Deno.writeTextFile(`${ours}/helpers`, "");
    await endHelpers(context, ours, scope.signal);
    assert.deepEqual((await findHelpers(context)).map(({ pid }) => pid), [51]);
  }));

Deno.test("no character of a shared folder's path ends virtiofsd's option", () => {
  assert.equal(escapeSource("/a,b\\c d"), "/a\\,b\\\\c d");
});

Deno.test("a host without any way to share is refused with what is missing", () =>
  withQemu(async ({ context, scope }) => {
    const { virtiofsd } = await findShareWays(context, scope.signal);
    if ("path" in virtiofsd) return;
    const failure = await failureOf("hv.unsupported", () => needShareWays(context, scope.signal));
    assert.match(failure.message, /virtiofsd.*; this QEMU has no 9p/);
  }));

Deno.test("what a host lacks is named for each way", () => {
  assert.deepEqual(lackOf({ virtiofsd: { path: "/v" }, has9p: true }), []);
  assert.deepEqual(lackOf({ virtiofsd: { missing: "none" }, has9p: false }), ["none", "this QEMU has no 9p"]);
});

Deno.test("a missing swtpm is unavailable with the line that installs it", () =>
  withQemu(async ({ context }) => {
    const failure = await failureOf("hv.unavailable", () => findTpmProgram(context));
    assert.match(failure.hint ?? "", /apt-get install swtpm/);
  }));

Deno.test("a helper that never comes to listen is ended, by its limit and by who gives it up", () =>
  withQemu(async ({ host, context }) => {
    const runtime = new RuntimeFolder(`${host.root}/run/0123`);
    await Deno.mkdir(runtime.path, { recursive: true });
    const helpers = [{ ...tpmHelper(context, recordOf(), runtime), log: `${host.root}/log` }];
    const givenUp = new AbortController();
    const startDeaf = async (pid: number, onStart: () => void): Promise<void> => {
      const ended = Promise.withResolvers<{ code: number | null; signal: string | null }>();
      // It has still to become the helper: by its command line nobody finds it.
      host.processes.table.push({ pid, started: STARTED, args: "setpriv --pdeathsig KILL -- swtpm" });
      host.processes.onSignal = (_, signal) => {
        host.processes.end(pid);
        ended.resolve({ code: null, signal });
      };
      host.processes.onStart = () => {
        onStart();
        return Promise.resolve({ pid, ended: ended.promise, forget: () => {} });
      };
      await startHelpers(context, runtime.path, helpers, { tiedToUs: true, signal: givenUp.signal });
    };
    // By then it waits for the socket.
    const passTime = (): void => void setTimeout(() => host.clock.advance(10_000));
    await failureOf("hv.unavailable", () => startDeaf(60, passTime));
    await assert.rejects(startDeaf(61, () => givenUp.abort(new Error("given up"))), { message: "given up" });
    assert.deepEqual(host.processes.signals, ["TERM 60", "TERM 61"]);
  }));
