/** All behaviours of the contract, in one import. */

import "./life.ts";
import "./plans.ts";
import "./guests.ts";
import "./sandboxes.ts";
import "./pause.ts";
import "./checkpoints.ts";
import "./configure.ts";
import "./copies.ts";
import "./several.ts";
import "./networks.ts";
import "./disks.ts";
import "./console.ts";
