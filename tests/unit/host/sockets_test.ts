/** Connecting to unix sockets: what becomes of those who stand in a queue. */

import assert from "node:assert/strict";
import { denoSockets } from "../../../src/host/sockets.ts";
import { withTemporaryFolder } from "../../support/temporary_folder.ts";

const ignore = Deno.build.os === "windows";

Deno.test({
  name: "a listener that closes with us in its queue counts as nobody",
  ignore,
  async fn() {
    await withTemporaryFolder(async (folder) => {
      const path = `${folder}/socket`;
      const listener = denoSockets.listenUnix(path);
      const connecting = denoSockets.connectUnix(path);
      listener.close();
      using connection = await connecting;
      if (connection !== undefined) assert.equal(await connection.read(), null);
    });
  },
});
