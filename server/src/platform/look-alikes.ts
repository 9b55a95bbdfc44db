import unhomoglyph from 'unhomoglyph';

/** One form for all texts that look alike (UTS 39, section 4, with the data of the package `unhomoglyph`). Not for people to read. */
function skeleton(text: string): string {
  return unhomoglyph(text.normalize('NFD')).normalize('NFD');
}

/**
 * One form for all names that look alike, in any case. Small letters have other look-alikes than capitals (I looks like l, i does not), so it is made of the
 * name as it is, and of the result in small letters.
 */
export function lookAlikeKey(name: string): string {
  const visible = name.normalize('NFKC').replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '');
  return skeleton(skeleton(visible).toLowerCase());
}
