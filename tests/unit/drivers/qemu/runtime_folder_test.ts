import assert from "node:assert/strict";
import {
  prepareRuntimeFolder,
  readRuntimeOwner,
  RuntimeFolder,
  SOCKET_PATH_LIMIT,
} from "../../../../src/drivers/qemu/runtime_folder.ts";
import { denoSockets } from "../../../../src/host/sockets.ts";
import { busySocket } from "../../../support/busy_socket.ts";
import { failureOf } from "../../../support/failures.ts";
import { OTHER_ID, VM_ID, withQemu } from "../../../support/qemu_context.ts";

const OWNER = { vm: VM_ID, state: "/state" };

Deno.test("a runtime folder is private, says whose it is, and does not depend on name or state folder", () =>
  withQemu(async ({ host }) => {
    const folder = RuntimeFolder.of(host, VM_ID);
    assert.equal(folder.path, `${host.root}/run/0123abcd4567`);
    await prepareRuntimeFolder(host, folder, OWNER);
    assert.equal((await Deno.stat(folder.path)).mode?.toString(8).slice(-3), "700");
    assert.deepEqual(await readRuntimeOwner(host, folder), OWNER);
  }));

Deno.test("leftovers of a dead QEMU are cleared: sockets, plain files, empty folders", () =>
  withQemu(async ({ host }) => {
    const folder = RuntimeFolder.of(host, VM_ID);
    await prepareRuntimeFolder(host, folder, OWNER);
    const dead = Deno.listen({ transport: "unix", path: folder.monitor("calls") });
    dead.close();
    await Deno.writeTextFile(folder.monitor("keeper"), "a file");
    await Deno.mkdir(folder.monitor("rescue"));
    await Deno.writeTextFile(folder.pidFile, "-1");
    await prepareRuntimeFolder(host, folder, OWNER);
    const left = [...Deno.readDirSync(folder.path)].map(({ name }) => name);
    assert.deepEqual(left, ["owner.json"]);
  }));

Deno.test("a living socket is never replaced, and a folder with files is not ours to remove", () =>
  withQemu(async ({ host }) => {
    const folder = RuntimeFolder.of(host, VM_ID);
    await prepareRuntimeFolder(host, folder, OWNER);
    await Deno.mkdir(`${folder.monitor("calls")}/inner`, { recursive: true });
    const full = await failureOf("hv.conflict", () => prepareRuntimeFolder(host, folder, OWNER));
    assert.equal(full.context.path, folder.monitor("calls"));
    await Deno.remove(folder.monitor("calls"), { recursive: true });
    using _listener = Deno.listen({ transport: "unix", path: folder.monitor("calls") });
    const live = { ...host, sockets: denoSockets };
    const failure = await failureOf("hv.conflict", () => prepareRuntimeFolder(live, folder, OWNER));
    assert.match(failure.message, /listens on this socket/);
    assert.ok((await Deno.lstat(folder.monitor("calls"))).isSocket);
  }));

Deno.test("a dying QEMU whose queue our own looks have filled is waited for, a living one is not replaced", () =>
  withQemu(async ({ host }) => {
    const folder = RuntimeFolder.of(host, VM_ID);
    await prepareRuntimeFolder(host, folder, OWNER);
    const path = folder.monitor("calls");
    using _dying = Deno.listen({ transport: "unix", path });
    let looks = 0;
    host.sockets.connectUnix = () =>
      ++looks > 3 ? Promise.resolve(undefined) : Promise.reject(busySocket(path));
    await prepareRuntimeFolder(host, folder, OWNER);
    assert.deepEqual([looks, await host.files.stat(path)], [4, undefined]);
    using _living = Deno.listen({ transport: "unix", path });
    host.sockets.connectUnix = () => Promise.reject(busySocket(path));
    const failure = await failureOf("hv.conflict", () => prepareRuntimeFolder(host, folder, OWNER));
    assert.match(failure.message, /listens on this socket/);
    assert.ok((await Deno.lstat(path)).isSocket);
  }));

Deno.test("another VM's folder, another user's and an open one are refused", () =>
  withQemu(async ({ host }) => {
    const folder = RuntimeFolder.of(host, VM_ID);
    await prepareRuntimeFolder(host, folder, OWNER);
    await failureOf("hv.conflict", () => prepareRuntimeFolder(host, folder, { ...OWNER, vm: OTHER_ID }));
    await failureOf("hv.conflict", () => prepareRuntimeFolder(host, folder, { ...OWNER, state: "/other" }));
    const stranger = {
      ...host,
      environment: host.environment,
      machine: { ...host.machine, userId: () => 4242 },
    };
    await failureOf("hv.permission", () => prepareRuntimeFolder(stranger, folder, OWNER));
    await Deno.chmod(folder.path, 0o755);
    const open = await failureOf("hv.permission", () => prepareRuntimeFolder(host, folder, OWNER));
    assert.match(open.hint ?? "", /chmod 700/);
    await Deno.remove(folder.path, { recursive: true });
    await Deno.symlink(host.root, folder.path);
    await failureOf("hv.conflict", () => prepareRuntimeFolder(host, folder, OWNER));
  }));

Deno.test("a path that no socket can have is refused before QEMU would", () =>
  withQemu(async ({ host }) => {
    const long = new RuntimeFolder(`${host.root}/${"x".repeat(SOCKET_PATH_LIMIT)}`);
    await failureOf("hv.conflict", () => prepareRuntimeFolder(host, long, OWNER));
  }));
