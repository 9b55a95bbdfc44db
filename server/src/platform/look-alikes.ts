import unhomoglyph from 'unhomoglyph';

/** Maps texts that look alike to one key (UTS 39, section 4, with the data of the package `unhomoglyph`). Not for display. */
function skeleton(text: string): string {
  return unhomoglyph(text.normalize('NFD')).normalize('NFD');
}

/**
 * Maps names that look alike to one key, ignoring case. Small letters have other look-alikes than capitals (I looks like l, i does not), so the skeleton is taken of the
 * name itself, and again of the lower-cased result.
 */
export function lookAlikeKey(name: string): string {
  const visible = name.normalize('NFKC').replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '');
  return skeleton(skeleton(visible).toLowerCase());
}
