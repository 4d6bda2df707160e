/**
 * The Linux side of the stand-in for powershell.exe under Wine (source/powershell.c): dials back to its port and gives it
 * the streams and the exit code of the program that HVLAB_WINE_POWERSHELL names, started with the arguments that follow.
 */

const HOST = "127.0.0.1";
/** For ends that no exit code tells. */
const NO_EXIT_CODE = 1;

/** Runs the program to its end. A lost connection ends it: whoever started the stand-in is gone. */
async function bridge(port: number, program: string, args: string[]): Promise<void> {
  const streams = await Deno.connect({ hostname: HOST, port });
  streams.setNoDelay(true);
  const errors = await Deno.connect({ hostname: HOST, port });
  const outcome = await Deno.connect({ hostname: HOST, port });
  const child = new Deno.Command(program, { args, stdin: "piped", stdout: "piped", stderr: "piped" }).spawn();
  const lost = (): void => {
    try {
      child.kill("SIGKILL");
    } catch {
      // It has ended already.
    }
  };
  streams.readable.pipeTo(child.stdin).catch(() => {});
  const written = [
    child.stdout.pipeTo(streams.writable, { preventClose: true }),
    child.stderr.pipeTo(errors.writable, { preventClose: true }),
  ].map((work) => work.catch(lost));
  const { code } = await child.status;
  await Promise.all(written);
  streams.closeWrite().catch(() => {});
  errors.closeWrite().catch(() => {});
  await outcome.write(new TextEncoder().encode(String(code ?? NO_EXIT_CODE)));
}

const [port, ...args] = Deno.args;
await bridge(Number(port), Deno.env.get("HVLAB_WINE_POWERSHELL") ?? "pwsh", args);
Deno.exit(0);
