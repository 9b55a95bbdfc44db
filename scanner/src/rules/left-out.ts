import type { leftOutSchema } from '@palisade/contract/engine';
import type { z } from 'zod';

/** A part of a feed that is not used, and why. `name`: name of a file or rule, cleaned for display. */
export type LeftOut = z.infer<typeof leftOutSchema>;

const NAME_CHARACTERS_MAXIMUM = 80;
const DETAIL_CHARACTERS_MAXIMUM = 200;

/** A name from an archive, cleaned for display: the last part of its path, of safe characters. */
export function shownName(name: string): string {
  return (name.split(/[/\\]/).at(-1) ?? '').replaceAll(/[^\w.+ -]/g, '?').slice(0, NAME_CHARACTERS_MAXIMUM);
}

export function leftOut(name: string, why: LeftOut['why'], detail: string): LeftOut {
  const shown = detail.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ').slice(0, DETAIL_CHARACTERS_MAXIMUM);
  return { name: shownName(name), why, detail: shown };
}
