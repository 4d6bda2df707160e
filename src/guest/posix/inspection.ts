/** Looking into POSIX guests: a fixed shell script for each question, and how its answer is read. */

import type { Inspection } from "../inspection.ts";
import { collectEvents } from "./events.ts";
import { collectInfo } from "./info.ts";
import { collectProcesses } from "./processes.ts";
import { collectServices } from "./services.ts";

export const POSIX_INSPECTION: Inspection = {
  info: collectInfo,
  processes: collectProcesses,
  services: collectServices,
  events: collectEvents,
};
