import * as z from "zod/mini";
import { HvError } from "../../base/errors.ts";
import { Image } from "../../contract/image.ts";
import { ImageName } from "../../contract/names.ts";
import { abilityOf } from "../../flows/abilities.ts";
import { checkDownload } from "../download_policy.ts";
import { defineTool } from "../define_tool.ts";

const GIB = 1024 ** 3;

/** Downloads a disk as an image. A download that broke off goes on where it was. */
export default defineTool({
  name: "image_fetch",
  family: "image",
  class: "M",
  summary: "Download a disk image, proved by its SHA-256",
  input: {
    url: z.string().check(
      z.regex(/^https?:\/\/[^\s/]+/i, "an address begins with http:// or https://"),
      z.refine((address) => URL.canParse(address), "it is no address"),
    ),
    sha256: z.string().check(z.regex(/^[0-9A-Fa-f]{64}$/, "a SHA-256 has 64 hexadecimal digits")),
    name: ImageName,
    max_bytes: z._default(z.int().check(z.minimum(1), z.maximum(1024 * GIB)), 64 * GIB),
    stall_s: z._default(z.int().check(z.minimum(1), z.maximum(600)), 60),
  },
  positional: ["url"],
  help: {
    max_bytes: "The most that is taken from the server",
    stall_s: "How long the server may send nothing",
  },
  output: Image,
  uses: ["driver"],
  feature: "images.store",
  timed: true,
  handle({ url, sha256, ...wish }, context) {
    refuseLogin(url);
    const { driver, config, door } = context;
    return abilityOf(driver, "imageStore").fetch({
      ...wish,
      url,
      sha256: sha256.toLowerCase(),
      allow: (address) => checkDownload(config, door, address),
    }, context);
  },
});

/** Arguments are recorded, so nothing secret may stand in them. */
function refuseLogin(url: string): void {
  const { username, password } = new URL(url);
  if (username === "" && password === "") return;
  throw new HvError("hv.usage", "The address holds a user's name or password", {
    hint: "Give an address that can be read without",
  });
}
