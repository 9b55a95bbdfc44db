/** The first line of a notice: an answer that quotes a notice has it. */
export const ANSWER_ABOVE = 'To reply by email, write above this line.';

/** A longer line is never a mark. Characters. */
const MARK_LENGTH = 300;
/** A notice has so many lines at most, however a program breaks them. */
const NOTICE_LINES = 24;
/** Lines over which a mail program breaks "On Monday, ... wrote:", or writes the header of the mail that it quotes. */
const INTRODUCTION_LINES = 8;

/** Marks of quoting before a line, of any depth. */
const MARKS = /^[ \t]*(?:>[ \t]?)*/u;
/** The beginning of a notice. Notices of earlier versions say "answer by mail". */
const NOTICE_START = /^To (?:reply by email|answer by mail),/u;
/** A notice after its first line, in one line (letters.ts and the footer of mail.ts). */
const NOTICE =
  /^To (?:reply by email|answer by mail), write above this line\.(?: Hello .{1,80}?,)?(?: .{1,80}? (?:replied to|has answered) you in the support chat\.)?(?: (?:Read it here: ?<?\S{1,300}>?|Open the support chat to read it\.)(?: [<(]\S{1,300}[>)])?)?(?: --(?: .{0,200})?)?$/u;
const ATTRIBUTION_END = /:\s*$/u;
const ATTRIBUTION = /\d|@|wrote|schrieb|écrit|escribió|scritto|schreef|skrev/iu;
const ATTRIBUTION_START = /^(?:on|am|le|el|il|op|den|\d|.{0,80}@)/iu;
const RULE = /^(?:_{10,}|-{2,}.{0,60}-{2,})$/u;
const HEADER =
  /^\*?(?:from|von|de|da|van|från|fra|od|sent|date|to|subject|cc|reply-to|gesendet|datum|an|betreff|antwort an|envoyé|à|objet|enviado|fecha|para|asunto|inviato|oggetto|a|verzonden|aan|onderwerp)\s*:\*?(?:\s|$)/iu;

const bare = (line: string) => line.replace(MARKS, '').trim();

const depthOf = (line: string) => (MARKS.exec(line)?.[0].match(/>/gu) ?? []).length;

/** The number of lines from `at` on that are a notice of this server: as many as make its text, and no more. */
function noticeLength(lines: readonly string[], at: number): number {
  let text = '';
  let length = 0;
  let hasFooter = false;
  const depth = depthOf(lines[at] ?? '');
  for (let count = 0; count < NOTICE_LINES && at + count < lines.length; count += 1) {
    const whole = lines[at + count] ?? '';
    const line = bare(whole);
    if (line.length > MARK_LENGTH || (line !== '' && depthOf(whole) !== depth) || (line === '' && hasFooter)) break;
    hasFooter ||= line === '--';
    text = `${text} ${line}`.replaceAll(/\s+/gu, ' ').trim();
    if (NOTICE.test(text)) length = count + 1;
  }
  return length;
}

/** The start of a mail program's words before a quote that begins at `at`: "On Monday, ... wrote:", a rule, or the header of the quoted mail. */
function introductionStart(lines: readonly string[], at: number): number {
  let start = at;
  while (start > 0 && bare(lines[start - 1] ?? '') === '') start -= 1;
  const last = bare(lines[start - 1] ?? '');
  if (last.length > MARK_LENGTH) return at;
  if (HEADER.test(last)) {
    let first = start - 1;
    while (first > 0 && start - first < INTRODUCTION_LINES && HEADER.test(bare(lines[first - 1] ?? ''))) first -= 1;
    const hasRule = first > 0 && RULE.test(bare(lines[first - 1] ?? ''));
    if (start - first < 2 && !hasRule) return at;
    return hasRule ? first - 1 : first;
  }
  if (RULE.test(last)) return start - 1;
  if (!ATTRIBUTION_END.test(last)) return at;
  for (let from = start - 1; from >= 0 && start - from <= 4; from -= 1) {
    const line = bare(lines[from] ?? '');
    if (line === '') break;
    const text = lines.slice(from, start).map(bare).join(' ');
    if (text.length <= MARK_LENGTH && ATTRIBUTION.test(text) && ATTRIBUTION_START.test(line)) return from;
  }
  return at;
}

/**
 * The author's own text in an answer by mail: everything except this server's notice, where the answer quotes it. A notice is known by its first line together with its text:
 * lines that look like a quote, a header or a signature are the customer's, and stay.
 */
export function withoutNotice(text: string): string {
  const lines = text.replaceAll(/\r\n?/gu, '\n').split('\n');
  const kept: string[] = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? '';
    const length = line.length <= MARK_LENGTH && NOTICE_START.test(bare(line)) ? noticeLength(lines, at) : 0;
    if (length === 0) {
      kept.push(line);
      at += 1;
      continue;
    }
    kept.splice(introductionStart([...kept, ''], kept.length));
    at += length;
    // Marks without words below it are the rest of its quote.
    while (at < lines.length && /^[ \t]*(?:>[ \t]?)+$/u.test(lines[at] ?? '')) at += 1;
  }
  return kept
    .map((line) => line.trimEnd())
    .join('\n')
    .replaceAll(/\n{3,}/gu, '\n\n')
    .trim();
}

/** The lines with which mail programs begin a forwarded mail. Their own words, in the languages of those that are used most. */
const FORWARDED =
  /^\s*(?:-{2,}|_{2,})?\s*(?:(?:begin )?forwarded message|weitergeleitete nachricht|anfang der weitergeleiteten nachricht|message transféré|début du message (?:transféré|réexpédié)|mensaje reenviado|inicio del mensaje reenviado|messaggio inoltrato|inizio messaggio inoltrato|doorgestuurd bericht|mensagem encaminhada|přeposlaná zpráva|vidarebefordrat meddelande|videresendt meddelelse|пересылаемое сообщение)\s*:?\s*(?:-{2,}|_{2,})?\s*$/iu;

/** The words of a mail, and the text of one that it forwards within itself, as it stands there; undefined where it forwards none. */
export function splitForwarded(text: string): { own: string; forwarded: string | undefined } {
  const lines = text.split('\n');
  const at = lines.findIndex((line) => line.length <= MARK_LENGTH && FORWARDED.test(line));
  // Only with the header of a mail below it: a person may write these words too.
  const isMail =
    at >= 0 && lines.slice(at + 1, at + 1 + INTRODUCTION_LINES).filter((line) => HEADER.test(line.trim())).length >= 2;
  if (!isMail) return { own: text, forwarded: undefined };
  return { own: lines.slice(0, at).join('\n').trim(), forwarded: lines.slice(at).join('\n').trim() };
}
