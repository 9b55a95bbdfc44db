import { graphemes } from '@palisade/contract/intl';
import { placedJoiners } from '@palisade/contract/joiners';

// Control characters that reverse or hide text make "gpj.exe" look like "exe.jpg", so they are replaced with a visible character.
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Extensions that run as a program, script or shortcut on a double click. */
const RUNS = 'exe|scr|pif|com|bat|cmd|js|jse|vbs|vbe|wsf|wsh|hta|lnk|msi|ps1|cpl|jar|apk|appx|reg|url|dmg|app|sh|desktop';
/** Extensions that people know as documents, pictures, sound or archives. */
const READS =
  'pdf|docx?|xlsx?|pptx?|rtf|txt|csv|odt|ods|odp|jpe?g|png|gif|webp|heic|bmp|tiff?|svg|mp3|m4a|wav|mp4|mov|avi|mkv|zip|rar|7z|eml|msg|epub';
const DOUBLE = new RegExp(String.raw`\.(${READS})[\s_]*\.(${RUNS})[\s.]*$`, 'iu');

/** Names up to this length are never cut, in characters. */
const WHOLE = 24;
/** Number of characters at the end that are always shown, because the extension identifies the type. */
const TAIL = 14;
/** Maximum length of the shown end when spaces would push the real extension out of sight. */
const TAIL_MAXIMUM = 24;

interface ShownName {
  /** The complete name, with hiding and reversing characters replaced. */
  whole: string;
  /** The beginning, which may be cut; undefined for a short name. */
  head: string | undefined;
  /** The end, which is never cut. */
  tail: string;
  /** A program that is named like a document: "pdf" and "exe" for invoice.pdf.exe. */
  disguise: { looks: string; is: string } | undefined;
}

/** Makes a file name from an untrusted source safe to show. */
export function shownNameOf(name: string): ShownName {
  const placed = placedJoiners(name);
  const whole =
    name.replace(UNPRINTABLE, (character, offset: number) => (placed.has(offset) ? character : '\uFFFD')) || 'Unnamed file';
  const double = DOUBLE.exec(whole);
  const [, looks, is] = double ?? [];
  const disguise = looks !== undefined && is !== undefined ? { looks: looks.toLowerCase(), is: is.toLowerCase() } : undefined;
  const parts = graphemes(whole);
  if (parts.length <= WHOLE) return { whole, head: undefined, tail: whole, disguise };
  const wanted = double ? whole.length - double.index + 2 : TAIL;
  const length = Math.min(TAIL_MAXIMUM, Math.max(TAIL, wanted));
  return { whole, head: parts.slice(0, -length).join(''), tail: parts.slice(-length).join(''), disguise };
}

/** A warning about a disguised name; undefined for others. */
export function disguiseWordsOf(name: string): string | undefined {
  const { disguise } = shownNameOf(name);
  return disguise && `Looks like a .${disguise.looks} file but is a program (.${disguise.is}).`;
}
