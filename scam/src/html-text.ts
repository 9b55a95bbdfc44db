import { Parser } from 'htmlparser2';
import { isMeant } from './find-links.ts';
import { LIMITS } from './limits.ts';

/** The visible content of an HTML email: its text, and links with their visible text. */
export interface HtmlText {
  text: string;
  links: { href: string; label: string }[];
  /** Embedded pictures in base64. */
  pictures: string[];
  hasRemotePictures: boolean;
  /** The source of its scripts. */
  programs: string;
  /** The source exceeds the maximum length and was truncated. */
  isCut: boolean;
}

const DATA_PICTURE = /^data:image\/[\w.+-]{1,30};base64,/iu;
const UNSEEN = new Set(['script', 'style', 'title', 'head', 'template', 'noscript']);
const BREAKS = new Set(['br', 'p', 'div', 'tr', 'li', 'h1', 'h2', 'h3', 'h4', 'table', 'td', 'blockquote', 'hr']);
/** Styles that hide text, such as preview lines of newsletters and words against spam filters. */
const INVISIBLE = /display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?:px|pt|em|%)?\s*(?:;|$)/iu;
/** Deeper elements are treated as part of their ancestor at this depth. */
const DEPTH_MAXIMUM = 200;

/** Callbacks for HTML tokens in order. `is_seen`: the element is visible. */
export interface HtmlEvents {
  onOpen(name: string, attributes: Readonly<Record<string, string>>, is_seen: boolean): void;
  /** Called for visible text only. */
  onText(text: string): void;
  onClose(name: string, is_seen: boolean): void;
  /** Called for the source of a script. */
  onProgram?(text: string): void;
}

/** Tokenizes HTML without building a tree, so that deep nesting is cheap. `onOpen` is not called for an invisible element. */
export function walkHtml(html: string, { onOpen, onText, onClose, onProgram }: HtmlEvents): void {
  const unseen: string[] = [];
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (
          unseen.length > 0 ? name === unseen[0] : UNSEEN.has(name) || INVISIBLE.test((attributes['style'] ?? '').slice(0, 1_000))
        ) {
          if (unseen.length < DEPTH_MAXIMUM && !['img', 'br', 'meta', 'input', 'hr'].includes(name)) unseen.push(name);
          return;
        }
        onOpen(name, attributes, unseen.length === 0);
      },
      ontext(text) {
        if (unseen.length === 0) onText(text);
        else if (unseen[0] === 'script') onProgram?.(text);
      },
      onclosetag(name) {
        const is_seen = unseen.length === 0;
        if (unseen.at(-1) === name) unseen.pop();
        onClose(name, is_seen);
      },
    },
    { decodeEntities: true },
  );
  parser.end(html.slice(0, LIMITS.html_letters));
}

/** The addresses that an element opens by a click or after a delay. */
function hrefsOf(name: string, attributes: Readonly<Record<string, string>>): string[] {
  const { href, action, formaction, content = '' } = attributes;
  const isRefresh = name === 'meta' && attributes['http-equiv']?.trim().toLowerCase() === 'refresh';
  const refreshed = isRefresh
    ? /^[\s\d.]{0,20}[;,]?\s{0,20}(?:url\s{0,5}=\s{0,5})?["']?([^"']{3,2048})/iu.exec(content)?.[1]
    : undefined;
  const named = name === 'a' || name === 'area' ? (href ?? attributes['xlink:href']) : undefined;
  return [named, name === 'form' ? action : undefined, formaction, refreshed].filter((one) => one !== undefined);
}

/** Resolves an address as a mail program does: relative to the page's base, and as a web address if there is no scheme. Undefined if nothing would open. */
function resolveHref(href: string, base: string | undefined): string | undefined {
  const text = href.trim();
  if (text === '' || text.startsWith('#')) return undefined;
  if (/^[/\\]{2}/u.test(text)) return `${base?.startsWith('http:') ? 'http' : 'https'}:${text}`;
  const isHostWithPort = /^[^/?#:]+\.[^/?#:]+:\d{1,5}(?:[/?#]|$)/u.test(text);
  if (!isHostWithPort && URL.canParse(text)) return text;
  if (base !== undefined && URL.canParse(text, base)) return new URL(text, base).href;
  return isMeant(text) ? `http://${text}` : undefined;
}

/** Reads the visible content of a page or an HTML email. Invisible links are included. */
export function readHtml(html: string): HtmlText {
  const isCut = html.length > LIMITS.html_letters;
  const result: HtmlText = { text: '', links: [], pictures: [], hasRemotePictures: false, programs: '', isCut };
  let link: { href: string; label: string } | undefined;
  let base: string | undefined;
  walkHtml(html, {
    onOpen(name, attributes) {
      if (BREAKS.has(name)) result.text += '\n';
      if (name === 'base') base ??= resolveHref(attributes['href'] ?? '', undefined);
      for (const href of hrefsOf(name, attributes)) {
        const found = { href, label: attributes['value'] ?? '' };
        if (name === 'a' || name === 'area' || name === 'form') link = found;
        result.links.push(found);
      }
      const source = name === 'img' ? (attributes['src'] ?? '').trim() : '';
      if (DATA_PICTURE.test(source)) result.pictures.push(source.replace(DATA_PICTURE, ''));
      else if (/^(?:https?:)?\/\//iu.test(source)) result.hasRemotePictures = true;
      if (name === 'img' && attributes['alt'] !== undefined) {
        result.text += ` ${attributes['alt']} `;
        if (link !== undefined) link.label += attributes['alt'];
      }
    },
    onText(text) {
      result.text += text.replaceAll(/[\t\r\n ]+/gu, ' ');
      if (link !== undefined) link.label += text;
    },
    onProgram(text) {
      result.programs += text;
    },
    onClose(name) {
      if (name === 'a') link = undefined;
      if (BREAKS.has(name) && name !== 'br') result.text += '\n';
    },
  });
  // The base also applies to links before it.
  result.links = result.links.flatMap(({ href, label }) => {
    const resolved = resolveHref(href, base);
    return resolved === undefined ? [] : [{ href: resolved, label }];
  });
  result.text = result.text.replaceAll(/ ?\n[ \n]{0,400}/gu, '\n').trim();
  return result;
}
