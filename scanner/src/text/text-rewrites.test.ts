import { expect, test } from 'vitest';
import { rewritten } from './text-rewrites.ts';

const HEAD = '#!/bin/sh\nx = replace\n';
const BYTES = 256 * 1024 - HEAD.length;

function timeOf(piece: string): number {
  const text = Buffer.from(HEAD + piece.repeat(Math.floor(BYTES / piece.length)));
  const began = performance.now();
  rewritten(text);
  return performance.now() - began;
}

test.each(["'", '"', "'\\''", "\\'", "'' /**/", `${"''".repeat(3000)}${'a b '.repeat(60_000)}`])(
  'quotation marks that end no literal are not searched from each of them to the end: %j',
  (piece) => {
    const prose = Math.max(1, timeOf('Words of a text, and "some" in quotation marks. '));
    // Without a bound it is more than 400 times as long.
    expect(timeOf(piece) / prose).toBeLessThan(100);
  },
);
