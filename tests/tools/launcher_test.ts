/** The launcher for clones: how it finds its place, what it passes on, and which programs it adds. */

import assert from "node:assert/strict";
import { ROOT, runProgram } from "../../tools/programs.ts";

const ignore = Deno.build.os === "windows";

/** A clone in small: the launcher, the permission list, and a program that shows what it was given. */
class Clone implements AsyncDisposable {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async make(): Promise<Clone> {
    const folder = await Deno.makeTempDir({ prefix: "hvlab clone " });
    await Deno.mkdir(`${folder}/tools`);
    await Deno.mkdir(`${folder}/npm`);
    await Deno.mkdir(`${folder}/home`);
    for (const file of ["tools/hvlab", "tools/permissions.txt", "npm/package.json"]) {
      await Deno.copyFile(`${ROOT}/${file}`, `${folder}/${file}`);
    }
    await Deno.writeTextFile(`${folder}/deno.json`, "{}");
    await Deno.writeTextFile(
      `${folder}/main.ts`,
      `const ask = (Deno.env.get("HVLAB_ASK") ?? "").split("|").filter((text) => text !== "");
       const may = ask.filter((command) => Deno.permissions.querySync({ name: "run", command }).state === "granted");
       console.log(JSON.stringify({ args: Deno.args, may, cwd: Deno.cwd() }));
       Deno.exit(Number(Deno.env.get("HVLAB_CODE") ?? 0));`,
    );
    return new Clone(folder);
  }

  async run(
    args: string[],
    { env = {}, cwd = this.folder, launcher = `${this.folder}/tools/hvlab` } = {},
  ): Promise<{ code: number; stderr: string; args?: unknown; may?: unknown; cwd?: unknown }> {
    const home = { HOME: `${this.folder}/home`, XDG_CONFIG_HOME: "" };
    const { code, stdout, stderr } = await runProgram(launcher, args, { cwd, env: { ...home, ...env } });
    return { code, stderr, ...(stdout === "" ? {} : JSON.parse(stdout)) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.folder, { recursive: true });
  }
}

Deno.test({ name: "the launcher passes arguments through byte for byte", ignore }, async () => {
  await using clone = await Clone.make();
  const nasty = [
    "",
    " ",
    "a b",
    "*",
    "$HOME",
    "`id`",
    '"',
    "'",
    "\\",
    "\n",
    "a\n",
    "-x",
    "--",
    "é€😀",
    "a;b|c&d",
    "#",
    "~",
    "--no-prompt",
  ];
  assert.deepEqual((await clone.run(nasty)).args, nasty);
});

Deno.test(
  { name: "the launcher gives the program's own exit code and prints nothing itself", ignore },
  async () => {
    await using clone = await Clone.make();
    const { code, stderr } = await clone.run(["x"], { env: { HVLAB_CODE: "77" } });
    assert.equal(code, 77);
    assert.equal(stderr, "");
  },
);

Deno.test({ name: "the launcher works from any folder and through symbolic links", ignore }, async () => {
  await using clone = await Clone.make();
  await Deno.mkdir(`${clone.folder}/far away/bin`, { recursive: true });
  await Deno.symlink("../../tools/hvlab", `${clone.folder}/far away/bin/first`);
  await Deno.symlink(`${clone.folder}/far away/bin/first`, `${clone.folder}/second`);
  const answer = await clone.run(["x"], { launcher: `${clone.folder}/second`, cwd: "/" });
  assert.deepEqual(answer.args, ["x"]);
  assert.equal(answer.cwd, "/");
});

Deno.test({ name: "the launcher adds the programs that the configuration names", ignore }, async () => {
  await using clone = await Clone.make();
  const tool = `${clone.folder}/my tool`;
  const other = `${clone.folder}/other`;
  const foreign = `${clone.folder}/foreign`;
  for (const path of [tool, other, foreign]) await Deno.copyFile("/bin/true", path);
  const yaml = [
    "state: /somewhere",
    "programs:",
    "  # the debugger",
    `  cdb.exe: "${tool}"   # quoted`,
    "",
    `  qemu-img:   ${other} \r`,
    "policy:",
    `  x: ${foreign}`,
    "",
  ].join("\n");
  await Deno.writeTextFile(`${clone.folder}/lab.yaml`, yaml);
  const env = { HVLAB_ASK: [tool, other, foreign].join("|") };
  const wanted = [tool, other];
  assert.deepEqual((await clone.run(["vm", "--config", "lab.yaml"], { env })).may, wanted);
  assert.deepEqual((await clone.run(["--config=lab.yaml", "vm"], { env })).may, wanted);
  assert.deepEqual((await clone.run(["vm"], { env })).may, []);
  assert.deepEqual((await clone.run(["vm", "--", "--config", "lab.yaml"], { env })).may, []);

  await Deno.mkdir(`${clone.folder}/configs/hvlab`, { recursive: true });
  await Deno.rename(`${clone.folder}/lab.yaml`, `${clone.folder}/configs/hvlab/hvlab.yaml`);
  if (Deno.build.os !== "linux") return;
  const fromFolder = { ...env, XDG_CONFIG_HOME: `${clone.folder}/configs` };
  assert.deepEqual((await clone.run(["vm"], { env: fromFolder })).may, wanted);
  const fromWorkingFolder = { ...env, XDG_CONFIG_HOME: "configs" };
  assert.deepEqual((await clone.run(["vm"], { env: fromWorkingFolder })).may, []);
});

Deno.test({ name: "the launcher reads past a byte order mark", ignore }, async () => {
  await using clone = await Clone.make();
  const tool = `${clone.folder}/tool`;
  await Deno.copyFile("/bin/true", tool);
  await Deno.writeTextFile(`${clone.folder}/lab.yaml`, `\uFEFFprograms:\n  qemu-img: ${tool}\n`);
  assert.deepEqual((await clone.run(["--config", "lab.yaml"], { env: { HVLAB_ASK: tool } })).may, [tool]);
});

Deno.test({ name: "the launcher takes no configuration from the working folder", ignore }, async () => {
  await using clone = await Clone.make();
  const tool = `${clone.folder}/tool`;
  await Deno.copyFile("/bin/true", tool);
  for (const folder of [".config", "home/.config"]) {
    await Deno.mkdir(`${clone.folder}/${folder}/hvlab`, { recursive: true });
    await Deno.writeTextFile(`${clone.folder}/${folder}/hvlab/hvlab.yaml`, `programs:\n  cdb.exe: ${tool}\n`);
  }
  for (const place of [{ HOME: "" }, { HOME: "home" }, { HOME: "", XDG_CONFIG_HOME: ".config" }]) {
    const { may } = await clone.run(["vm"], { env: { HVLAB_ASK: tool, ...place } });
    assert.deepEqual(may, [], JSON.stringify(place));
  }
});

Deno.test({ name: "the launcher leaves Windows' programs to Windows", ignore }, async () => {
  await using clone = await Clone.make();
  const env = { HVLAB_ASK: "cat|taskkill.exe" };
  assert.deepEqual((await clone.run(["vm"], { env })).may, ["cat"]);
});

Deno.test({ name: "a program whose path holds a comma is left out aloud", ignore }, async () => {
  await using clone = await Clone.make();
  await Deno.writeTextFile(`${clone.folder}/lab.yaml`, "programs:\n  cdb.exe: /opt/a,b\n");
  const { code, stderr } = await clone.run(["--config", "lab.yaml"]);
  assert.equal(code, 0);
  assert.match(stderr, /left out the program '\/opt\/a,b'/);
});

Deno.test({ name: "without Deno the launcher says how to get it", ignore }, async () => {
  await using clone = await Clone.make();
  await Deno.mkdir(`${clone.folder}/bin`);
  for (const program of ["sed", "readlink", "uname", "sh"]) {
    const found = ["/usr/bin", "/bin"].map((folder) => `${folder}/${program}`);
    for (const path of found) {
      if (await Deno.stat(path).then(() => true, () => false)) {
        await Deno.symlink(path, `${clone.folder}/bin/${program}`);
        break;
      }
    }
  }
  const { code, stderr } = await clone.run([], { env: { PATH: `${clone.folder}/bin` } });
  assert.equal(code, 8);
  assert.match(stderr, /cannot find the program 'deno'\nhint: npm install --global deno@\d+\.\d+\.\d+\n/);
});
