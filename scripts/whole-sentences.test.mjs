import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './node-runtime.mjs';
import { joinedSentencesOf } from './whole-sentences.mjs';

/** Files that join all the same, and why. */
const REASONS = new Map([
  ['app/shell/user-menu-button.tsx', 'the label of the specification, and a word for screen readers behind it'],
]);

test('no screen joins a sentence from parts', () => {
  const folder = join(ROOT, 'web/src');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => /(?<!\.test)\.tsx$/u.test(path));
  expect(files.length).toBeGreaterThan(200);
  const found = files.flatMap((path) =>
    joinedSentencesOf(path, readFileSync(join(folder, path), 'utf8')).map(({ line, jsx }) => ({ path, line, jsx })),
  );
  expect(found.filter(({ path }) => !REASONS.has(path))).toEqual([]);
  expect(new Set(found.map(({ path }) => path))).toEqual(new Set(REASONS.keys()));
});

test.each([
  '<p>Expires <time>{day}</time></p>',
  '<p><bdi>{name}</bdi> has joined</p>',
  '<p><b>{price}</b> for {span}</p>',
  "<p>{isOver ? 'Ended' : 'Ends'} <Moment iso={at} /></p>",
  "<p>{device.name} {isOnline ? 'is connected.' : 'is added.'}</p>",
  "<p>{threat}{' in '}<FileName name={file} /></p>",
  '<p>{count} quoted lines</p>',
  "<>{' by '}<span>{engines}</span></>",
])('%s joins a sentence', (jsx) => {
  expect(joinedSentencesOf('page.tsx', `const page = ${jsx};`)).toHaveLength(1);
});

test.each([
  '<p>{describeExpiry(day)}</p>',
  '<p><Sentence text="Expires {day}" parts={{ day }} /></p>',
  '<p>Nothing is shared. {describeState(state)}</p>',
  '<p><b>Paused.</b> Nothing is shown.</p>',
  '<p><IconCheck aria-hidden="true" /> Connected</p>',
  '<p>Manage{count > 0 && (<span aria-hidden="true">{count}</span>)}</p>',
  "<p>{isAutomatic && (isOwn ? 'You: ' : 'Support: ')}{text}</p>",
  '<p>v{VERSION}</p>',
  '<p>/help/{slug}</p>',
  '<dl><dt>Names</dt><dd>{names}</dd></dl>',
])('%s joins none', (jsx) => {
  expect(joinedSentencesOf('page.tsx', `const page = ${jsx};`)).toEqual([]);
});
