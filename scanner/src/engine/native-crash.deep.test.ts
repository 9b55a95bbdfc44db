import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const PROCESS = fileURLToPath(new URL('../../test/native-crash-process.ts', import.meta.url));
const answerSchema = z.object({
  threats: z.array(z.string()),
  deaths: z.array(z.int()),
  kind: z.string(),
  note: z.string().nullable(),
  state: z.string(),
  warnings: z.array(z.string()),
  environment: z.record(z.string(), z.string()),
});

const answerOf = (when: string) =>
  answerSchema.parse(
    JSON.parse(
      execFileSync(process.execPath, [PROCESS, when], { encoding: 'utf8', env: {}, stdio: ['ignore', 'pipe', 'ignore'] }),
    ),
  );

describe('a native engine that kills its process', () => {
  test.each([
    ['load', 'SIGILL'],
    ['rules', 'SIGABRT'],
  ])('at its %s gives way to WebAssembly, with the reason on the engine card', { timeout: 120_000 }, (when, signal) => {
    const note = `The native scanner does not run on this computer: it ends with ${signal}. The WebAssembly scanner reads your files instead.`;
    const answer = answerOf(when);
    expect(answer).toMatchObject({
      threats: ['EICAR-Test-File', 'EICAR-Test-File'],
      deaths: [],
      kind: 'wasm',
      note,
      state: 'ready',
      // Trials of feeds and later pools of this process take it as well.
      environment: { PALISADE_ENGINE: 'wasm' },
    });
    expect(answer.warnings.filter((sentence) => sentence === note)).toHaveLength(1);
  });

  test('at a file stays, and the file is pending', { timeout: 120_000 }, () => {
    expect(answerOf('file')).toMatchObject({
      threats: ['engine_failed', 'engine_failed'],
      kind: 'native',
      note: null,
      environment: {},
    });
  });
});
