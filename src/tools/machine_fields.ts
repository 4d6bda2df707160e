/** Fields that several tools take for a machine, and what they mean on their help pages. */

import * as z from "zod/mini";
import { Cpus, MemoryMb, TtlS } from "../contract/arguments.ts";
import { Path } from "../contract/path.ts";
import { ShareWord } from "../contract/share.ts";

/** Memory and processors of a machine. */
export const SIZE_FIELDS = { memory_mb: z.optional(MemoryMb), cpus: z.optional(Cpus) };
/** What {@link SIZE_FIELDS} mean. */
export const SIZE_HELP = {
  memory_mb: "Memory; without it the configuration's default, 512 MiB unless hvlab.yaml says otherwise",
  cpus: "Virtual processors; without it the configuration's default, 1 unless hvlab.yaml says otherwise",
} as const;

/** A kernel of the user's own. */
export const KERNEL_FIELDS = {
  kernel: z.optional(Path),
  initrd: z.optional(Path),
  append: z.optional(z.string()),
  modules: z.optional(Path),
};
/** What {@link KERNEL_FIELDS} mean. */
export const KERNEL_HELP = {
  kernel: "Linux kernel of the host, or a built kernel tree, to boot in place of the image's own",
  initrd: "File of the host to use in place of the image's initial file system",
  append: "Words behind the image's own kernel command line",
  modules: "Folder of the host whose kernel modules are added to the initial file system",
} as const;

/** Shared folders. */
export const SHARE_FIELDS = { share: z._default(z.array(ShareWord), []) };
/** What {@link SHARE_FIELDS} mean. */
export const SHARE_HELP = {
  share: "Folder of the host that the guest sees, written HOST_DIR:GUEST_DIR; with :ro it cannot change it",
} as const;

/** What becomes of a VM's crashes. */
export const CRASH_HELP = {
  on_crash: "When its guest's kernel crashes: only stop, keep its memory and console, or say why as well",
  panic_on: "What its Linux kernel is to crash at as well; repeat it for more than one",
} as const;

/** What every new sandbox takes. */
export const SANDBOX_FIELDS = {
  ttl_s: z._default(TtlS, 3600),
  ...SIZE_FIELDS,
  ...KERNEL_FIELDS,
  ...SHARE_FIELDS,
  fresh_identity: z._default(z.boolean(), false),
};
/** What {@link SANDBOX_FIELDS} mean, and the image beside them. */
export const SANDBOX_HELP = {
  image: "Image that it starts from; see hvlab image list",
  ttl_s: "Lease: when it has passed, the sandbox is removed",
  fresh_identity: "Give the guest a host name, machine id and SSH host keys of its own",
  ...SIZE_HELP,
  ...KERNEL_HELP,
  ...SHARE_HELP,
} as const;

/** Settings beside the size of a VM. */
export const SETTINGS_HELP = {
  dynamic_memory: "Let its memory grow and shrink while it runs (this and all below: Hyper-V only)",
  memory_min_mb: "Least memory of a VM whose memory is dynamic",
  memory_max_mb: "Most memory of a VM whose memory is dynamic",
  boot: "Kind of device to boot from first; repeat it for the second and third",
  secure_boot: "Whose keys Secure Boot trusts; choose before the VM gets a TPM",
  tpm: "Give it a TPM, or take it away with what is sealed in it",
  nested: "Let its guest run virtual machines itself",
  on_host_start: "What becomes of it when the host starts",
  start_delay_s: "How long after the host's start it starts",
  on_host_stop: "What becomes of it when the host shuts down",
  notes: "Your own text about it; hvlab's marks stay",
} as const;
