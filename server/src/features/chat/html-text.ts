import { decodeHTML } from 'entities';

// HTML of a mail as text, in one pass. It is never run, fetched or shown as HTML: a stranger's markup becomes letters, line ends and addresses.

/** Precedes a quote that a mail program does not mark line by line. */
const QUOTED_FROM_HERE = '-----Original Message-----';

const DEPTH_MAXIMUM = 200;
/** A tag that is longer is none. Characters. */
const TAG_MAXIMUM = 64 * 1024;
/** Elements without an end (HTML, void elements). */
const VOID = new Set(['area', 'base', 'br', 'col', 'embed', 'hr', 'img', 'input', 'link', 'meta', 'source', 'track', 'wbr']);
/** Their content is no text of the letter. */
const SILENT = new Set(['head', 'style', 'script', 'title', 'template', 'noscript', 'svg', 'math', 'object', 'iframe']);
const BLOCKS = new Set(
  'address article aside blockquote center dd div dl dt fieldset footer form h1 h2 h3 h4 h5 h6 header hr li main ol p pre section table tr ul'.split(
    ' ',
  ),
);
/** Classes and ids by which mail programs mark quotes. */
const QUOTES = /\b(?:gmail_quote|yahoo_quoted|protonmail_quote|moz-cite-prefix|zmail_extra)\b/;
const REST_IS_QUOTED = /\b(?:divRplyFwdMsg|appendonsend|OLK_SRC_BODY_SECTION|mail-editor-reference-message-container)\b/;
/** The text of an HTML mail; lines of its quotes begin with `>`, as in a plain-text mail. */
export function textOfHtml(html: string): string {
  const lines: string[] = [];
  const open: { name: string; quotes: boolean; silent: boolean; link: string | undefined; linked_from: number }[] = [];
  let line = '';
  let endsBlank = false;
  let quotes = 0;
  let silent = 0;
  let pre = 0;

  const endLine = (isBlank = false) => {
    if (line.trim() === '' && !isBlank) {
      line = '';
      return;
    }
    lines.push(`${'> '.repeat(Math.min(quotes, 3))}${line.trimEnd()}`);
    line = '';
  };
  const write = (text: string) => {
    if (silent > 0) return;
    if (pre > 0) {
      const [first = '', ...rest] = text.split('\n');
      line += first;
      for (const next of rest) {
        endLine(true);
        line = next;
      }
      return;
    }
    const flat = text.replaceAll(/[\s\u200b\ufeff]+/g, ' ');
    const added = line === '' || endsBlank ? flat.trimStart() : flat;
    if (added === '') return;
    line += added;
    // To ask the line itself would copy it each time.
    endsBlank = added.endsWith(' ');
  };
  const close = (at: number) => {
    for (const { name, quotes: quoting, silent: hiding, link, linked_from } of open.splice(at).toReversed()) {
      if (link !== undefined && silent === 0 && !line.slice(linked_from).includes(link.replace(/^https?:\/\/|\/$/g, '')))
        line += ` (${link})`;
      if (BLOCKS.has(name)) endLine();
      if (quoting) {
        endLine();
        quotes -= 1;
      }
      if (hiding) silent -= 1;
      if (name === 'pre') pre -= 1;
    }
  };

  let end = html.indexOf('>');
  for (let at = 0; at < html.length; ) {
    const begin = html.indexOf('<', at);
    if (begin < 0) {
      write(decodeHTML(html.slice(at)));
      break;
    }
    if (begin > at) write(decodeHTML(html.slice(at, begin)));
    if (html.startsWith('<!--', begin)) {
      const after = html.indexOf('-->', begin + 4);
      at = after < 0 ? html.length : after + 3;
      continue;
    }
    // Looked for once: where none comes any more, each further `<` would be read to the end.
    if (end >= 0 && end < begin) end = html.indexOf('>', begin);
    const tag = end < 0 || end - begin > TAG_MAXIMUM ? undefined : html.slice(begin + 1, end);
    const [, slash = '', raw = ''] = /^(\/?)([a-z][a-z0-9:]{0,30})/i.exec(tag ?? '') ?? [];
    if (tag === undefined || (raw === '' && !/^[!?/]/.test(tag))) {
      write('<');
      at = begin + 1;
      continue;
    }
    at = end + 1;
    const name = raw.toLowerCase();
    if (slash !== '') {
      const opened = open.findLastIndex((element) => element.name === name);
      if (opened >= 0) close(opened);
      else if (name === 'p') endLine();
      continue;
    }
    if (name === 'br') {
      if (silent === 0) endLine(true);
      continue;
    }
    if (BLOCKS.has(name)) endLine();
    if (silent > 0 && !SILENT.has(name) && VOID.has(name)) continue;
    if (name === 'li' && silent === 0) line = '- ';
    if (name === 'p' && silent === 0 && lines.length > 0 && lines.at(-1) !== '') lines.push('');
    const marks = /\b(?:class|id)\s*=\s*(?:"[^"]{0,500}"|'[^']{0,500}'|[^\s>]{1,200})/gi;
    const named = (tag.slice(0, 2_000).match(marks) ?? []).join(' ');
    if (REST_IS_QUOTED.test(named) && silent === 0) lines.push(QUOTED_FROM_HERE);
    if (VOID.has(name) || tag.endsWith('/') || open.length >= DEPTH_MAXIMUM) continue;
    const isQuote = name === 'blockquote' || QUOTES.test(named);
    const [, href = ''] = name === 'a' ? (/\bhref\s*=\s*["']?(https?:\/\/[^\s"'<>]{1,500})/i.exec(tag) ?? []) : [];
    if (isQuote) {
      endLine();
      quotes += 1;
    }
    if (SILENT.has(name)) silent += 1;
    if (name === 'pre') pre += 1;
    open.push({
      name,
      quotes: isQuote,
      silent: SILENT.has(name),
      link: href === '' ? undefined : decodeHTML(href),
      linked_from: line.length,
    });
  }
  close(0);
  endLine();
  return lines.join('\n');
}
