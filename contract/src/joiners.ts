/**
 * Valid positions of joiners (U+200C, U+200D) and other invisible characters: between letters of scripts that need them (RFC 5892, appendix A.1 and A.2), and inside an emoji
 * (UTS 51, sections 1.4 and 2.2). Elsewhere they hide something.
 */

// Canonical_Combining_Class=Virama of Unicode 17.
const VIRAMAS = [
  String.raw`\u094D\u09CD\u0A4D\u0ACD\u0B4D\u0BCD\u0C4D\u0CCD\u0D3B\u0D3C\u0D4D\u0DCA\u0E3A\u0EBA\u0F84\u1039\u103A\u1714\u1715`,
  String.raw`\u1734\u17D2\u1A60\u1B44\u1BAA\u1BAB\u1BF2\u1BF3\u2D7F\uA806\uA82C\uA8C4\uA953\uA9C0\uAAF6\uABED\u{10A3F}\u{11046}`,
  String.raw`\u{11070}\u{1107F}\u{110B9}\u{11133}\u{11134}\u{111C0}\u{11235}\u{112EA}\u{1134D}\u{113CE}-\u{113D0}\u{11442}`,
  String.raw`\u{114C2}\u{115BF}\u{1163F}\u{116B6}\u{1172B}\u{11839}\u{1193D}\u{1193E}\u{119E0}\u{11A34}\u{11A47}\u{11A99}`,
  String.raw`\u{11C3F}\u{11D44}\u{11D45}\u{11D97}\u{11F41}\u{11F42}\u{1612F}`,
].join('');
// Joining types L and D, then R and D, of the same Unicode version (ArabicShaping.txt).
const JOINS_AFTER = [
  String.raw`\u0620\u0626\u0628\u062A-\u062E\u0633-\u063F\u0641-\u0647\u0649\u064A\u066E\u066F\u0678-\u0687\u069A-\u06BF\u06C1`,
  String.raw`\u06C2\u06CC\u06CE\u06D0\u06D1\u06FA-\u06FC\u06FF\u0712-\u0714\u071A-\u071D\u071F-\u0727\u0729\u072B\u072D\u072E`,
  String.raw`\u074E-\u0758\u075C-\u076A\u076D-\u0770\u0772\u0775-\u0777\u077A-\u077F\u07CA-\u07EA\u0841-\u0845\u0848\u084A-\u0853`,
  String.raw`\u0855\u0860\u0862-\u0865\u0868\u0886\u0889-\u088D\u088F\u08A0-\u08A9\u08AF\u08B0\u08B3-\u08B8\u08BA-\u08C8\u1807`,
  String.raw`\u1820-\u1878\u1887-\u18A8\u18AA\uA840-\uA872\u{10AC0}-\u{10AC4}\u{10ACD}\u{10AD3}-\u{10ADC}\u{10ADE}-\u{10AE0}`,
  String.raw`\u{10AEB}-\u{10AEE}\u{10B80}\u{10B82}\u{10B86}-\u{10B88}\u{10B8A}\u{10B8B}\u{10B8D}\u{10B90}\u{10BAD}\u{10BAE}`,
  String.raw`\u{10D00}-\u{10D21}\u{10D23}\u{10EC3}\u{10EC4}\u{10EC6}\u{10EC7}\u{10ED9}-\u{10EEE}\u{10F30}-\u{10F32}`,
  String.raw`\u{10F34}-\u{10F44}\u{10F51}-\u{10F53}\u{10F70}-\u{10F73}\u{10F76}-\u{10F81}\u{10FB0}\u{10FB2}\u{10FB3}\u{10FB8}`,
  String.raw`\u{10FBB}\u{10FBC}\u{10FBE}\u{10FBF}\u{10FC1}\u{10FC4}\u{10FCA}\u{10FCB}\u{1E900}-\u{1E943}`,
].join('');
const JOINS_BEFORE = [
  String.raw`\u0620\u0622-\u063F\u0641-\u064A\u066E\u066F\u0671-\u0673\u0675-\u06D3\u06D5\u06EE\u06EF\u06FA-\u06FC\u06FF\u0710`,
  String.raw`\u0712-\u072F\u074D-\u077F\u07CA-\u07EA\u0840-\u0858\u0860\u0862-\u0865\u0867-\u086A\u0870-\u0882\u0886\u0889-\u088F`,
  String.raw`\u08A0-\u08AC\u08AE-\u08C8\u1807\u1820-\u1878\u1887-\u18A8\u18AA\uA840-\uA871\u{10AC0}-\u{10AC5}\u{10AC7}\u{10AC9}`,
  String.raw`\u{10ACA}\u{10ACE}-\u{10AD6}\u{10AD8}-\u{10AE1}\u{10AE4}\u{10AEB}-\u{10AEF}\u{10B80}-\u{10B91}\u{10BA9}-\u{10BAE}`,
  String.raw`\u{10D01}-\u{10D23}\u{10EC2}-\u{10EC4}\u{10EC6}\u{10EC7}\u{10F30}-\u{10F44}\u{10F51}-\u{10F54}\u{10F70}-\u{10F81}`,
  String.raw`\u{10FB0}\u{10FB2}-\u{10FB6}\u{10FB8}-\u{10FBF}\u{10FC1}-\u{10FC4}\u{10FC9}\u{10FCA}\u{1E900}-\u{1E943}`,
].join('');

/** Combining marks that are skipped after a letter: at most four; normal spelling has at most two. */
const MARKS = String.raw`[\p{Mn}\p{Me}]{0,4}`;
const AFTER_VIRAMA = new RegExp(`(?<=[${VIRAMAS}])[\u200c\u200d]`, 'gu');
const BETWEEN_JOINING = new RegExp(`(?<=[${JOINS_AFTER}]${MARKS})\u200c(?=${MARKS}[${JOINS_BEFORE}])`, 'gu');
/** Regional flags with tags, keycaps, and pictographs with their modifiers and joined parts. */
const EMOJI =
  /\p{RGI_Emoji_Tag_Sequence}|[0-9#*]\ufe0f\u20e3|\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?(?:\u200d\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?)*/gv;
const INKLESS = /[\u200d\ufe0f\u{e0020}-\u{e007f}]/gu;

/** The offsets (in UTF-16 units) of invisible characters in valid positions. */
export function placedJoiners(text: string): ReadonlySet<number> {
  const placed = new Set<number>();
  for (const spelling of [AFTER_VIRAMA, BETWEEN_JOINING]) for (const { index } of text.matchAll(spelling)) placed.add(index);
  for (const { 0: emoji, index } of text.matchAll(EMOJI))
    for (const inside of emoji.matchAll(INKLESS)) placed.add(index + inside.index);
  return placed;
}

/** Removes invisible characters in valid positions; those that remain hide something. */
export function withoutPlacedJoiners(text: string): string {
  const placed = placedJoiners(text);
  if (placed.size === 0) return text;
  let offset = 0;
  let rest = '';
  for (const character of text) {
    if (!placed.has(offset)) rest += character;
    offset += character.length;
  }
  return rest;
}
