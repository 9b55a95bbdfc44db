import { fork } from 'node:child_process';
import { z } from 'zod';
import { engineEnvironment } from '#scanner/yara/choose-engine.ts';
import type { SignatureFiles } from './signature-files.ts';

const PROCESS_FILE = new URL(
  import.meta.url.endsWith('.ts') ? './set-trial-process.ts' : './set-trial-process.js',
  import.meta.url,
);
const answerSchema = z.object({ wrong: z.string().nullable() });
/** Compiling the rules of the largest feeds takes some 20 s. ms. */
const SET_TRIAL_MS = 240_000;

/** Tests a set in a process of its own. Returns what is wrong with it, in one sentence; undefined if it passes. */
export function trySet(files: SignatureFiles & { samples_folder: string }, signal: AbortSignal): Promise<string | undefined> {
  const child = fork(PROCESS_FILE, [], {
    ...{ serialization: 'advanced', env: engineEnvironment(), execArgv: [], stdio: ['ignore', 'ignore', 'ignore', 'ipc'] },
    ...{ signal, killSignal: 'SIGKILL' as const, timeout: SET_TRIAL_MS },
  });
  return new Promise((resolve) => {
    let answer: z.infer<typeof answerSchema> | undefined;
    const end = () =>
      resolve(answer === undefined ? 'Its trial ended without an answer, or took too long.' : (answer.wrong ?? undefined));
    child.on('message', (message) => {
      answer = answerSchema.safeParse(message).data;
    });
    child.once('exit', end);
    child.once('error', end);
    child.send(files, () => {});
  });
}
