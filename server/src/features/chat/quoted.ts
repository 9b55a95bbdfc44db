import { QUOTED_FROM_HERE } from './html-text.ts';

/** The first line of a notice: what stands from there on in an answer is the notice itself. */
export const ANSWER_ABOVE = 'To answer by mail, write above this line.';

/** A line that is longer is nobody's mark. Characters. */
const MARK_LENGTH = 300;
/** Lines in which one header of a quoted mail follows another. */
const HEADER_LINES = 6;
/** A signature that is longer may be the letter itself. */
const SIGNATURE_LINES = 12;
/** Lines over which a mail program breaks "On Monday, ... wrote:". */
const ATTRIBUTION_LINES = 4;

const QUOTED = /^\s{0,3}>/;
const DIVIDER =
  /^\s*(?:-{2,}|_{2,})\s*(?:original message|ursprüngliche nachricht|message d[’']origine|mensaje original|messaggio originale|oorspronkelijk bericht|forwarded message|weitergeleitete nachricht)\s*(?:-{2,}|_{2,})?\s*$/i;
const RULE = /^\s*_{20,}\s*$/;
const FROM = /^\s*\*?(?:from|von|de|da|van|från|fra|od)\s*:\*?\s/i;
const OTHER_HEADER =
  /^\s*\*?(?:sent|date|to|subject|cc|gesendet|datum|an|betreff|envoyé|date|à|objet|enviado|fecha|para|asunto|inviato|oggetto|a|verzonden|aan|onderwerp)\s*:\*?\s/i;
const ATTRIBUTION_END = /:\s*$/;
const ATTRIBUTION = /\d|@|wrote|schrieb|écrit|escribió|scritto|schreef|skrev/i;

const isMark = (line: string) => line.length <= MARK_LENGTH;

/** Where the header of a quoted mail begins that no divider announces (as Outlook writes it). */
function isQuotedHeader(lines: readonly string[], at: number): boolean {
  const line = lines[at] ?? '';
  if (!isMark(line) || !FROM.test(line)) return false;
  const next = lines.slice(at + 1, at + 1 + HEADER_LINES).filter((other) => isMark(other) && OTHER_HEADER.test(other));
  return next.length >= 2;
}

/** Takes "On Monday, ... wrote:" away from the end: the last lines that stand together, when they end with a colon. */
function dropAttribution(kept: string[]): void {
  let end = kept.length;
  while (end > 0 && kept[end - 1]?.trim() === '') end -= 1;
  let begin = end;
  while (begin > 0 && end - begin < ATTRIBUTION_LINES && kept[begin - 1]?.trim() !== '') begin -= 1;
  const last = kept[end - 1] ?? '';
  if (end === 0 || !isMark(last) || !ATTRIBUTION_END.test(last)) return;
  // The one line, or the few over which it was broken: these begin where the time or the name does.
  for (let from = end - 1; from >= begin; from -= 1) {
    const text = kept.slice(from, end).join(' ');
    if (
      text.length <= MARK_LENGTH &&
      ATTRIBUTION.test(text) &&
      /^\s*(?:on|am|le|el|il|op|den|\d|.{0,80}@)/i.test(kept[from] ?? '')
    ) {
      kept.splice(from);
      return;
    }
  }
}

/** What somebody wrote in an answer by mail: without what it quotes, its attribution, and a signature. */
export function withoutQuoted(text: string): string {
  const lines = text.replaceAll(/\r\n?/g, '\n').split('\n');
  const kept: string[] = [];
  let isQuoting = false;
  for (const [at, line] of lines.entries()) {
    if (QUOTED.test(line)) {
      if (!isQuoting) dropAttribution(kept);
      isQuoting = true;
      continue;
    }
    if (line.trim() !== '') isQuoting = false;
    const isEnd =
      (isMark(line) && (line.includes(ANSWER_ABOVE) || DIVIDER.test(line) || line.trim() === QUOTED_FROM_HERE)) ||
      (RULE.test(line) && [1, 2].some((after) => isQuotedHeader(lines, at + after))) ||
      isQuotedHeader(lines, at);
    if (isEnd) {
      dropAttribution(kept);
      break;
    }
    // RFC 3676 section 4.3.
    if (line === '-- ' && lines.length - at <= SIGNATURE_LINES) break;
    kept.push(line);
  }
  return kept
    .map((line) => line.trimEnd())
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}
