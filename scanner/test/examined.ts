import { existsSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SCAN_LIMITS, type ScanLimits } from '#scanner/reading/limits.ts';
import type { Examination, Matchers } from '#scanner/walk/examination.ts';
import { examine } from '#scanner/walk/examine.ts';
import { packRules } from './pack-rules.ts';

export type { Examination } from '#scanner/walk/examination.ts';

const folder = mkdtempSync(join(tmpdir(), 'palisade-examined-'));

type Parts = Parameters<typeof examine>[1];
export interface Options extends Partial<Omit<Parts, 'limits' | 'folder' | 'match'>> {
  name?: string;
  limits?: Partial<ScanLimits>;
  match?: Matchers['match'];
  /** The upload lies in a file, as large ones do. */
  on_disk?: boolean;
}

/** Reads bytes as a scan does, with the rule pack and a server's limits. Unpacked files must not stay. */
export async function examined(bytes: Buffer, options: Options = {}): Promise<Examination> {
  const { name = 'file', limits = {}, match = packRules.match, on_disk = false, ...more } = options;
  const [path, unpacked] = [join(folder, 'upload'), join(folder, 'unpacked')];
  if (on_disk) writeFileSync(path, bytes);
  const upload = on_disk ? { path, size: bytes.length, name } : { bytes, size: bytes.length, name };
  const examination = await examine(upload, { ...more, match, limits: { ...SCAN_LIMITS, ...limits }, folder: unpacked });
  if (existsSync(unpacked) && readdirSync(unpacked).length > 0) throw new Error('Unpacked files stayed.');
  return examination;
}

/** The same, with each text that the rules were asked about. */
export async function examinedTexts(bytes: Buffer, options: Options = {}): Promise<Examination & { texts: string[] }> {
  const texts: string[] = [];
  const { match = packRules.match } = options;
  const examination = await examined(bytes, {
    ...options,
    match(piece, ...rest) {
      texts.push(piece.toString('latin1'));
      return match(piece, ...rest);
    },
  });
  return { ...examination, texts };
}
