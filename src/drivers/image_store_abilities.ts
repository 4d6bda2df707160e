/** What a driver with the feature `images.store` must do: images that come from elsewhere, and that go. */

import type { Image } from "../contract/image.ts";
import type { Loss } from "../contract/plan.ts";
import type { Removed } from "../contract/vm.ts";
import type { CallScope } from "./call_scope.ts";

/** An image to be downloaded. */
export interface ImageFetch {
  name: string;
  url: string;
  /** The SHA-256 that the file must have, in lower-case hexadecimal. */
  sha256: string;
  /** The most bytes that are taken from the server. */
  max_bytes: number;
  /** How long a server may send nothing. */
  stall_s: number;
  /** Throws for an address that must not be asked: the one given, and each that a server sends on to. */
  allow: (url: string) => void;
}

/** Images that come and go. An unknown one is `hv.not_found`. */
export interface ImageStoreAbilities {
  /** Downloads a disk as an image. What has come when it breaks off is kept for the next fetch of the name. */
  fetch(wish: ImageFetch, scope: CallScope): Promise<Image>;
  /** What `remove` would lose. `hv.conflict` when a VM or a disk needs the image. */
  losses(name: string, signal: AbortSignal): Promise<Loss[]>;
  /** Removes an image with its templates, and what has come of an unfinished fetch of its name. */
  remove(name: string, scope: CallScope): Promise<Removed>;
}
