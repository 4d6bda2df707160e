/** The PowerShell source of the sidecar. It is fixed text: nothing in it is ever made from a value. */

import bootstrap from "../ps/bootstrap.ps1" with { type: "text" };
import checkpoints from "../ps/checkpoints.ps1" with { type: "text" };
import consoleOperations from "../ps/console.ps1" with { type: "text" };
import copies from "../ps/copies.ps1" with { type: "text" };
import credentials from "../ps/credentials.ps1" with { type: "text" };
import creation from "../ps/creation.ps1" with { type: "text" };
import devices from "../ps/devices.ps1" with { type: "text" };
import disks from "../ps/disks.ps1" with { type: "text" };
import guest from "../ps/guest.ps1" with { type: "text" };
import guestEnd from "../ps/guest_end.ps1" with { type: "text" };
import host from "../ps/host.ps1" with { type: "text" };
import library from "../ps/library.ps1" with { type: "text" };
import loop from "../ps/loop.ps1" with { type: "text" };
import machines from "../ps/machines.ps1" with { type: "text" };
import nat from "../ps/nat.ps1" with { type: "text" };
import networks from "../ps/networks.ps1" with { type: "text" };
import removal from "../ps/removal.ps1" with { type: "text" };
import report from "../ps/report.ps1" with { type: "text" };
import rights from "../ps/rights.ps1" with { type: "text" };
import settings from "../ps/settings.ps1" with { type: "text" };
import worker from "../ps/worker.ps1" with { type: "text" };

/** What the program is started with; it reads the loop from its input. */
export const BOOTSTRAP = bootstrap;
/** The loop that reads requests. */
export const LOOP = loop;
/** What runs one request in a runspace. */
export const WORKER = worker;
/** All functions that the runspaces have. */
export const LIBRARY = [
  library,
  rights,
  machines,
  creation,
  copies,
  removal,
  disks,
  settings,
  networks,
  nat,
  devices,
  checkpoints,
  consoleOperations,
  host,
  report,
  credentials,
  guest,
]
  .join("\n");
/** What each guest is told once: the functions that may run in it. */
export const GUEST_END = guestEnd;
