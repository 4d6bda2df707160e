/** The Hyper-V driver: the machines of this Windows host, through PowerShell's own cmdlets. */

import { HvError } from "../../base/errors.ts";
import { joinPath } from "../../base/paths.ts";
import type { Removed } from "../../contract/vm.ts";
import { forgetCredential } from "../../guest/credentials.ts";
import type { GuestFolder } from "../../guest/guest_folder.ts";
import type { Host } from "../../host/host.ts";
import type { StateFolder } from "../../state/layout.ts";
import type { CallScope } from "../call_scope.ts";
import type { Driver, Feature, RemovalOptions, VmAbilities } from "../driver.ts";
import { openAdoption } from "./machines/adoption.ts";
import { openCheckpoints } from "./checkpoints.ts";
import { HyperV } from "./client.ts";
import { applyWaiting, configureVm, renameVm } from "./machines/configure.ts";
import { openCopies } from "./copies/copies.ts";
import { openConsole, openNmi } from "./console/console.ts";
import { diagnose } from "./doctor/diagnose.ts";
import { openDisks } from "./disks/disks.ts";
import { makeVm } from "./machines/making.ts";
import { completeMerges } from "./disks/merges.ts";
import { vmOf } from "./map.ts";
import { findOrphans, removeOrphan } from "./removal/orphans.ts";
import { PowerShellDirect } from "./psdirect.ts";
import { openDevices, openGpus, openSerialPorts } from "./devices.ts";
import { openForwards, releaseForwards } from "./network/forwards.ts";
import { openNics, openSwitches } from "./network/networks.ts";
import { openImages } from "./disks/images.ts";
import { lossesOf, removeVm } from "./removal/removal.ts";
import { reportHost } from "./doctor/report.ts";
import { Sandboxes } from "./machines/sandboxes.ts";
import { openSecrets } from "./secrets.ts";
import { openSettings } from "./machines/settings.ts";
import { simulatedWorld } from "./sidecar/simulation.ts";
import { stopVm } from "./machines/stopping.ts";

/** What the driver works with. */
export interface HyperVContext {
  readonly host: Host;
  readonly state: StateFolder;
}

/** Between two looks at a guest that boots. */
const LOOK_AGAIN_MS = 200;

/** Opens the driver. PowerShell starts with the first call that needs it. */
export function openHyperVDriver({ host, state }: HyperVContext): Driver {
  const hyperv = new HyperV(host);
  const sandboxes = new Sandboxes(hyperv, state, (id, scope) => remove(id, scope));
  const simulated = simulatedWorld(host) !== undefined;
  const secrets = host.os === "windows" ? openSecrets(hyperv) : undefined;
  const guestFolder = (id: string): GuestFolder => {
    const path = joinPath(state.hypervGuests, id);
    // The VM itself has no folder here that would be there or gone with it.
    return { path, make: () => host.files.makeFolder(path) };
  };

  const forgetGuest = async (id: string, { signal }: CallScope): Promise<void> => {
    await forgetCredential({ host, folder: guestFolder(id), key: id, store: secrets }, undefined, signal);
    await host.files.remove(guestFolder(id).path);
  };

  const remove = async (id: string, scope: CallScope, options: RemovalOptions = {}): Promise<Removed> => {
    await releaseForwards(hyperv, state, id, scope);
    const removed = await removeVm(hyperv, state, id, options, scope);
    await sandboxes.release(id);
    await forgetGuest(id, scope);
    return removed;
  };

  const vms: VmAbilities = {
    async list(signal) {
      const { machines, warnings } = await hyperv.listMachines(signal);
      return { vms: machines.map((machine) => vmOf(machine, simulated)), warnings };
    },
    get: async (id, signal) => vmOf(await hyperv.getMachine(id, signal), simulated),
    create: (spec, scope) => makeVm(hyperv, state, spec, scope),
    async start(id, scope) {
      await applyWaiting(hyperv, state, id, scope);
      await hyperv.changeMachine("start_machine", id, {}, scope);
    },
    stop: (id, mode, scope) => stopVm(hyperv, id, mode, scope),
    losses: (id, signal, options) => lossesOf(hyperv, id, options ?? {}, signal),
    remove,
    orphans: (signal) => findOrphans(hyperv, sandboxes, signal),
    removeOrphan: (orphan, scope) => removeOrphan(hyperv, sandboxes, remove, orphan, scope),
  };

  return {
    name: "hyperv",
    features: new Set<Feature>([
      "vms",
      "vms.disks",
      "vms.generations",
      "vms.switches",
      "guest",
      "pause",
      "disks",
      "configure",
      "settings",
      "tpm",
      "adoption",
      "copies",
      "images",
      "sandboxes",
      "console",
      "nmi",
      "switches",
      "switches.nat",
      "nics",
      "nics.vlan",
      "forwards",
      "devices",
      "serial_ports",
      "serial_ports.debugger",
      "gpus",
      "checkpoints",
      "checkpoints.memory",
    ]),
    ...(simulated ? { simulated } : {}),
    vms,
    checkpoints: openCheckpoints(hyperv, state),
    disks: openDisks(hyperv, state),
    console: openConsole(hyperv),
    nmi: openNmi(hyperv),
    pause: {
      async pause(id, scope) {
        await hyperv.changeMachine("pause_machine", id, {}, scope);
      },
      async resume(id, scope) {
        await hyperv.changeMachine("resume_machine", id, {}, scope);
      },
    },
    configure: {
      configure: (id, change, scope) => configureVm(hyperv, state, id, change, scope),
      rename: (id, name, scope) => renameVm(hyperv, state, id, name, scope),
    },
    settings: openSettings(hyperv, state),
    switches: openSwitches(hyperv, state),
    nics: openNics(hyperv),
    forwards: openForwards(hyperv, state),
    devices: openDevices(hyperv),
    serial_ports: openSerialPorts(hyperv),
    gpus: openGpus(hyperv),
    adoption: openAdoption(hyperv, state),
    images: openImages(hyperv, state),
    sandboxes: {
      create: (spec, scope) => sandboxes.create(spec, scope),
      async sweep(scope) {
        await completeMerges(hyperv, state, scope);
        return await sandboxes.sweep(scope);
      },
    },
    copies: openCopies(hyperv, state),
    channels: ({ id: key }, login) => {
      return [new PowerShellDirect(hyperv, { host, folder: guestFolder(key), key, store: secrets }, login)];
    },
    guestFolder,
    ...(secrets === undefined ? {} : { secrets }),
    heartbeat: (id, signal) => awaitHeartbeat(hyperv, id, signal),
    hostFacts: async (signal) => ({ ...await hyperv.facts(signal), ...await hyperv.hostFacts(signal) }),
    ready: async (signal) => {
      await hyperv.facts(signal);
    },
    diagnose: (signal) => diagnose(hyperv, signal),
    report: (signal) => reportHost(hyperv, signal),
    async close() {
      sandboxes.close();
      await hyperv.close();
    },
  };
}

/** Waits until the guest's heartbeat is seen; a state without one is left to whoever looks at the machine meanwhile. */
async function awaitHeartbeat(hyperv: HyperV, id: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    const { heartbeat } = await hyperv.getMachine(id, signal);
    if (heartbeat.startsWith("Ok")) return;
    if (heartbeat === "Disabled") {
      throw new HvError("hv.unsupported", "The VM's heartbeat service is turned off", {
        hint: "Turn it on with Enable-VMIntegrationService, or wait for running",
        context: { vm: id, heartbeat },
      });
    }
    await hyperv.host.clock.sleep(LOOK_AGAIN_MS, signal);
  }
}
