/** Where on this host lies what belongs to one guest. */

/** A private folder on this host for what belongs to a VM's guest, such as a stored login. It goes with the VM. */
export interface GuestFolder {
  readonly path: string;
  /**
   * Makes it unless it is there. Throws `hv.not_found` when it lies in the VM's own folder and that is gone: a VM that
   * was removed must not come back as a folder without a record.
   */
  make(): Promise<void>;
}
