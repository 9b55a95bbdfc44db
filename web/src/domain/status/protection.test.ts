import type { Status } from '@palisade/contract/status';
import { expect, it } from 'vitest';
import { statusOf } from '#api/fake-records.ts';
import { protectionOf } from './protection.ts';

const DANGER = { title: 'An infected file', is_danger: true };
const STEP = { title: 'Only a password' };

it.each<[Status, string, number]>([
  [{ ...statusOf(), protected_by: [] }, 'Scans uploads', 0],
  [{ ...statusOf(), protected_by: ['scans'] }, 'Protection active', 0],
  [{ ...statusOf(STEP), protected_by: ['scans'] }, 'Protection active · 1 to do', 1],
  [{ ...statusOf(DANGER), protected_by: ['scans'] }, '1 danger', 1],
  [{ ...statusOf(DANGER, STEP, STEP), protected_by: [] }, '1 danger · 2 to do', 3],
])('names the danger first, then what is left to do', (status, words, steps) => {
  expect(protectionOf(status)).toEqual({ words, steps });
});
