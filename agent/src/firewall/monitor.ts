import { spawn } from 'node:child_process';

/** Follows the kernel's tables (`nft -j monitor`) and reports possible changes of this agent's table, by any program. */
export interface Monitor {
  /** Resolves once the kernel is listened to. */
  ready: Promise<void>;
  stop(): void;
}

/** The pause after a read, in ms: an edit of 100 rules is hundreds of lines, which would delay its own answer. */
const PAUSE_MS = 20;
/** Changes that come together are reported once, after so long without another one, and after so long in all, in ms. */
const TOGETHER_MS = 2 * PAUSE_MS;
const TOGETHER_MOST_MS = 500;
const OURS = '"palisade"';
const RESTART_MS = 5_000;

export function createMonitor(command: readonly string[], onChange: () => void): Monitor {
  const [program = '', ...before] = command;
  let told: NodeJS.Timeout | undefined;
  let restart: NodeJS.Timeout | undefined;
  let is_stopped = false;
  let child = start();

  /** Time of the first change that was not reported. */
  let since: number | undefined;

  function tell(): void {
    if (is_stopped) return;
    since ??= performance.now();
    clearTimeout(told);
    told = setTimeout(
      () => {
        since = undefined;
        onChange();
      },
      performance.now() - since > TOGETHER_MOST_MS ? 0 : TOGETHER_MS,
    );
  }

  function start() {
    const started = spawn(program, [...before, '-j', 'monitor'], { stdio: ['ignore', 'pipe', 'ignore'] });
    let end = '';
    started.stdout.setEncoding('latin1').on('data', (text: string) => {
      // Our name may be cut in two by where a part ends.
      const is_ours = text.includes(OURS) || `${end}${text.slice(0, OURS.length)}`.includes(OURS);
      end = text.slice(-OURS.length);
      if (is_ours) tell();
      started.stdout.pause();
      setTimeout(() => started.stdout.resume(), PAUSE_MS).unref();
    });
    const again = () => {
      if (is_stopped || restart !== undefined) return;
      // Changes meanwhile were missed.
      restart = setTimeout(() => {
        restart = undefined;
        child = start();
        tell();
      }, RESTART_MS);
      restart.unref();
    };
    started.once('error', again);
    started.once('exit', again);
    return started;
  }

  return {
    ready: new Promise((resolve) => child.once('spawn', resolve)),
    stop() {
      is_stopped = true;
      clearTimeout(told);
      clearTimeout(restart);
      child.kill();
    },
  };
}
