import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestOptions, test } from 'vitest';

type Body = () => void | Promise<void>;
type Rest = [body: Body] | [options: TestOptions, body: Body];

const bodyOf = (rest: Rest): Body => (rest.length === 1 ? rest[0] : rest[1]);
const optionsOf = (rest: Rest): TestOptions => (rest.length === 1 ? {} : rest[0]);

/**
 * Tests that need something of the machine: a program by its name in scripts/packages.mjs, or a right. Where it is missing, a group is one skipped test and its body does not
 * run: vitest runs the body of an asynchronous group even when the group is skipped. The gates print what skipped tests need.
 */
export function needing(need: string, is_there: boolean) {
  return {
    describe(name: string, ...rest: Rest): void {
      if (is_there) describe(name, optionsOf(rest), bodyOf(rest));
      else describe(name, () => test.skip(`[needs ${need}]`, () => undefined));
    },
    test(name: string, ...rest: Rest): void {
      if (is_there) test(name, optionsOf(rest), bodyOf(rest));
      else test.skip(`${name} [needs ${need}]`, () => undefined);
    },
  };
}

/** Whether files are dated by the clock of this process. libfaketime, with which the deep gate tries other days, leaves the times of files alone. */
export function filesHaveThisClock(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-clock-'));
  const away_ms = Math.abs(statSync(folder).mtimeMs - Date.now());
  rmSync(folder, { recursive: true });
  return away_ms < 60_000;
}
export const FILES_HAVE_THIS_CLOCK = 'files with the time of this process';
