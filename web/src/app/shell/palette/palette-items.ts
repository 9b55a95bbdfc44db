import { foldText } from '@palisade/contract/text';
import type { TablerIcon } from '@tabler/icons-react';

/** One row of the palette: a way to a screen or a record, or an action. */
export interface PaletteItem {
  id: string;
  title: string;
  /** Tells records of the same name apart. */
  detail?: string;
  /** Further words that find it, in lower case. */
  words?: string;
  icon: TablerIcon;
  /** An address, or the action itself. */
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

/** Rank of an item among the answers: 0 is best, undefined is no answer. Each typed word begins a word of the title or one that stands for it. */
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

/** The items that answer what was typed, best first; all of them before anything was. */
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
