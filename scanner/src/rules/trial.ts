import { fork } from 'node:child_process';
import { engineEnvironment } from '#scanner/yara/choose-engine.ts';
import { type Trial, type TrialAnswer, trialAnswerSchema } from './trial-messages.ts';

const PROCESS_FILE = new URL(import.meta.url.endsWith('.ts') ? './trial-process.ts' : './trial-process.js', import.meta.url);

/** Some thousand rules of public sets compile in 20 s, are tested on harmless files in as much, and their speed is measured in at most 45 s. ms. */
export const TRIAL_TIME_MS = 240_000;

/** Tests a feed in a process of its own, which is killed after `time_ms`, or by the signal. */
export function tryFeed(trial: Trial, time_ms: number, signal: AbortSignal): Promise<TrialAnswer> {
  const child = fork(PROCESS_FILE, [], {
    serialization: 'advanced',
    env: engineEnvironment(),
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    signal,
    killSignal: 'SIGKILL',
  });
  return new Promise((resolve) => {
    let timed_out = false;
    let answer: TrialAnswer | undefined;
    const timer = setTimeout(() => {
      timed_out = true;
      child.kill('SIGKILL');
    }, time_ms);
    const end = () => {
      clearTimeout(timer);
      const sentence = timed_out
        ? `Its trial took longer than ${Math.round(time_ms / 1000)} s.`
        : 'Its trial ended without an answer: it needs too much memory, or it breaks the engine.';
      resolve(answer ?? { kind: 'refused', sentence });
    };
    child.on('message', (message) => {
      answer = trialAnswerSchema.safeParse(message).data;
    });
    child.once('exit', end);
    child.once('error', end);
    // If the process has already ended, its `exit` event reports that.
    child.send(trial, () => {});
  });
}
