import { walkHtml } from '@palisade/scam/html-text';

// Converts an HTML mail to text. It is never executed, fetched or shown as HTML: a stranger's markup becomes characters, line ends and addresses.

/** Marker before a quote whose lines a mail program does not mark. */
const QUOTED_FROM_HERE = '-----Original Message-----';

const BLOCKS = new Set(
  'address article aside blockquote center dd div dl dt fieldset footer form h1 h2 h3 h4 h5 h6 header hr li main ol p pre section table tr ul'.split(
    ' ',
  ),
);
/** Classes and ids by which mail programs mark quotes. */
const QUOTES = /\b(?:gmail_quote|yahoo_quoted|protonmail_quote|moz-cite-prefix|zmail_extra)\b/;
const REST_IS_QUOTED = /\b(?:divRplyFwdMsg|appendonsend|OLK_SRC_BODY_SECTION|mail-editor-reference-message-container)\b/;
const NAMES_MAXIMUM = 1_000;
/** Preview text of newsletters, which mail lists show and the mail itself hides. */
const PREVIEW = /\b(?:pre-?header|preview-?text)\b/i;
const ZERO = String.raw`\s*:\s*0*(?:\.0+)?(?:px|pt|em|rem|%)?\s*(?:!important\s*)?(?:;|$)`;
const NOT_DRAWN = new RegExp(`mso-hide\\s*:\\s*all|(?:^|[;\\s])(?:opacity|font-size|max-height|max-width)${ZERO}`, 'iu');
const IS_CLIPPED = /overflow\s*:\s*hidden/iu;
const NO_SIZE = new RegExp(`(?:^|[;\\s])(?:height|width)${ZERO}`, 'iu');

function isHidden(attributes: Readonly<Record<string, string>>, named: string): boolean {
  const style = (attributes['style'] ?? '').slice(0, NAMES_MAXIMUM);
  return (
    'hidden' in attributes || PREVIEW.test(named) || NOT_DRAWN.test(style) || (IS_CLIPPED.test(style) && NO_SIZE.test(style))
  );
}

/** The lines of a letter while its tokens are read. */
class Lines {
  readonly lines: string[] = [];
  line = '';
  /** Number of open quotes and preformatted elements. */
  quotes = 0;
  pre = 0;
  /** Number of open hidden elements. */
  hidden = 0;
  #endsBlank = false;
  #hasCell = false;

  end(isBlank = false): void {
    if (this.line.trim() !== '' || isBlank) this.lines.push(`${'> '.repeat(Math.min(this.quotes, 3))}${this.line.trimEnd()}`);
    this.line = '';
    this.#hasCell = false;
  }

  /** Separates the text of table cells. */
  cell(): void {
    this.#hasCell = this.line.trim() !== '';
  }

  write(text: string): void {
    if (this.hidden > 0) return;
    if (this.pre > 0) {
      const [first = '', ...rest] = text.split('\n');
      this.line += first;
      for (const next of rest) {
        this.end(true);
        this.line = next;
      }
      return;
    }
    const flat = text.replaceAll(/[\s\u200b\ufeff]+/g, ' ');
    const added = this.line === '' || this.#endsBlank ? flat.trimStart() : flat;
    if (added.trim() === '' && (added === '' || this.#hasCell)) return;
    if (this.#hasCell) this.line = `${this.line.trimEnd()} | `;
    this.line += this.#hasCell ? added.trimStart() : added;
    this.#hasCell = false;
    // Cached, because inspecting the line itself would copy it each time.
    this.#endsBlank = added.endsWith(' ');
  }
}

/** The text of an HTML mail; lines of its quotes begin with `>`, as in a plain-text mail. */
export function textOfHtml(html: string): string {
  const text = new Lines();
  /** Undefined for a hidden element. */
  const open: ({ is_quote: boolean; link: string | undefined; linked_from: number } | undefined)[] = [];
  walkHtml(html, {
    onText: (some) => text.write(some),

    onOpen(name, attributes, is_seen) {
      if (!is_seen) return;
      const named = `${attributes['class'] ?? ''} ${attributes['id'] ?? ''}`.slice(0, NAMES_MAXIMUM);
      if (text.hidden > 0 || isHidden(attributes, named)) {
        text.hidden += 1;
        open.push(undefined);
        return;
      }
      if (name === 'br') text.end(true);
      if (BLOCKS.has(name)) text.end();
      if (name === 'td' || name === 'th') text.cell();
      if (name === 'li') text.line = '- ';
      if (name === 'p' && text.lines.length > 0 && text.lines.at(-1) !== '') text.lines.push('');
      if (REST_IS_QUOTED.test(named)) text.lines.push(QUOTED_FROM_HERE);
      const is_quote = name === 'blockquote' || QUOTES.test(named);
      if (is_quote) {
        text.end();
        text.quotes += 1;
      }
      if (name === 'pre') text.pre += 1;
      const [, link] = name === 'a' ? (/^\s*(https?:\/\/[^\s"'<>]{1,500})/i.exec(attributes['href'] ?? '') ?? []) : [];
      open.push({ is_quote, link, linked_from: text.line.length });
    },

    // The parser closes each opened element once, also one without an end.
    onClose(name, is_seen) {
      if (!is_seen || open.length === 0) return;
      const element = open.pop();
      if (element === undefined) {
        text.hidden -= 1;
        return;
      }
      const { is_quote, link, linked_from } = element;
      if (link !== undefined && !text.line.slice(linked_from).includes(link.replace(/^https?:\/\/|\/$/g, '')))
        text.line += ` (${link})`;
      if (BLOCKS.has(name)) text.end();
      if (is_quote) {
        text.end();
        text.quotes -= 1;
      }
      if (name === 'pre') text.pre -= 1;
    },
  });
  text.end();
  return text.lines.join('\n');
}
