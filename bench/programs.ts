// Starts timed programs from a small process, because a large process needs 15 to 25 ms to start another, which would distort the peer's time.
import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';

const runSchema = z.object({ command: z.string(), args: z.array(z.string()) });
const ranSchema = z.object({ ms: z.number(), error: z.string().nullable() });

export interface Programs {
  /** Runs a program and returns its duration in ms. One at a time. @throws Error when it cannot be started. */
  time(command: string, args: readonly string[]): Promise<number>;
  stop(): void;
}

/** Starts the small process. */
export function startPrograms(): Programs {
  const child = fork(fileURLToPath(import.meta.url));
  return {
    async time(command, args) {
      const ran = once(child, 'message');
      child.send({ command, args });
      const [{ ms, error }] = z
        .tuple([ranSchema])
        .rest(z.unknown())
        .parse(await ran);
      if (error !== null) throw new Error(error);
      return ms;
    },
    stop: () => void child.kill(),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const run = promisify(execFile);
  process.on('message', (message) => {
    const { command, args } = runSchema.parse(message);
    const began = performance.now();
    const tell = (error: string | null) => process.send?.({ ms: performance.now() - began, error });
    void run(command, args).then(
      () => tell(null),
      (reason: unknown) => tell(String(reason)),
    );
  });
  process.on('disconnect', () => process.exit(0));
}
