import { expect, test } from 'vitest';
import { binHex } from '#test/samples/mails.ts';
import { fromBinHex } from './encoded-texts.ts';

test('BinHex gives back the byte that marks its runs', () => {
  const bytes = Buffer.from([0x41, 0x90, 0x42, 0x90, 0x90]);
  expect(fromBinHex([Buffer.from(binHex({ name: 'a.bin', kind: 'line', bytes }))], () => undefined).data).toEqual(bytes);
});
