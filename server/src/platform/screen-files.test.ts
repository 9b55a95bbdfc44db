import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readScreenTags } from './screen-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'palisade-screen-files-'));

it('names the files of the screen at a path', () => {
  const listed = { '/dashboard': ['/assets/home.js', '/assets/home.css'], '/help/:slug': ['/assets/article.js'] };
  writeFileSync(join(folder, 'screen-files.json'), JSON.stringify(listed));
  const tagsFor = readScreenTags(folder);
  const home =
    '<link rel="modulepreload" crossorigin href="/assets/home.js"><link rel="preload" as="style" crossorigin href="/assets/home.css">';
  expect(tagsFor('/dashboard')).toBe(home);
  expect(tagsFor('/dashboard?open=security#top')).toBe(home);
  expect(tagsFor('/help/first-scan')).toBe('<link rel="modulepreload" crossorigin href="/assets/article.js">');
  for (const other of ['/', '/help/', '/dashboards', '/dashboard/more', '/constructor']) expect(tagsFor(other)).toBe('');
});

it('names none without a list', () => {
  expect(readScreenTags(join(folder, 'missing'))('/dashboard')).toBe('');
});
