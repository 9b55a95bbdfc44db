import { foldText } from '@palisade/contract/text';
import type { TablerIcon } from '@tabler/icons-react';

/** One row of the palette: a screen, a record or an action. */
export interface PaletteItem {
  id: string;
  title: string;
  /** Distinguishes records with equal names. */
  detail?: string;
  /** Further search words, in lower case. */
  words?: string;
  icon: TablerIcon;
  /** An address, or a function that performs the action. */
  to: string | (() => void);
}

export interface PaletteGroup {
  title: string;
  items: readonly PaletteItem[];
}

/** Words without case and accents. */
function wordsOf(text: string): string[] {
  return foldText(text)
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);
}

/** Rank of an item: 0 is best, undefined if it does not match. Each typed word must be a prefix of a title word or a search word. */
function rankOf({ title, words = '' }: PaletteItem, typed: readonly string[]): number | undefined {
  const ofTitle = wordsOf(title);
  const others = wordsOf(words);
  let rank = 0;
  for (const word of typed) {
    if (ofTitle[0]?.startsWith(word)) continue;
    if (ofTitle.some((one) => one.startsWith(word))) rank += 1;
    else if (others.some((one) => one.startsWith(word))) rank += 2;
    else return undefined;
  }
  return rank;
}

/** Matching items, best first; all items if no text is typed. */
export function matching(items: readonly PaletteItem[], typed: string): PaletteItem[] {
  const words = wordsOf(typed);
  return items
    .flatMap((item) => {
      const rank = rankOf(item, words);
      return rank === undefined ? [] : [{ item, rank }];
    })
    .toSorted((one, other) => one.rank - other.rank)
    .map(({ item }) => item);
}
