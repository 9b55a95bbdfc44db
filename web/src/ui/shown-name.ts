import { graphemes } from '@palisade/contract/intl';
import { placedJoiners } from '@palisade/contract/joiners';

// Controls that turn or hide text make "gpj.exe" read as "exe.jpg": they are shown as what they are, something unprintable.
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Endings that open as a program, a script or a shortcut when they are pressed twice. */
const RUNS = 'exe|scr|pif|com|bat|cmd|js|jse|vbs|vbe|wsf|wsh|hta|lnk|msi|ps1|cpl|jar|apk|appx|reg|url|dmg|app|sh|desktop';
/** Endings that people take for something to read, to look at or to listen to. */
const READS =
  'pdf|docx?|xlsx?|pptx?|rtf|txt|csv|odt|ods|odp|jpe?g|png|gif|webp|heic|bmp|tiff?|svg|mp3|m4a|wav|mp4|mov|avi|mkv|zip|rar|7z|eml|msg|epub';
const DOUBLE = new RegExp(String.raw`\.(${READS})[\s_]*\.(${RUNS})[\s.]*$`, 'iu');

/** Up to so many characters a name is never cut. */
const WHOLE = 24;
/** So many characters of its end are always shown: the ending is what tells what a file is. */
const TAIL = 14;
/** Where blanks push the real ending out of sight, the end that is shown is longer, up to this. */
const TAIL_MAXIMUM = 24;

interface ShownName {
  /** All of it, with everything that hides or turns text replaced. */
  whole: string;
  /** Its beginning, which may be cut; undefined where the name is short. */
  head: string | undefined;
  /** Its end, which may not. */
  tail: string;
  /** It ends like a program and is named like a document: "pdf" and "exe" of invoice.pdf.exe. */
  disguise: { looks: string; is: string } | undefined;
}

/** Safe form of a name that a stranger chose. */
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

/** The disguise of a name in words; undefined for an honest one. */
export function disguiseWordsOf(name: string): string | undefined {
  const { disguise } = shownNameOf(name);
  return disguise && `Looks like a .${disguise.looks} file but is a program (.${disguise.is}).`;
}
