const ESCAPED = new Map([
  ['%22', '"'],
  ['%0D', '\r'],
  ['%0A', '\n'],
]);

const EXTENDED = /;[ \t]{0,8}filename\*[ \t]{0,8}=[ \t]{0,8}utf-8'[^']{0,40}'([^;\s]+)/iu;
// A quote ends the name where the name cannot continue: a backslash before it may be the last letter of the name.
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
 * The name of a file as it was before it was written into the `Content-Disposition` of a part: `filename*` where a program sends it (RFC 8187), else `filename`. Browsers escape a quote and
 * the ends of lines with a percent sign and nothing else (HTML, section 4.10.21.8), so that any other percent sign or backslash is a letter; programs write `\"`.
 */
export function sentName(disposition: string): string | undefined {
  const extended = extendedName(disposition);
  if (extended !== undefined) return extended;
  const written = QUOTED.exec(disposition)?.[1]?.replaceAll('\\"', '"') ?? BARE.exec(disposition)?.[1];
  return written?.replaceAll(/%(?:22|0D|0A)/giu, (sequence) => ESCAPED.get(sequence.toUpperCase()) ?? sequence);
}
