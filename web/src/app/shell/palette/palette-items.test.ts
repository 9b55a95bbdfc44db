import { IconScan } from '@tabler/icons-react';
import { expect, it } from 'vitest';
import { matching, type PaletteItem } from './palette-items.ts';

const item = (title: string, words = ''): PaletteItem => ({ id: title, title, words, icon: IconScan, to: '/' });
const ITEMS = [item('Antivirus', 'scan malware'), item('Scan files', 'upload'), item('Deep scan'), item('Réglages')];

it.each([
  ['', ['Antivirus', 'Scan files', 'Deep scan', 'Réglages']],
  ['scan', ['Scan files', 'Deep scan', 'Antivirus']],
  ['SCAN up', ['Scan files']],
  ['files scan', ['Scan files']],
  ['canned', []],
  ['can', []],
  ['reg', ['Réglages']],
  ['   ', ['Antivirus', 'Scan files', 'Deep scan', 'Réglages']],
])('%j finds words by their beginnings, those of titles first', (typed, titles) => {
  expect(matching(ITEMS, typed).map(({ title }) => title)).toEqual(titles);
});
