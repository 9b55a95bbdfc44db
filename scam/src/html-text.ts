import { Parser } from 'htmlparser2';
import { LIMITS } from './limits.ts';

/** The visible content of an HTML email: its words, and links with their shown words. */
export interface HtmlText {
  text: string;
  links: { href: string; label: string }[];
  /** Pictures that are written in it, in base64. */
  pictures: string[];
  hasRemotePictures: boolean;
  /** The text of its programs. */
  programs: string;
  /** The source is longer than the maximum. */
  isCut: boolean;
}

const DATA_PICTURE = /^data:image\/[\w.+-]{1,30};base64,/iu;
const UNSEEN = new Set(['script', 'style', 'title', 'head', 'template', 'noscript']);
const BREAKS = new Set(['br', 'p', 'div', 'tr', 'li', 'h1', 'h2', 'h3', 'h4', 'table', 'td', 'blockquote', 'hr']);
/** Text that is drawn nowhere: the preview line of newsletters, and words that are put in to fool filters. */
const INVISIBLE = /display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?:px|pt|em|%)?\s*(?:;|$)/iu;
/** Elements deeper than this are read as part of the last one. */
const DEPTH_MAXIMUM = 200;

/** Tokens of HTML, in their order. `is_seen`: a person would see the element. */
export interface HtmlEvents {
  onOpen(name: string, attributes: Readonly<Record<string, string>>, is_seen: boolean): void;
  /** Only text that a person would see. */
  onText(text: string): void;
  onClose(name: string, is_seen: boolean): void;
  /** The text of a program. */
  onProgram?(text: string): void;
}

/** Reads tokens of HTML one after the other; no tree is built, so nesting costs nothing. An unseen element itself is not opened. */
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

/** Reads the visible content of a page or an HTML email. Links count where they are unseen, too. */
export function readHtml(html: string): HtmlText {
  const isCut = html.length > LIMITS.html_letters;
  const result: HtmlText = { text: '', links: [], pictures: [], hasRemotePictures: false, programs: '', isCut };
  let link: { href: string; label: string } | undefined;
  walkHtml(html, {
    onOpen(name, attributes) {
      if (BREAKS.has(name)) result.text += '\n';
      const href = attributes['href'] ?? (name === 'form' ? attributes['action'] : undefined);
      if ((name === 'a' || name === 'area' || name === 'form') && href !== undefined) {
        link = { href: href.trim(), label: '' };
        result.links.push(link);
      }
      const source = name === 'img' ? (attributes['src'] ?? '').trim() : '';
      if (DATA_PICTURE.test(source)) result.pictures.push(source.replace(DATA_PICTURE, ''));
      else if (/^(?:https?:)?\/\//iu.test(source)) result.hasRemotePictures = true;
      if (name === 'img' && attributes['alt'] !== undefined) {
        result.text += ` ${attributes['alt']} `;
        if (link !== undefined) link.label += attributes['alt'].slice(0, 300);
      }
    },
    onText(text) {
      result.text += text.replaceAll(/[\t\r\n ]+/gu, ' ');
      if (link !== undefined && link.label.length < 300) link.label += text;
    },
    onProgram(text) {
      result.programs += text;
    },
    onClose(name) {
      if (name === 'a') link = undefined;
      if (BREAKS.has(name) && name !== 'br') result.text += '\n';
    },
  });
  result.text = result.text.replaceAll(/ ?\n[ \n]{0,400}/gu, '\n').trim();
  return result;
}
