/** What cloud-init in a guest is told at its first boot. */

/** Feature `cloud_init`. */
export interface CloudInitSpec {
  /** What the user gives it, as it is. */
  user_data?: Uint8Array;
  /** Public keys of the image's usual user, a line each. */
  ssh_keys: readonly string[];
  /** The VM's name when left out. */
  host_name?: string;
}
