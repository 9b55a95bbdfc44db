import { registerHooks } from 'node:module';

// Reads files of formats with directories while 7-Zip lies, and prints for each lie and file how often it was told, and what was unread. A process of its own, because modules are replaced in it.

const LIAR = new URL('./lying-seven-zip.ts', import.meta.url).href;
const REAL = new URL('../src/formats/seven-zip/seven-zip.ts', import.meta.url).href;

registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context);
    return resolved.url === REAL && context.parentURL !== LIAR ? { ...resolved, url: LIAR } : resolved;
  },
});

const { lying } = await import('./lying-seven-zip.ts');
const { examine } = await import('#scanner/walk/examine.ts');
const { SCAN_LIMITS } = await import('#scanner/reading/limits.ts');
const { samplesOf } = await import('./format-samples.ts');
const { PACKED_ARCHIVES } = await import('./packed-archives.ts');
const { PACKED_EICAR } = await import('./packed-eicar.ts');
const { lzhOf, rar4Of, rar5Of, szddOf } = await import('./stored-archives.ts');
const { streamOf } = await import('./xz-streams.ts');

const SAMPLED = ['cab', 'ar', 'arj', 'swf', 'lzip', 'ntfs'];
const PACKED = [
  'zip, ppmd',
  '7z',
  '7z-links',
  '7z-bzip2-header',
  '7z-plain-header',
  '7z-deflated-header',
  '7z-lzma-end',
  '7z-lzma2-header',
  'cpio-two',
  'cpio-links',
  'initramfs',
  'iso',
  'iso-udf',
  'lzip-two',
  'wim-links',
  'wim-solid',
];
const FILES = new Map([
  ['one.txt', Buffer.from('harmless words of one')],
  ['two.txt', Buffer.alloc(300, 'harmless words of two ')],
]);
const files = [
  ...SAMPLED.flatMap((id) =>
    samplesOf(id)
      .filter(({ name }) => name !== 'head')
      .map(({ name, bytes }) => ({ id, name, bytes })),
  ),
  ...[...PACKED_ARCHIVES, ...PACKED_EICAR]
    .filter(([name]) => PACKED.includes(name))
    .map(([name, bytes]) => ({ id: name, name, bytes })),
  { id: 'rar', name: 'a.rar', bytes: rar4Of(FILES) },
  { id: 'rar5', name: 'a.rar', bytes: rar5Of(FILES) },
  { id: 'mslz', name: 'a.tx_', bytes: szddOf(Buffer.alloc(300, 'harmless words ')) },
  { id: 'lzh', name: 'a.lzh', bytes: lzhOf(FILES) },
  { id: 'xz', name: 'a.xz', bytes: streamOf('x86') },
];
const answers: { lie: string; id: string; told: number; unread: string[] }[] = [];
for (const lie of ['nothing', 'other bytes', 'shorter', 'one less'] as const)
  for (const { id, name, bytes } of files) {
    Object.assign(lying, { lie, told: 0 });
    const { unread } = await examine(
      { bytes, size: bytes.length, name },
      { match: () => [], limits: SCAN_LIMITS, folder: '/nonexistent' },
    );
    answers.push({ lie, id, told: lying.told, unread });
  }
console.log(JSON.stringify(answers));
