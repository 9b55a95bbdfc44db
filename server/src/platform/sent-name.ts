const ESCAPED = new Map([
  ['%22', '"'],
  ['%0D', '\r'],
  ['%0A', '\n'],
]);

const EXTENDED = /;[ \t]{0,8}filename\*[ \t]{0,8}=[ \t]{0,8}utf-8'[^']{0,40}'([^;\s]+)/iu;
// A quote ends the name only if the header can continue after it: a backslash before it may be the last character of the name.
const QUOTED = /;[ \t]{0,8}filename[ \t]{0,8}=[ \t]{0,8}"(.*?)"(?=[ \t]{0,8}(?:;|$))/isu;
const BARE = /;[ \t]{0,8}filename[ \t]{0,8}=[ \t]{0,8}([^;\s"]+)/iu;

function extendedName(disposition: string): string | undefined {
  try {
    return decodeURIComponent(EXTENDED.exec(disposition)?.[1] ?? '') || undefined;
  } catch {
    return undefined;
  }
}

/**
 * The original name of a file from a part's `Content-Disposition`: `filename*` if sent (RFC 8187), else `filename`. Browsers percent-encode only quotes and line ends (HTML,
 * section 4.10.21.8), so any other percent sign or backslash is literal; programs write `\"`.
 */
export function sentName(disposition: string): string | undefined {
  const extended = extendedName(disposition);
  if (extended !== undefined) return extended;
  const written = QUOTED.exec(disposition)?.[1]?.replaceAll('\\"', '"') ?? BARE.exec(disposition)?.[1];
  return written?.replaceAll(/%(?:22|0D|0A)/giu, (sequence) => ESCAPED.get(sequence.toUpperCase()) ?? sequence);
}
