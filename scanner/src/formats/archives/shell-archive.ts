import { format } from '#scanner/formats/format.ts';
import type { Content } from '#scanner/reading/content.ts';
import type { Member, ReadContext } from '#scanner/reading/member.ts';
import { openReader, type Reader } from '#scanner/reading/reader.ts';

// Shell archives (shar and its like): files in a script, each in a "here document" (POSIX.1-2017, Shell Command Language, 2.7.4). Those that stand there as they
// are need no reader. Some have an X before each line, so that no line is read as a command, and some are encoded.

const HEAD_BYTES = 4096;
/** A script that makes files has them far from its end, but it is no disk. Bytes. */
const SCRIPT_BYTES_MAXIMUM = 64 * 1024 ** 2;
const HERE = /(?<!<)<<-?[ \t]*(?:\\?([A-Za-z_]\w{0,80})|'([^'\n]{1,80})'|"([^"\n]{1,80})")/g;
const LINE_BYTES_MAXIMUM = 4096;
/** `sed 's/^X//'`, with any letter. */
const PREFIX = /\bsed\b[^|;\n]{0,80}s(.)\^(\S)\1\1/;
const BASE64 = /\bbase64\b[^|;\n]{0,80}\s-(-decode|d|D|i?d)\b|\bopenssl\b[^|;\n]{0,40}\bbase64\b|\bb64decode\b/;
const TARGET = />[ \t]*(?:'([^'\n]{1,200})'|"([^"\n]{1,200})"|([^\s|;&<>'"]{1,200}))/;

/** A script by its first bytes, or what says that it is an archive of the shell. */
function isScript(head: Buffer): boolean {
  const text = head.toString('latin1', 0, HEAD_BYTES);
  if (text.startsWith('#!')) return true;
  return /shell archive/i.test(text) && /^[^\n]{0,200}\n?#.{0,40}shell archive/im.test(text);
}

const OPENS = Buffer.from('<<');

/** Whether a script has a here document that is not a file as it stands. */
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
    // A line of this length is data, not a command: it is not put together again and again.
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

/** The last document that a line opens, if it holds an encoded file. */
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

/** The files that do not stand in the script as they are. */
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
  // A document without its end reaches to the end of the script.
  if (here !== undefined && isPacked(here)) yield memberOf(here, context);
}

export const shellArchive = format({
  id: 'shell-archive',
  recogniseBeside: ({ reader, head, first }) => (first === undefined && isShellArchive(reader, head) ? 24 : 0),
  traits: { is_text: true },
  limits: 'Nothing of the script is run: files that it calculates are not read.',
  open: shellArchiveMembers,
});
