import { spawn } from 'node:child_process';

/** Follows the kernel's tables (`nft -j monitor`) and reports possible changes of this agent's table, by any program. */
export interface Monitor {
  /** Resolves when the monitoring program has started. */
  ready: Promise<void>;
  stop(): void;
}

/** Pause after each read, in ms: an edit of 100 rules produces hundreds of lines, and reading them would delay its ack. */
const PAUSE_MS = 20;
/** Changes are reported together after `TOGETHER_MS` without a further change, and after `TOGETHER_MOST_MS` at the latest. In ms. */
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

  /** Time of the first unreported change. */
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
      // The table's name may be split between two chunks.
      const is_ours = text.includes(OURS) || `${end}${text.slice(0, OURS.length)}`.includes(OURS);
      end = text.slice(-OURS.length);
      if (is_ours) tell();
      started.stdout.pause();
      setTimeout(() => started.stdout.resume(), PAUSE_MS).unref();
    });
    const again = () => {
      if (is_stopped || restart !== undefined) return;
      // Changes during the gap were missed, so one is reported after the restart.
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
