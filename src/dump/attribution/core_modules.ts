/** Images that stand on most stacks and are seldom to blame: the system's own. */

/** The kernel and the drivers through which others run. */
const KERNEL = words(
  "nt ntoskrnl ntkrnlpa ntkrnlmp ntkrpamp hal wdf01000 ndis storport fltmgr dxgkrnl dxgmms2 ci acpi pci tcpip " +
    "ksecdd verifierext verifier",
);
/** What programs are started by, and what raises exceptions for them. */
const USER = words(
  "ntdll kernel32 kernelbase user32 win32u gdi32 gdi32full msvcrt ucrtbase ucrtbased vcruntime140 vcruntime140d " +
    "msvcp140 combase rpcrt4 wow64 wow64cpu wow64win",
);

/** The same on other systems, whatever version is in the name. */
const FOREIGN =
  /^(?:libc|libpthread|libstdc\+\+|libgcc_s|ld|libsystem_\w+|libobjc|libc\+\+(?:abi)?|libdispatch|dyld)(?:[-.].*)?$/;

/** Whether an image is the system's own; `name` is its file name, `kernel` the kernel's, whatever it is called. */
export function isCoreModule(mode: "kernel" | "user", name: string, kernel: string | null): boolean {
  const bare = name.toLowerCase().replace(/\.(?:sys|exe|dll)$/, "");
  if (mode === "user") return USER.has(bare) || FOREIGN.test(bare);
  return KERNEL.has(bare) || name === kernel;
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(" "));
}
