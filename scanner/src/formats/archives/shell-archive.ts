import { format } from '#scanner/formats/format.ts';
import type { Content } from '#scanner/reading/content.ts';
import type { Member, ReadContext } from '#scanner/reading/member.ts';
import { openReader, type Reader } from '#scanner/reading/reader.ts';

// Shell archives (shar and similar): scripts that contain files as here-documents (POSIX.1-2017, Shell Command Language, 2.7.4). Only files that are encoded,
// or whose lines have a prefix such as X, are extracted; other files are visible in the script as they are.

const HEAD_BYTES = 4096;
/** Maximum size of a script that is searched for here-documents. Bytes. */
const SCRIPT_BYTES_MAXIMUM = 64 * 1024 ** 2;
const HERE = /(?<!<)<<-?[ \t]*(?:\\?([A-Za-z_]\w{0,80})|'([^'\n]{1,80})'|"([^"\n]{1,80})")/g;
const LINE_BYTES_MAXIMUM = 4096;
/** Matches `sed 's/^X//'`, with any character in place of X. */
const PREFIX = /\bsed\b[^|;\n]{0,80}s(.)\^(\S)\1\1/;
const BASE64 = /\bbase64\b[^|;\n]{0,80}\s-(-decode|d|D|i?d)\b|\bopenssl\b[^|;\n]{0,40}\bbase64\b|\bb64decode\b/;
const TARGET = />[ \t]*(?:'([^'\n]{1,200})'|"([^"\n]{1,200})"|([^\s|;&<>'"]{1,200}))/;

/** Whether the first bytes are a script with `#!` or contain the comment of a shell archive. */
function isScript(head: Buffer): boolean {
  const text = head.toString('latin1', 0, HEAD_BYTES);
  if (text.startsWith('#!')) return true;
  return /shell archive/i.test(text) && /^[^\n]{0,200}\n?#.{0,40}shell archive/im.test(text);
}

const OPENS = Buffer.from('<<');

/** Whether a script has a here-document that is encoded or has prefixed lines. */
function isShellArchive(reader: Reader, head: Buffer): boolean {
  if (!isScript(head) || reader.find(OPENS, 0, SCRIPT_BYTES_MAXIMUM) < 0) return false;
  for (const { text } of linesOf(reader)) {
    const here = hereOf(text);
    if (here !== undefined && isPacked(here)) return true;
  }
  return false;
}

interface Line {
  text: string;
  end: number;
}

function* linesOf(reader: Reader): Generator<Line> {
  let rest = '';
  let at = 0;
  for (const chunk of reader.chunks(0, Math.min(reader.size, SCRIPT_BYTES_MAXIMUM))) {
    const pieces = (rest + chunk.toString('latin1')).split('\n');
    rest = pieces.pop() ?? '';
    for (const text of pieces) {
      at += text.length + 1;
      yield { text, end: at };
    }
    // A line this long is data and not a command. It is given in parts, so that it is not joined repeatedly.
    if (rest.length <= 256 * LINE_BYTES_MAXIMUM) continue;
    at += rest.length;
    yield { text: rest, end: at };
    rest = '';
  }
  if (rest !== '') yield { text: rest, end: at + rest.length };
}

interface Here {
  end: string;
  has_tabs: boolean;
  prefix: string | undefined;
  is_base64: boolean;
  name: string;
  lines: string[];
}

/** The last here-document that a line opens. */
function hereOf(text: string): Here | undefined {
  if (text.length > LINE_BYTES_MAXIMUM || !text.includes('<<')) return undefined;
  const found = [...text.matchAll(HERE)].at(-1);
  const end = found?.[1] ?? found?.[2] ?? found?.[3];
  if (found === undefined || end === undefined) return undefined;
  const target = TARGET.exec(text);
  return {
    end,
    has_tabs: found[0].startsWith('<<-'),
    prefix: PREFIX.exec(text)?.[2],
    is_base64: BASE64.test(text),
    name: target?.[1] ?? target?.[2] ?? target?.[3] ?? end,
    lines: [],
  };
}

const isPacked = ({ prefix, is_base64 }: Here) => prefix !== undefined || is_base64;

function contentOf({ lines, prefix, is_base64 }: Here): Buffer {
  const own = prefix === undefined ? lines : lines.map((line) => (line.startsWith(prefix) ? line.slice(prefix.length) : line));
  const text = own.map((line) => `${line}\n`).join('');
  return is_base64 ? Buffer.from(text, 'base64') : Buffer.from(text, 'latin1');
}

function memberOf(here: Here, { budget }: ReadContext): Member {
  const bytes = contentOf(here);
  budget.addUnpacked(bytes.length, bytes.length, bytes.length);
  return { name: here.name, read: () => ({ content: { size: bytes.length, bytes } }) };
}

/** The encoded and prefixed files of the script. */
async function* shellArchiveMembers(content: Content, context: ReadContext): AsyncGenerator<Member> {
  using reader = openReader(content, context.budget);
  let here: Here | undefined;
  let start = 0;
  for (const { text, end } of linesOf(reader)) {
    context.budget.spend(text.length + 1);
    if (here === undefined) {
      here = hereOf(text);
      start = end;
      continue;
    }
    if ((here.has_tabs ? text.replace(/^\t+/, '') : text).replace(/\r$/, '') !== here.end) {
      if (isPacked(here)) here.lines.push(here.has_tabs ? text.replace(/^\t+/, '') : text);
      continue;
    }
    if (isPacked(here)) {
      context.claim(start, end);
      yield memberOf(here, context);
    }
    here = undefined;
  }
  // An unterminated here-document extends to the end of the script.
  if (here !== undefined && isPacked(here)) yield memberOf(here, context);
}

export const shellArchive = format({
  id: 'shell-archive',
  recogniseBeside: ({ reader, head, first }) => (first === undefined && isShellArchive(reader, head) ? 24 : 0),
  traits: { is_text: true },
  limits: 'Nothing of the script is run: files that it calculates are not read.',
  open: shellArchiveMembers,
});
