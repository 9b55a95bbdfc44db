import { expect, test } from 'vitest';
import { disguiseOf } from './disguise.ts';

const PROGRAM = 'application/vnd.microsoft.portable-executable';

test.each([
  ['invoice.pdf', PROGRAM, { code: 'disguise', params: { ending: 'pdf', media_type: PROGRAM } }],
  ['invoice.pdf', 'application/pdf', undefined],
  ['setup.exe', PROGRAM, undefined],
  ['unknown.pdf', 'application/octet-stream', undefined],
  ['unknown.pdf', null, undefined],
])('%s with the bytes of %s has the right note', (filename, media_type, note) => {
  const found = disguiseOf(filename, media_type);
  if (note === undefined) expect(found).toBeUndefined();
  else expect(found).toMatchObject(note);
});
