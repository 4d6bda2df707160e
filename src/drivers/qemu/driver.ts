/** The QEMU driver: machines on this host, run by QEMU itself, one process for each. */

import { HvError } from "../../base/errors.ts";
import { newVmId } from "../../base/ids.ts";
import { joinPath } from "../../base/paths.ts";
import type { Vm } from "../../contract/vm.ts";
import type { GuestChannel } from "../../guest/channel.ts";
import type { GuestLogin } from "../../guest/login.ts";
import type { TemplateAbilities } from "../template_abilities.ts";
import { cutLastWords } from "../last_words.ts";
import { wayAfterCrash } from "../way_on.ts";
import type { Driver, Feature, ImageAbilities, SandboxAbilities, VmAbilities, VmListing } from "../driver.ts";
import { openAdoption } from "./adoption/adopt.ts";
import { closeLinks, openAgentChannel } from "./agent/channel.ts";
import { QemuBackground } from "./watch/background.ts";
import { openCheckpoints } from "./checkpoints/abilities.ts";
import { openConfigure } from "./configure.ts";
import { openConsole } from "./console/abilities.ts";
import { openDebugStub } from "./console/debug_stub.ts";
import { openNmi } from "./console/interrupt.ts";
import { openSerial } from "./console/serial.ts";
import type { QemuContext } from "./context.ts";
import { seeDamagedVms } from "./damaged_vms.ts";
import { openCopies } from "./copies/abilities.ts";
import { openCrashes } from "./crashes/abilities.ts";
import { toldFacts } from "./crashes/told.ts";
import { makeVm } from "./creation.ts";
import { diagnose } from "./diagnose.ts";
import { openDisks } from "./disks/abilities.ts";
import { openHistory } from "./watch/history.ts";
import { ProcessView } from "./identity.ts";
import { importImage } from "./images/import.ts";
import { openImageStore } from "./images/store.ts";
import { getImage, listImages } from "./images/images.ts";
import { SERIAL_LOG, startVm } from "./power/instance.ts";
import { readLogTail } from "./launch/errors.ts";
import { explainLosses } from "./lost_guest.ts";
import { openDevices, openSerialPorts } from "./devices/abilities.ts";
import { openForwards } from "./network/forwards.ts";
import { openNics } from "./network/nics.ts";
import { openSwitches } from "./network/switches.ts";
import { openMemoryDumps } from "./memory_dump/abilities.ts";
import { asVm, observe } from "./observe.ts";
import { findOrphans } from "./orphans/find.ts";
import { removeOrphan } from "./orphans/remove.ts";
import { openPause } from "./power/pause.ts";
import { type VmRecord, VmRecords } from "./records.ts";
import { lossesOf, removeVm } from "./removal.ts";
import { RuntimeFolder } from "./runtime_folder.ts";
import { Sandboxes } from "./sandboxes.ts";
import { mountShares, withShares } from "./shares.ts";
import { openGuestFolder, SshWays } from "./ssh.ts";
import { stopVm } from "./power/stop.ts";
import { templateAbilities } from "./templates/abilities.ts";
import { hasPool, readPoolWishes } from "./templates/pool_wish.ts";

/** Opens the driver. Touches nothing on the host by itself. */
export function openQemuDriver(context: QemuContext): Driver {
  const records = new VmRecords(context);
  const sandboxes = new Sandboxes(context, records);
  /** Where the sockets of VMs seen in this process lie; their records say so. */
  const runtimes = new Map<string, string>();
  /** Adopted VMs that have no port for an agent. */
  const deaf = new Set<string>();
  const opened = new Map<string, GuestChannel>();

  const look = async (record: VmRecord, signal: AbortSignal, processes?: ProcessView): Promise<Vm> => {
    const seen = await observe(context, record, signal, processes);
    runtimes.set(record.id, record.runtime);
    if (record.adopted !== undefined && record.adopted.agent === undefined) deaf.add(record.id);
    else deaf.delete(record.id);
    return { ...asVm(record, seen), ...(seen.alive ? await toldFacts(context, record) : {}) };
  };

  const list = async (signal: AbortSignal): Promise<VmListing> => {
    const listing = await records.list();
    const processes = new ProcessView(context);
    const vms = await Promise.all(listing.records.map((record) => look(record, signal, processes)));
    return {
      vms,
      warnings: listing.damaged.map(({ path, reason }) => `"${path}" is no VM that can be read: ${reason}`),
      damaged: await seeDamagedVms(context, listing, processes),
    };
  };

  const crash = async (id: string, signal: AbortSignal): Promise<{ reason: string } | undefined> => {
    const { state, state_reason: reason } = await look(await records.get(id), signal);
    return state === "crashed" ? { reason: reason ?? "The guest has crashed" } : undefined;
  };

  const lastWords = async (id: string): Promise<string | undefined> =>
    cutLastWords(await readLogTail(context.host, joinPath(context.state.vm(id), SERIAL_LOG)));

  const vms: VmAbilities = {
    list,
    get: async (id, signal) => await look(await records.get(id), signal),
    create: async (spec, scope) => {
      const id = newVmId();
      await makeVm(context, records, id, spec, {}, scope);
      return id;
    },
    start: (id, scope) => startVm(context, records, id, scope),
    stop: (id, mode, scope) => stopVm(context, records, id, mode, scope),
    losses: async (id) => {
      // Of an adopted VM nothing is lost but a record, which adopting it again brings back.
      if ((await records.get(id)).adopted !== undefined) return [];
      return await lossesOf(context, id);
    },
    remove: async (id, scope) => {
      // A connection that lingers would bring its lock files back after the folder has gone.
      opened.get(id)?.close();
      await ssh.close(id);
      const removed = await removeVm(context, records, id, scope);
      sandboxes.release(id);
      opened.delete(id);
      return removed;
    },
    orphans: () => findOrphans(context, records, sandboxes),
    removeOrphan: (orphan, scope) => removeOrphan(context, records, sandboxes, orphan, scope),
  };
  const sandbox: SandboxAbilities = {
    async create(spec, scope) {
      const id = await sandboxes.create(spec, scope);
      // A pool that has given a clone away wants another one.
      if (!spec.tiedToUs || await hasPool(context, spec)) context.keeper?.wake();
      return id;
    },
    sweep(scope) {
      context.keeper?.revive();
      return sandboxes.sweep(scope);
    },
  };
  const templates: TemplateAbilities = {
    ...templateAbilities(context),
    async keepReady(name, size, count, scope) {
      const change = await templateAbilities(context).keepReady(name, size, count, scope);
      context.keeper?.wake();
      return change;
    },
  };
  const events = openHistory(context, records);
  const hasPools = async (): Promise<boolean> => (await readPoolWishes(context)).length > 0;
  const images: ImageAbilities = {
    list: () => listImages(context),
    get: (name) => getImage(context, name),
    import: (source, scope) => importImage(context, source, scope),
  };
  const ssh = new SshWays(context, records);
  const checkpoints = openCheckpoints(context, records);
  const explained = (vm: Vm, channel: GuestChannel): GuestChannel =>
    explainLosses(channel, {
      clock: context.host.clock,
      state: async (signal) => (await look(await records.get(vm.id), signal)).state,
      lastWords: () => lastWords(vm.id),
      wayAfterCrash: wayAfterCrash(vm),
    });
  const plainChannels = (vm: Vm): GuestChannel[] => {
    if (vm.driver !== "qemu") throw new HvError("hv.internal", `The VM "${vm.id}" is not QEMU's`);
    if (deaf.has(vm.id)) return [];
    const path = runtimes.get(vm.id);
    const runtime = path === undefined ? RuntimeFolder.of(context.host, vm.id) : new RuntimeFolder(path);
    const channel = openAgentChannel({
      host: context.host,
      socket: runtime.agent,
      lock: runtime.agentLock,
      isCrashed: (signal) => crash(vm.id, signal),
      async isOver(signal) {
        const record = await records.find(vm.id);
        return record === undefined || !(await observe(context, record, signal)).alive;
      },
    });
    // One is enough to close them all: channels to one socket share their connection.
    opened.set(vm.id, channel);
    return [explained(vm, channel)];
  };
  const channels = (vm: Vm, login?: GuestLogin): GuestChannel[] => {
    const { shares } = vm;
    const [agent] = plainChannels(vm);
    if (vm.adopted) return agent === undefined ? [] : [agent];
    const plain = [...(agent === undefined ? [] : [agent]), explained(vm, ssh.channel(vm, login, agent))];
    return shares === undefined ? plain : plain.map((channel) => withShares(context, channel, shares));
  };

  return {
    name: "qemu",
    features: new Set<Feature>([
      "vms",
      "images",
      "images.store",
      "sandboxes",
      "templates",
      "guest",
      "pause",
      "configure",
      "crash_policies",
      "copies",
      "adoption",
      "shares",
      "tpm",
      "cloud_init",
      "watchdog",
      "disks",
      "forwards",
      "devices",
      "serial_ports",
      "switches",
      "nics",
      "vms.switches",
      ...(events === undefined ? [] : ["events" as const]),
      "dumps",
      "console",
      "serial",
      "nmi",
      "debug_stub",
      "checkpoints",
      "checkpoints.memory",
    ]),
    vms,
    sandboxes: sandbox,
    images,
    imageStore: openImageStore(context),
    templates,
    checkpoints: {
      ...checkpoints,
      async restore(id, checkpoint, scope) {
        await checkpoints.restore(id, checkpoint, scope);
        // The guest of the past knows nothing of the connections of today.
        await ssh.close(id);
      },
    },
    disks: openDisks(context, records),
    forwards: openForwards(context, records),
    devices: openDevices(context, records),
    serial_ports: openSerialPorts(context, records),
    switches: openSwitches(context, records),
    nics: openNics(context, records),
    pause: openPause(context, records),
    configure: openConfigure(context, records),
    crashes: openCrashes(context, records),
    copies: openCopies(context, records),
    adoption: openAdoption(context, records),
    ...(events === undefined ? {} : { events }),
    dumps: openMemoryDumps(context, records),
    console: openConsole(context, records),
    serial: openSerial(context, records),
    nmi: openNmi(context, records),
    debug_stub: openDebugStub(context, records),
    background: (journal, changed, keep, tell) =>
      new QemuBackground({ context, records, sandboxes, templates, hasPools, keep, tell }, journal, changed),
    shares: {
      async mount(vm, signal) {
        const [channel] = plainChannels(vm);
        if (channel !== undefined) await mountShares(context, channel, vm.shares ?? [], signal);
      },
    },
    channels,
    crash,
    lastWords,
    diagnose: (signal) => diagnose(context, signal),
    guestFolder: (id) => openGuestFolder(context, id),
    close: async () => {
      await ssh.close();
      closeLinks(context.host);
      sandboxes.close();
    },
  };
}
