/**
 * The Markdown of help pages, parsed into a tree that pages render. Syntax that is not listed here is plain text, including HTML. Links lead only to web pages, email addresses and screens of Palisade.
 */
export type Inline =
  | { kind: 'text'; text: string }
  | { kind: 'strong' | 'emphasis'; children: Inline[] }
  | { kind: 'code'; text: string }
  | { kind: 'link'; href: string; children: Inline[] };

export type Block =
  | { kind: 'heading'; level: 2 | 3; children: Inline[] }
  | { kind: 'paragraph'; children: Inline[] }
  | { kind: 'list'; ordered: boolean; items: Inline[][] }
  | { kind: 'quote'; children: Inline[] }
  | { kind: 'code'; text: string };

const SCREEN = /^\/(?:[a-z0-9][a-z0-9/_-]*)?(?:[?#][\w=&%.-]*)?$/u;
const ELSEWHERE = /^(?:https?:\/\/[\w.-]+(?:[:/?#][^\s<>"'`\\]*)?|mailto:[\w.+-]+@[\w.-]+)$/iu;
/** Maximum nesting of emphasis and links. */
const DEPTH_MAXIMUM = 4;

/** The target of a permitted link; undefined for all others (`javascript:`, `data:`, `//elsewhere`). */
function safeHref(written: string): string | undefined {
  if (SCREEN.test(written)) return written;
  return ELSEWHERE.test(written) ? written : undefined;
}

/** Opening and closing delimiters of each mark. Each is searched from one position, in one pass. */
function inlineAt(text: string, at: number, depth: number): { node: Inline; end: number } | undefined {
  if (text[at] === '`') {
    const end = text.indexOf('`', at + 1);
    return end > at + 1 ? { node: { kind: 'code', text: text.slice(at + 1, end) }, end: end + 1 } : undefined;
  }
  if (depth >= DEPTH_MAXIMUM) return undefined;
  if (text.startsWith('**', at)) {
    const end = text.indexOf('**', at + 2);
    if (end <= at + 2) return undefined;
    return { node: { kind: 'strong', children: parseInline(text.slice(at + 2, end), depth + 1) }, end: end + 2 };
  }
  if (text[at] === '*') {
    const end = text.indexOf('*', at + 1);
    if (end <= at + 1 || /\s/u.test(text[at + 1] ?? ' ')) return undefined;
    return { node: { kind: 'emphasis', children: parseInline(text.slice(at + 1, end), depth + 1) }, end: end + 1 };
  }
  if (text[at] === '[') {
    const close = text.indexOf('](', at + 1);
    const end = close === -1 ? -1 : text.indexOf(')', close + 2);
    if (end === -1) return undefined;
    const href = safeHref(text.slice(close + 2, end).trim());
    if (href === undefined) return undefined;
    return { node: { kind: 'link', href, children: parseInline(text.slice(at + 1, close), DEPTH_MAXIMUM) }, end: end + 1 };
  }
  return undefined;
}

function parseInline(text: string, depth = 0): Inline[] {
  const nodes: Inline[] = [];
  // If a mark has no closing delimiter, later marks of the same kind have none either, so each kind is given up after its first miss.
  const unclosed = new Set<string>();
  let plain = '';
  const flush = () => {
    if (plain !== '') nodes.push({ kind: 'text', text: plain });
    plain = '';
  };
  for (let at = 0; at < text.length; ) {
    const character = text[at] ?? '';
    if (character === '\\' && /[\\`*[\]#>-]/u.test(text[at + 1] ?? '')) {
      plain += text[at + 1] ?? '';
      at += 2;
      continue;
    }
    const mark = text.startsWith('**', at) ? '**' : character;
    const found = '`*['.includes(character) && !unclosed.has(mark) ? inlineAt(text, at, depth) : undefined;
    if (found === undefined) {
      const closing = mark === '[' ? '](' : mark;
      if ('`*['.includes(character) && !text.includes(closing, at + mark.length)) unclosed.add(mark);
      plain += mark === '**' ? '**' : character;
      at += mark === '**' ? 2 : 1;
      continue;
    }
    flush();
    nodes.push(found.node);
    at = found.end;
  }
  flush();
  return nodes;
}

const BULLET = /^[-*+]\s+(.*)$/u;
const NUMBER = /^\d{1,3}[.)]\s+(.*)$/u;

/** Parses a help page. */
export function parseMarkdown(source: string): Block[] {
  const blocks: Block[] = [];
  const lines = source.replaceAll('\r\n', '\n').split('\n');
  let paragraph: string[] = [];
  const flush = () => {
    if (paragraph.length > 0) blocks.push({ kind: 'paragraph', children: parseInline(paragraph.join(' ')) });
    paragraph = [];
  };
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const trimmed = line.trim();
    if (trimmed.startsWith('```')) {
      flush();
      const end = lines.findIndex((other, place) => place > at && other.trim() === '```');
      const last = end === -1 ? lines.length : end;
      blocks.push({ kind: 'code', text: lines.slice(at + 1, last).join('\n') });
      at = last;
      continue;
    }
    const heading = /^(#{1,6})\s+(.*)$/u.exec(trimmed);
    const bullet = BULLET.exec(trimmed);
    const number = NUMBER.exec(trimmed);
    if (trimmed === '') flush();
    else if (heading !== null) {
      flush();
      blocks.push({ kind: 'heading', level: (heading[1]?.length ?? 2) <= 2 ? 2 : 3, children: parseInline(heading[2] ?? '') });
    } else if (bullet !== null || number !== null) {
      flush();
      const ordered = bullet === null;
      const item = parseInline((bullet ?? number)?.[1] ?? '');
      const before = blocks.at(-1);
      const continues = before?.kind === 'list' && before.ordered === ordered && lines[at - 1]?.trim() !== '';
      if (continues) before.items.push(item);
      else blocks.push({ kind: 'list', ordered, items: [item] });
    } else if (trimmed.startsWith('>')) {
      flush();
      blocks.push({ kind: 'quote', children: parseInline(trimmed.slice(1).trim()) });
    } else paragraph.push(trimmed);
  }
  flush();
  return blocks;
}

/** The text of a help page without markup, for search and snippets. */
export function plainText(source: string): string {
  const inline = (nodes: readonly Inline[]): string =>
    nodes.map((node) => ('children' in node ? inline(node.children) : node.text)).join('');
  return parseMarkdown(source)
    .map((block) => {
      if (block.kind === 'code') return block.text;
      return block.kind === 'list' ? block.items.map(inline).join('\n') : inline(block.children);
    })
    .join('\n');
}
