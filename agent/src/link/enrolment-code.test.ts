import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { readCode, readEnrolArguments } from './enrolment-code.ts';

const folder = mkdtempSync(join(tmpdir(), 'palisade-code-'));
const SERVER = 'https://palisade.example.org';

describe('the arguments of enrol', () => {
  test.each([
    { args: [], address: undefined, code_file: undefined },
    { args: [SERVER], address: SERVER, code_file: undefined },
    { args: ['--code-file', '/root/code'], address: undefined, code_file: '/root/code' },
    { args: ['--code-file=/root/code', SERVER], address: SERVER, code_file: '/root/code' },
    { args: [SERVER, '--code-file', '/root/code'], address: SERVER, code_file: '/root/code' },
  ])('$args', ({ args, ...read }) => {
    expect(readEnrolArguments(args)).toEqual(read);
  });

  test.each([[['K7M4Q-P9XDA']], [['k7m4qp9xda']], [['K7M4Q-P9XDA', SERVER]], [[SERVER, 'K7M4Q-P9XDA']], [['x', SERVER]]])(
    'have no code: %j',
    (args) => {
      expect(() => readEnrolArguments(args)).toThrow('Other users of this computer can read a code that is an argument.');
    },
  );

  test.each([[['--code-file']], [['--code-file=']]])('name the file: %j', (args) => {
    expect(() => readEnrolArguments(args)).toThrow('Name the file');
  });
});

describe('the code', () => {
  const fileOf = (text: string, mode = 0o600) => {
    const path = join(folder, `code-${Math.random()}`);
    writeFileSync(path, text);
    chmodSync(path, mode);
    return path;
  };

  test('comes from a file', async () => {
    expect(await readCode(fileOf('K7M4Q-P9XDA\n'))).toBe('K7M4QP9XDA');
    await expect(readCode(fileOf('nothing'))).rejects.toThrow('An enrollment code has 10 letters and digits');
    await expect(readCode(join(folder, 'none'))).rejects.toThrow('could not be read');
  });

  test.each([0o640, 0o604, 0o620, 0o666])('not from a file that others can read or write: %o', async (mode) => {
    await expect(readCode(fileOf('K7M4Q-P9XDA', mode))).rejects.toThrow('Other users can read');
  });

  const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url));
  const environment = { ...env, PALISADE_AGENT_STATE: folder, PALISADE_AGENT_RUN: folder };

  test('is asked for at the terminal, and not at the standard input, which is the script', () => {
    // `script` gives the command a terminal of its own. Port 1 is closed, so that enrolling ends there.
    const command = `echo AAAAA-AAAAA | '${process.execPath}' '${MAIN}' enrol http://127.0.0.1:1`;
    const { stdout } = spawnSync('script', ['-qec', command, '/dev/null'], {
      input: 'K7M4Q-P9XDA\n',
      env: environment,
      encoding: 'utf8',
    });
    expect(stdout).toContain('Enrollment code: ');
    expect(stdout).toContain('could not be reached');
  });

  test('without a terminal is refused with the way to give a file', () => {
    const { stderr, status } = spawnSync('setsid', ['-w', process.execPath, MAIN, 'enrol', 'http://127.0.0.1:1'], {
      input: 'K7M4Q-P9XDA\n',
      env: environment,
      encoding: 'utf8',
    });
    expect(stderr).toContain('There is no terminal to type the code at.');
    expect(status).toBe(1);
  });
});
