/** What the fields that several tools take mean, for their help pages. */

/** Memory and processors of a new machine. */
export const SIZE_HELP = {
  memory_mb: "Memory; without it the configuration's default, 512 MiB unless hvlab.yaml says otherwise",
  cpus: "Virtual processors; without it the configuration's default, 1 unless hvlab.yaml says otherwise",
} as const;

/** A kernel of the user's own. */
export const KERNEL_HELP = {
  kernel: "Linux kernel of the host, or a built kernel tree, to boot in place of the image's own",
  initrd: "File of the host to use in place of the image's initial file system",
  append: "Words behind the image's own kernel command line",
  modules: "Folder of the host whose kernel modules are added to the initial file system",
} as const;

/** Shared folders. */
export const SHARE_HELP = {
  share: "Folder of the host that the guest sees, written HOST_DIR:GUEST_DIR; with :ro it cannot change it",
} as const;

/** What every new sandbox takes. */
export const SANDBOX_HELP = {
  image: "Image that it starts from; see hvlab image list",
  ttl_s: "Lease: when it has passed, the sandbox is removed",
  fresh_identity: "Give the guest a host name, machine id and SSH host keys of its own",
  ...SIZE_HELP,
  ...KERNEL_HELP,
  ...SHARE_HELP,
} as const;
