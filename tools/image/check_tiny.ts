/**
 * Boots the built tiny guest in plain QEMU under TCG and checks what it promises.
 *
 *     deno run -A tools/image/check_tiny.ts IMAGE_FOLDER [SCREENSHOT.png]
 *
 * Prints one line a check and ends in `N passed, N failed`. Needs qemu-system-x86_64, qemu-img and ssh.
 */
import assert from "node:assert/strict";
import { isRecord } from "./json_lines.ts";
import { type MachineOptions, TestMachine } from "./test_machine.ts";

type Check = (machine: TestMachine) => Promise<void>;

const [image, screenshot] = Deno.args;
if (image === undefined) {
  throw new Error("usage: deno run -A tools/image/check_tiny.ts IMAGE_FOLDER [SCREENSHOT.png]");
}
const quick: MachineOptions = { image, kernel: "vmlinux" };
let passed = 0;
let failed = 0;

/** Boots one machine and runs the checks on it in order; a failed check does not stop the others. */
async function onMachine(options: MachineOptions, checks: Record<string, Check>): Promise<void> {
  await using machine = await TestMachine.start(options);
  console.log(`agent answered after ${Math.round(await machine.waitForAgent())} ms (${options.kernel})`);
  for (const [name, check] of Object.entries(checks)) {
    try {
      await check(machine);
      passed++;
      console.log(`ok      ${name}`);
    } catch (error) {
      failed++;
      console.log(`FAILED  ${name}: ${error instanceof Error ? error.message : error}`);
    }
  }
}

/** Runs a program on this machine; returns its output and exit code. */
async function host(program: string, ...args: string[]): Promise<{ text: string; code: number }> {
  const output = await new Deno.Command(program, { args, stdin: "null" }).output();
  const decoder = new TextDecoder();
  return { text: decoder.decode(output.stdout) + decoder.decode(output.stderr), code: output.code };
}

/** Reads from the monitor which port of this machine leads to port 22 of the guest. */
async function sshPort(machine: TestMachine): Promise<string> {
  const text = await machine.command("human-monitor-command", { "command-line": "info usernet" });
  const port = /HOST_FORWARD\]\s+\d+\s+127\.0\.0\.1\s+(\d+)\s+10\.0\.2\.15\s+22/.exec(String(text))?.[1];
  assert(port, `no forward to port 22 in ${text}`);
  return port;
}

await onMachine(quick, {
  "everything is there at the first answer": async (machine) => {
    const lines = [
      "ping -c 1 -W 5 10.0.2.2 >/dev/null && echo reachable",
      "grep -c ' /tmp tmpfs ' /proc/mounts",
      "ls /dev/virtio-ports /dev/pts/ptmx /dev/shm -d /dev/fd/0 | wc -l",
      "hostname",
      "ls -d /sys/bus/pci/drivers/pvpanic-pci /sys/module/qemu_fw_cfg | wc -l",
      "stat -c %a / /tmp /root /etc/shadow",
    ];
    assert.equal(await machine.shell(lines.join(";")), "reachable\n1\n4\ntiny\n2\n755\n1777\n700\n600");
  },
  "the users are root and nobody": async (machine) => {
    assert.match((await machine.run("id")).stdout, /^uid=0\(root\) gid=0\(root\)/);
    assert.match((await machine.run("id", "nobody")).stdout, /^uid=65534\(nobody\) gid=65534\(nogroup\)/);
    assert.equal(await machine.shell("su nobody -c 'id -un; echo $HOME'"), "nobody\n/");
  },
  "streams and exit code stay apart": async (machine) => {
    const result = await machine.run("sh", "-c", "echo out; echo err >&2; exit 7");
    assert.deepEqual(result, { stdout: "out\n", stderr: "err\n", code: 7 });
  },
  "arguments arrive byte for byte": async (machine) => {
    const args = ["", " ", "a b", "'", '"', "\\", "a\\", "\n", "$HOME", "&&", "--flag", "*", "é", "😀"];
    const result = await machine.run("sh", "-c", 'for a; do printf "<%s>" "$a"; done', "sh", ...args);
    assert.equal(result.stdout, args.map((arg) => `<${arg}>`).join(""));
  },
  "the usual programs are found": async (machine) => {
    const names =
      "setsid mkfifo timeout sha256sum env id su insmod ip mount stat dd od tar ps uname base64 nc mkfs.ext4 " +
      "mkfs.vfat fsck.ext4 resize2fs mke2fs modprobe dropbear shutdown vi head awk sed";
    assert.equal(
      await machine.shell(`for n in ${names}; do command -v $n >/dev/null || echo no $n; done`),
      "",
    );
    assert.equal(await machine.shell("mkfifo /tmp/p; setsid sh -c 'echo x >/tmp/p' & cat /tmp/p"), "x");
    assert.match(await machine.shell("timeout 0.2 sleep 5; echo $?"), /^143/);
  },
  "programs start with a sane environment": async (machine) => {
    const text = await machine.shell("echo $PATH $HOME $USER; pwd; umask");
    assert.equal(text, "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin /root root\n/\n0022");
    assert.match(await machine.shell("echo $TERM"), /\w/);
  },
  "both ports have their names": async (machine) => {
    assert.equal(await machine.shell("ls /dev/virtio-ports"), "hvlab.data.0\norg.qemu.guest_agent.0");
    assert.equal(await machine.shell("test -c /dev/virtio-ports/hvlab.data.0; echo $?"), "0");
  },
  "an unknown NMI panics and the guest does not reboot by itself": async (machine) => {
    assert.equal(
      await machine.shell("cd /proc/sys/kernel; cat unknown_nmi_panic panic panic_on_oops"),
      "1\n0\n0",
    );
  },
  "the network has its address": async (machine) => {
    assert.match(
      await machine.shell("ip -4 addr show eth0; ip route"),
      /10\.0\.2\.15\/24[^]*default via 10\.0\.2\.2/,
    );
  },
  "orphans are reaped": async (machine) => {
    const zombies = "cat /proc/[0-9]*/stat 2>/dev/null | grep ') Z 1 '";
    await machine.shell(
      `(sleep 0.1 &) ; sleep 0.3; for i in $(seq 100); do ${zombies} || break; usleep 100000; done`,
    );
    assert.equal(await machine.shell(zombies), "");
  },
  "the agent knows system, time and disks": async (machine) => {
    const system = await machine.ask("guest-get-osinfo");
    assert(isRecord(system) && system.id === "tiny" && typeof system["kernel-release"] === "string");
    const interfaces = await machine.ask("guest-network-get-interfaces");
    assert.match(JSON.stringify(interfaces), /10\.0\.2\.15/);
    await machine.ask("guest-set-time", { time: 2_000_000_000 * 1e9 });
    assert.match(await machine.shell("date +%s"), /^20000000\d\d$/);
  },
  "a disk can be plugged in": async (machine) => {
    const path = `${machine.folder}/disk.raw`;
    await Deno.create(path).then(async (file) => (await file.truncate(64 << 20), file.close()));
    await machine.command("blockdev-add", { driver: "file", "node-name": "disk", filename: path });
    await machine.command("device_add", {
      driver: "virtio-blk-pci",
      id: "disk0",
      drive: "disk",
      bus: "port0",
    });
    await machine.shell("for i in $(seq 200); do [ -b /dev/vda ] && break; usleep 20000; done");
    const fill =
      "mount /dev/vda /mnt && echo data >/mnt/f && umount /mnt && mount /dev/vda /mnt && cat /mnt/f; umount /mnt";
    assert.equal(
      await machine.shell(`mkfs.ext4 -q /dev/vda && ${fill}; fsck.ext4 -n /dev/vda >/dev/null 2>&1; echo $?`),
      "data\n0",
    );
    assert.match(await machine.shell(`mkfs.vfat /dev/vda >/dev/null 2>&1 && ${fill}`), /^data$/);
  },
  "a second network interface can be plugged in": async (machine) => {
    await machine.command("netdev_add", { type: "user", id: "n1" });
    await machine.command("device_add", { driver: "virtio-net-pci", id: "nic1", netdev: "n1", bus: "port1" });
    const line =
      "for i in $(seq 200); do ip link show eth1 2>/dev/null | grep -q UP && echo up && break; usleep 20000; done";
    assert.equal(await machine.shell(line), "up");
  },
  "the serial line asks for a login": async (machine) => {
    await machine.waitForSerial((text) => text.includes("login:"));
  },
  "kernel messages reach the serial line": async (machine) => {
    await machine.shell("echo 'tiny check message' >/dev/kmsg");
    await machine.waitForSerial((text) => text.includes("tiny check message"));
  },
  "ssh takes a key and no password": async (machine) => {
    const port = await sshPort(machine);
    const key = `${machine.folder}/key`;
    const options = [
      "-F",
      "none",
      "-o",
      "BatchMode=yes",
      "-o",
      "StrictHostKeyChecking=no",
      "-o",
      "LogLevel=ERROR",
    ];
    options.push("-o", `UserKnownHostsFile=${machine.folder}/hosts`, "-i", key, "-p", port);
    const line = "uname -s; id -u; echo $PATH; exit 3";
    await host("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key);
    await machine.shell("for i in $(seq 250); do nc -z 127.0.0.1 22 && break; usleep 40000; done");
    const refused = await host("ssh", ...options, "root@127.0.0.1", line);
    assert.equal(refused.code, 255);
    assert.match(refused.text, /Permission denied \(publickey\)/);
    const publicKey = (await Deno.readTextFile(`${key}.pub`)).trim();
    await machine.shell(`echo '${publicKey}' >>/root/.ssh/authorized_keys`);
    const accepted = await host("ssh", ...options, "root@127.0.0.1", line);
    assert.equal(accepted.code, 3, accepted.text);
    assert.match(accepted.text, /^Linux\n0\n\S*\/usr\/sbin/);
    await Deno.writeTextFile(`${machine.folder}/file`, "by sftp");
    const copy = [
      "-q",
      ...options.map((option) => option === "-p" ? "-P" : option),
      `${machine.folder}/file`,
    ];
    const copied = await host("scp", ...copy, "root@127.0.0.1:/tmp/file");
    assert.equal(copied.code, 0, copied.text);
    assert.equal(await machine.shell("cat /tmp/file"), "by sftp");
  },
  "a killed agent comes back": async (machine) => {
    await machine.shell("(usleep 200000; killall -9 qemu-ga) </dev/null >/dev/null 2>&1 &");
    // What is sent before the kill would be lost with the old agent.
    await new Promise((resolve) => setTimeout(resolve, 4000));
    await machine.waitForAgent();
    assert.equal(await machine.shell("echo back"), "back");
  },
  "nothing is started over and over": async (machine) => {
    const newest = async (): Promise<number> =>
      Number((await machine.shell("cat /proc/loadavg")).split(" ")[4]);
    const before = await newest();
    await machine.shell("sleep 3");
    assert((await newest()) - before <= 6);
  },
  "the power button stops the guest": async (machine) => {
    await machine.command("system_powerdown");
    assert.equal((await machine.waitForEvent("SHUTDOWN")).event, "SHUTDOWN");
    assert.equal(await machine.waitForEnd(), 0);
  },
});

await onMachine({ image, kernel: "vmlinuz" }, {
  "the screen shows a shell": async (machine) => {
    const prompt = "for i in $(seq 200); do grep -qs ':~#' /dev/vcs1 && break; usleep 50000; done";
    await machine.shell(prompt);
    await machine.command("send-key", { keys: [{ type: "qcode", data: "e" }] });
    await machine.shell("for i in $(seq 200); do grep -qs ':~# e' /dev/vcs1 && break; usleep 50000; done");
    assert.match(await machine.shell("cat /dev/vcs1"), /root@tiny:~# e/);
    await machine.command("screendump", {
      filename: screenshot ?? `${machine.folder}/screen.png`,
      format: "png",
    });
  },
  "a panic is reported and stays": async (machine) => {
    await machine.tell("guest-exec", { path: "sh", arg: ["-c", "echo c >/proc/sysrq-trigger"] });
    await machine.waitForEvent("GUEST_PANICKED");
    await machine.waitForSerial((text) => text.includes("Kernel panic - not syncing: sysrq triggered crash"));
  },
});

await onMachine({ ...quick, nic: false }, {
  "it boots without a network card": async (machine) => {
    assert.equal(await machine.shell("ls /sys/class/net"), "lo");
    await machine.waitForSerial((text) => text.includes("login:"));
  },
  "the agent stops the guest": async (machine) => {
    await machine.tell("guest-shutdown", { mode: "powerdown" });
    assert.equal(await machine.waitForEnd(), 0);
  },
});

await onMachine(quick, {
  "an NMI panics": async (machine) => {
    await machine.command("inject-nmi");
    await machine.waitForEvent("GUEST_PANICKED");
  },
});

console.log(`${passed} passed, ${failed} failed`);
Deno.exit(failed > 0 || passed === 0 ? 1 : 0);
