import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateSync, inflateSync } from 'node:zlib';
import { HEAD_BYTES } from '#scanner/formats/format.ts';
import { CARVED, LEAF_FORMATS, SEARCHED } from '#scanner/formats/index.ts';
import { containerOf, containersBeside } from '#scanner/formats/recognition.ts';
import { standsAt } from '#scanner/reading/content.ts';
import { Budget, SCAN_LIMITS } from '#scanner/reading/limits.ts';
import { openReader } from '#scanner/reading/reader.ts';
import { regExpOf } from '#scanner/walk/carving.ts';

// A folder of samples for each format. The files are packed by zlib and each byte is masked, so that no scanner takes the repository for malware.
// `node test/format-samples.ts ID FILE` adds a file to the samples of a format.

export const SAMPLES_FOLDER = fileURLToPath(new URL('../samples', import.meta.url));
const MASK = 0x5a;
const ENDING = '.masked';

const masked = (bytes: Buffer): Buffer => Buffer.from(deflateSync(bytes, { level: 9 }).map((byte) => byte ^ MASK));
const unmasked = (bytes: Buffer): Buffer => inflateSync(Buffer.from(bytes.map((byte) => byte ^ MASK)));

/** The samples of a format, each under the name that a person would give it. Empty where there is no such folder. */
export function samplesOf(id: string): { name: string; bytes: Buffer }[] {
  const folder = join(SAMPLES_FOLDER, id);
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return [];
  }
  return names
    .filter((name) => name.endsWith(ENDING))
    .sort()
    .map((name) => ({ name: name.slice(0, -ENDING.length), bytes: unmasked(readFileSync(join(folder, name))) }));
}

/** The ids of all formats that a file is, holds nothing but itself as, or may hold by a pattern. */
export function idsOf(bytes: Buffer, name: string): Set<string> {
  const budget = new Budget({ ...SCAN_LIMITS, time_ms: Number.POSITIVE_INFINITY }, 1024 ** 3);
  const reader = openReader({ size: bytes.length, bytes }, budget);
  const head = bytes.subarray(0, HEAD_BYTES);
  const first = containerOf(head, budget);
  const ids = new Set(containersBeside(reader, head, first, name).map(({ format }) => format.id));
  if (first !== undefined) ids.add(first.format.id);
  for (const { id, leaf } of LEAF_FORMATS) {
    const begins = leaf.marks.some((mark) => standsAt(head, mark.bytes, mark.at));
    if (begins && (leaf.walk === undefined || (leaf.walk(reader, head.subarray(0, 128)) ?? 0) > 0)) ids.add(id);
  }
  const text = bytes.toString('latin1');
  for (const carved of CARVED) {
    for (const { index } of text.matchAll(regExpOf(carved)))
      if (index >= (carved.back ?? 0) && (carved.proves?.(reader, index - (carved.back ?? 0)) ?? true)) ids.add(carved.format.id);
  }
  for (const { carved, search } of SEARCHED) if (search(reader).next().done !== true) ids.add(carved.format.id);
  return ids;
}

const [, started, id, path] = process.argv;
if (started === import.meta.filename && id !== undefined && path !== undefined) {
  mkdirSync(join(SAMPLES_FOLDER, id), { recursive: true });
  writeFileSync(join(SAMPLES_FOLDER, id, `${basename(path)}${ENDING}`), masked(readFileSync(path)));
}
