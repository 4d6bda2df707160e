/** The operating systems that hvlab runs on. */
export type OperatingSystem = "linux" | "darwin" | "windows";

/** The one that this process runs on. */
export function thisOperatingSystem(): OperatingSystem {
  const { os } = Deno.build;
  return os === "windows" || os === "darwin" ? os : "linux";
}
