/** The first line of a notice, by which a reply that quotes the notice is recognized. */
export const ANSWER_ABOVE = 'To reply by email, write above this line.';

/** Maximum length of a marker line, in characters. */
const MARK_LENGTH = 300;
/** Maximum number of lines of a notice, however a mail program wraps it. */
const NOTICE_LINES = 24;
/** Number of lines that "On Monday, ... wrote:", or the header of the quoted mail, may take. */
const INTRODUCTION_LINES = 8;

/** Quote marks at the start of a line, of any depth. */
const MARKS = /^[ \t]*(?:>[ \t]?)*/u;
/** The beginning of a notice. Notices of earlier versions say "answer by mail". */
const NOTICE_START = /^To (?:reply by email|answer by mail),/u;
/** The text of a notice after its first line, in one line (letters.ts and the footer of mail.ts). */
const NOTICE =
  /^To (?:reply by email|answer by mail), write above this line\.(?: Hello .{1,80}?,)?(?: .{1,80}? (?:replied to|has answered) you in the support chat\.)?(?: (?:Read it here: ?<?\S{1,300}>?|Open the support chat to read it\.)(?: [<(]\S{1,300}[>)])?)?(?: --(?: .{0,200})?)?$/u;
/** The end of "On Monday, ... wrote:" in any language. */
const ATTRIBUTION_END = /[:：﹕︓]$/u;
/** Number of lines over which such an attribution may be wrapped. */
const ATTRIBUTION_LINES = 4;
/** Mail programs wrap longer lines: a line of at least this length may continue in the next one. */
const FULL_LINE = 40;
const ADDRESS = /@[\p{L}\p{N}-]+\./u;
const MOMENT = /\p{Nd}{1,4}\s?[./:,:年月日년월일-]\s?\p{Nd}|(?:19|20)\p{Nd}\p{Nd}|\p{Nd}{4}/u;
/** The end of a sentence: the line below it does not continue it. */
const SENTENCE_END = /(?<!\p{Nd})\.$|[!?…。！？]$/u;
const RULE = /^(?:_{10,}|-{2,}.{0,60}-{2,})$/u;
/** A field of a mail's header with its name in any language. */
const ANY_HEADER = /^\*?[\p{L}\p{M}][\p{L}\p{M} .-]{0,30}(?:：|:\*?(?:\s|$))/u;
const HEADER =
  /^\*?(?:from|von|de|da|van|från|fra|od|sent|date|to|subject|cc|reply-to|gesendet|datum|an|betreff|antwort an|envoyé|à|objet|enviado|fecha|para|asunto|inviato|oggetto|a|verzonden|aan|onderwerp)\s*:\*?(?:\s|$)/iu;

/** Marks of the direction of writing, which mail programs put around names and addresses. */
const DIRECTIONS = /[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/gu;

const bare = (line: string) => line.replace(MARKS, '').replaceAll(DIRECTIONS, '').trim();

const depthOf = (line: string) => (MARKS.exec(line)?.[0].match(/>/gu) ?? []).length;

/** The number of lines from `at` that form a notice of this server, and no more. */
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

/** The start of the quoted mail's header that ends above `end`: known fields, or fields in another language of which one is an address. */
function headerStart(lines: readonly string[], end: number): number | undefined {
  let first = end;
  let fields = 0;
  let hasAddress = false;
  while (first > 0 && end - first < INTRODUCTION_LINES) {
    const line = bare(lines[first - 1] ?? '');
    if (line.length > MARK_LENGTH || !(HEADER.test(line) || ANY_HEADER.test(line))) break;
    fields += HEADER.test(line) ? 1 : 0;
    hasAddress ||= ADDRESS.test(line);
    first -= 1;
  }
  const hasRule = first < end && first > 0 && RULE.test(bare(lines[first - 1] ?? ''));
  const isHeader = fields >= 2 || (fields >= 1 && hasRule) || (hasAddress && end - first >= 3);
  if (!isHeader) return undefined;
  return hasRule ? first - 1 : first;
}

/** The start of "On Monday, ... wrote:" that ends above `end`: goes up until an address and a time are included, or no more of them are above. */
function attributionStart(lines: readonly string[], end: number): number {
  let from = end - 1;
  let text = bare(lines[from] ?? '');
  while (from > 0 && end - from < ATTRIBUTION_LINES) {
    const above = bare(lines[from - 1] ?? '');
    const isFull = above.length >= FULL_LINE && (MOMENT.test(above) || ADDRESS.test(above));
    const isBroken = isFull || text.startsWith('<') || above.lastIndexOf('<') > above.lastIndexOf('>');
    const isMissing =
      (!MOMENT.test(text) && MOMENT.test(above)) || (!MOMENT.test(text) && !ADDRESS.test(text) && ADDRESS.test(above));
    const isOwn = above === '' || (SENTENCE_END.test(above) && !isBroken);
    if (isOwn || !(isBroken || isMissing) || text.length + above.length > MARK_LENGTH) break;
    text = `${above} ${text}`;
    from -= 1;
  }
  return from;
}

/**
 * The start of a mail program's introduction before a notice at `at`: "On Monday, ... wrote:", a rule, or the header of the quoted mail. It is recognized by its position
 * and form, independent of language.
 */
function introductionStart(lines: readonly string[], at: number, isMarked: boolean): number {
  let start = at;
  while (start > 0 && bare(lines[start - 1] ?? '') === '') start -= 1;
  const last = bare(lines[start - 1] ?? '');
  if (last === '' || last.length > MARK_LENGTH) return at;
  const header = headerStart(lines, start);
  if (header !== undefined) return header;
  if (RULE.test(last)) return start - 1;
  const from = attributionStart(lines, start);
  const text = lines.slice(from, start).map(bare).join(' ');
  const hasFacts = MOMENT.test(text) || ADDRESS.test(text);
  const isAttribution = ATTRIBUTION_END.test(last)
    ? hasFacts || isMarked || start === at
    : MOMENT.test(text) && ADDRESS.test(text) && !SENTENCE_END.test(last);
  return isAttribution ? from : at;
}

/**
 * The author's own text in a mailed reply: everything except this server's quoted notice. A notice is recognized by its first line together with its text: other lines that
 * look like a quote, header or signature are the customer's, and stay.
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
    kept.splice(introductionStart(kept, kept.length, depthOf(line) > 0));
    at += length;
    // Quote marks without text below it are the rest of its quote.
    while (at < lines.length && /^[ \t]*(?:>[ \t]?)+$/u.test(lines[at] ?? '')) at += 1;
  }
  return kept
    .map((line) => line.trimEnd())
    .join('\n')
    .replaceAll(/\n{3,}/gu, '\n\n')
    .trim();
}

/** Lines with which mail programs begin a forwarded mail, in the most common languages. */
const FORWARDED =
  /^\s*(?:-{2,}|_{2,})?\s*(?:(?:begin )?forwarded message|weitergeleitete nachricht|anfang der weitergeleiteten nachricht|message transféré|début du message (?:transféré|réexpédié)|mensaje reenviado|inicio del mensaje reenviado|messaggio inoltrato|inizio messaggio inoltrato|doorgestuurd bericht|mensagem encaminhada|přeposlaná zpráva|vidarebefordrat meddelande|videresendt meddelelse|пересылаемое сообщение)\s*:?\s*(?:-{2,}|_{2,})?\s*$/iu;

/** The author's text of a mail, and the text of an inline forwarded mail, unchanged; undefined if none is forwarded. */
export function splitForwarded(text: string): { own: string; forwarded: string | undefined } {
  const lines = text.split('\n');
  const at = lines.findIndex((line) => line.length <= MARK_LENGTH && FORWARDED.test(line));
  // Only if a mail header follows: a person may write these words too.
  const isMail =
    at >= 0 && lines.slice(at + 1, at + 1 + INTRODUCTION_LINES).filter((line) => HEADER.test(line.trim())).length >= 2;
  if (!isMail) return { own: text, forwarded: undefined };
  return { own: lines.slice(0, at).join('\n').trim(), forwarded: lines.slice(at).join('\n').trim() };
}
