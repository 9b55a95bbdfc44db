/**
 * Patterns for the boundaries of links, numbers and accounts in a text, shared by all finders.
 *
 * Alphabets that separate words with spaces, so that a name cannot begin directly after such a letter. They include alphabets whose letters
 * look like Latin ones, because imitations mix them.
 */
const NAME_LETTERS = [
  String.raw`\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}`,
  String.raw`\p{Script=Cherokee}\p{Script=Lisu}0-9`,
].join('');

/**
 * A combining mark. Marks of these alphabets (U+0483), and U+0345, which is a Greek letter in case-insensitive matching, count as
 * letters only: if they counted as both, the patterns would be ambiguous and take exponential time.
 */
const MARK = String.raw`(?:(?![${NAME_LETTERS}])\p{M})`;

/** Parts of patterns: sources of regular expressions with the flag `u`. */
export const BOUNDARY = {
  /** A letter or digit of a name, with its combining marks. */
  nameSign: `(?:[${NAME_LETTERS}]${MARK}{0,8})`,
  /** Any other letter or digit. In Chinese, Japanese, Korean and Thai, a link or a number follows a word without a space. */
  otherSign: String.raw`(?:(?![${NAME_LETTERS}])[\p{L}\p{M}\p{N}])`,
  /** No letter or digit of a name before this position. */
  begin: `(?<![${NAME_LETTERS}]${MARK}{0,8})`,
  /** No dot or hyphen before this position that joins it to a name. */
  notJoined: `(?<![${NAME_LETTERS}][.-])`,
  /** No letter or digit of a name after this position. */
  end: `(?![${NAME_LETTERS}])`,
  /** This position is not inside a number such as +49, 12:30, 1.5, 3-4, 1/2. */
  beginOfDigits: String.raw`(?<![\d+])(?<!\d[.,/:-])`,
} as const;

/** Joins parts to a regular expression. */
export const patternOf = (flags: string, ...pieces: readonly string[]) => new RegExp(pieces.join(''), flags);
