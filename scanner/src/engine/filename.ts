import { placedJoiners } from '@palisade/contract/joiners';

const BYTES_MAXIMUM = 255;
const EXTENSION_BYTES_MAXIMUM = 32;
const ELLIPSIS = '…';

// Control characters, lone surrogates, and characters that reorder or hide text: bidirectional marks, zero-width characters, line separators.
const DECEPTIVE = /[\p{Cc}\p{Cs}\u061c\u115f\u1160\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;
const WINDOWS_PATH = /^(?:[A-Za-z]:\\|\\\\)/;
const NAMELESS = 'unnamed file';

function byteLength(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

function fitting(characters: Iterable<string>, bytes: number): string {
  let fitted = '';
  for (const character of characters) {
    if (byteLength(fitted) + byteLength(character) > bytes) break;
    fitted += character;
  }
  return fitted;
}

/**
 * A displayable form of an uploaded file's name: without folders, deceptive characters replaced by U+FFFD, at most 255 bytes of UTF-8 (keeping the extension). Only for
 * display, never used as a path.
 */
export function displayName(sent: string): string {
  // Old Windows browsers send a full path; elsewhere a backslash is an ordinary character.
  const path = WINDOWS_PATH.test(sent) ? sent.replaceAll('\\', '/') : sent;
  const base = path.split('/').findLast((part) => part !== '' && part !== '.' && part !== '..') ?? '';
  const name = base.normalize('NFC');
  const placed = placedJoiners(name);
  const shown = name.replace(DECEPTIVE, (character, offset: number) => (placed.has(offset) ? character : '\ufffd')).trim();
  if (shown === '') return NAMELESS;
  if (byteLength(shown) <= BYTES_MAXIMUM) return shown;
  const dot = shown.lastIndexOf('.');
  const extension = dot > 0 && byteLength(shown.slice(dot)) <= EXTENSION_BYTES_MAXIMUM ? shown.slice(dot) : '';
  return fitting(shown, BYTES_MAXIMUM - byteLength(ELLIPSIS) - byteLength(extension)) + ELLIPSIS + extension;
}
