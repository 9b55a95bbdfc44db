/**
 * The boundaries of links, numbers and accounts in a text: all finders take them from here.
 *
 * Words of these alphabets have spaces between them, so that no name begins directly behind such a letter. Alphabets whose letters
 * are drawn like Latin ones are among them, as imitations mix them.
 */
const NAME_LETTERS = [
  String.raw`\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}`,
  String.raw`\p{Script=Cherokee}\p{Script=Lisu}0-9`,
].join('');

/**
 * A mark on a letter. Marks of these alphabets (U+0483), and U+0345, which is a Greek letter without regard to case, count as
 * letters: as both, they would make the patterns ambiguous and their time exponential.
 */
const MARK = String.raw`(?:(?![${NAME_LETTERS}])\p{M})`;

/** Pieces of patterns, each the source of a regular expression with the flag `u`. */
export const BOUNDARY = {
  /** A letter or digit of a name, with the marks on it. */
  nameSign: `(?:[${NAME_LETTERS}]${MARK}{0,8})`,
  /** Any other letter or digit. Chinese, Japanese, Korean and Thai set a link or a number between their words without a space. */
  otherSign: String.raw`(?:(?![${NAME_LETTERS}])[\p{L}\p{M}\p{N}])`,
  /** No letter or digit of a name stands before this place. */
  begin: `(?<![${NAME_LETTERS}]${MARK}{0,8})`,
  /** No dot or hyphen that joins this place to a name stands before it. */
  notJoined: `(?<![${NAME_LETTERS}][.-])`,
  /** No letter or digit of a name stands behind this place. */
  end: `(?![${NAME_LETTERS}])`,
  /** No number continues at this place: +49, 12:30, 1.5, 3-4, 1/2. */
  beginOfDigits: String.raw`(?<![\d+])(?<!\d[.,/:-])`,
} as const;

/** Makes a pattern of named pieces. */
export const patternOf = (flags: string, ...pieces: readonly string[]) => new RegExp(pieces.join(''), flags);
