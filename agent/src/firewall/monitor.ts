import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** Follows the kernel's tables (`nft -j monitor`) and tells when something of ours may have changed, whoever changed it. */
export interface Monitor {
  /** Resolves once the kernel is listened to. */
  ready: Promise<void>;
  stop(): void;
}

/** Changes that come together are told once, after so long, in ms. */
const TOGETHER_MS = 20;
const RESTART_MS = 5_000;

export function createMonitor(command: readonly string[], onChange: () => void): Monitor {
  const [program = '', ...before] = command;
  let told: NodeJS.Timeout | undefined;
  let restart: NodeJS.Timeout | undefined;
  let is_stopped = false;
  let child = start();

  function tell(): void {
    if (told !== undefined || is_stopped) return;
    told = setTimeout(() => {
      told = undefined;
      onChange();
    }, TOGETHER_MS);
  }

  function start() {
    const started = spawn(program, [...before, '-j', 'monitor'], { stdio: ['ignore', 'pipe', 'ignore'] });
    createInterface(started.stdout).on('line', (line) => {
      if (line.includes('"palisade"')) tell();
    });
    const again = () => {
      if (is_stopped || restart !== undefined) return;
      // What happened meanwhile was not heard.
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
