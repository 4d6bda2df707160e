/** The bundle as users start it. */

import { BUNDLE_FOLDER } from "../bundle.ts";
import { readPermissionFlags } from "../permissions.ts";

/** Deno's arguments that start the bundle with the release's permissions and these arguments. */
export function bundleArguments(args: readonly string[]): string[] {
  return [
    "run",
    ...readPermissionFlags(),
    "--no-config",
    "--no-lock",
    `${BUNDLE_FOLDER}/main.js`,
    ...args,
  ];
}

/** Deno's arguments that start any other file in the same way. */
export function fileArguments(file: string): string[] {
  return ["run", ...readPermissionFlags(), "--no-config", "--no-lock", file];
}
