/// <reference path="./webassembly.d.ts" />
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { StatusDetail } from '@palisade/contract/antivirus';
import sevenZip from '7z-wasm';
import { z } from 'zod';
import { isDiskError, MEMORY_BYTES_MAXIMUM, rangeOf, type Source } from '#scanner/reading/content.ts';
import { LimitReached } from '#scanner/reading/limits.ts';
import { type Member, type ReadContext, Unreadable } from '#scanner/reading/member.ts';

// Runs 7-Zip as WebAssembly for formats without a reader of their own. The call cannot be paused, so it uses a file system in this module, which counts every
// byte that is read or written; a limit ends the call. 7-Zip has no access to the disk or other files.

/** The part of Emscripten's file system that is used here; the types of 7z-wasm omit it. */
interface Node {
  name: string;
  usedBytes?: number;
  mode: number;
}
interface FileStream {
  node: Node;
}
type Transfer = (stream: FileStream, heap: Uint8Array, offset: number, length: number, position: number) => number;
interface FileSystem {
  root: {
    mount: {
      type: {
        ops_table: {
          dir: { node: { mknod: (...parts: unknown[]) => unknown } };
          file: {
            node: { setattr: (node: Node, attributes: { mode?: number }) => void };
            stream: { read: Transfer; write: Transfer };
          };
        };
      };
    };
  };
  create(path: string): FileStream;
  close(stream: FileStream): void;
  lookupPath(path: string): { node: Node };
  getPath(node: Node): string;
  mkdir(path: string): void;
}
interface Program {
  FS: FileSystem;
  callMain(words: string[]): unknown;
}
type Factory = (options: {
  print: (line: string) => void;
  printErr: (line: string) => void;
  quit: (status: number, reason: unknown) => void;
  instantiateWasm: (imports: object, done: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void) => object;
}) => Promise<Program>;

const createProgram = z.custom<Factory>((value) => typeof value === 'function').parse(sevenZip);

/** Maximum memory. It must hold the LZMA dictionary, which has at most 256 MB for `7z -mx=9`. Pages of 64 KiB. */
const MEMORY_PAGES_MAXIMUM = (384 * 1024 ** 2) / 65_536;
const INPUT = '/input';
const OUTPUT = '/out';
const LINES_MAXIMUM = 100;
/** Maximum number of stdout lines that are kept. Each piece found by the parser mode takes seven lines. */
const SAID_LINES_MAXIMUM = 4000;
/** 7-Zip does not recognise the file as an archive, or not as one of the requested type. */
export class NotAnArchive extends Unreadable {
  override name = 'NotAnArchive';

  constructor() {
    super('damaged');
  }
}

/** Budget cost of each read call, in addition to its bytes. */
const CALL_COST = 64;

let compiled: Promise<WebAssembly.Module> | undefined;

function compileOnce(): Promise<WebAssembly.Module> {
  const folder = dirname(createRequire(import.meta.url).resolve('7z-wasm'));
  compiled ??= WebAssembly.compile(readFileSync(join(folder, '7zz.wasm')));
  return compiled;
}

async function startProgram(print: (line: string) => void, complain: (line: string) => void): Promise<Program> {
  const module = await compileOnce();
  return await createProgram({
    print,
    printErr: complain,
    quit: (_status, reason) => {
      throw reason;
    },
    instantiateWasm(imports, done) {
      void WebAssembly.instantiate(module, imports).then((instance) => {
        const memory = instance.exports['memory'];
        if (memory instanceof WebAssembly.Memory) {
          const grow = memory.grow.bind(memory);
          memory.grow = (pages: number) => {
            if (memory.buffer.byteLength / 65_536 + pages > MEMORY_PAGES_MAXIMUM)
              throw new RangeError('No more memory for 7-Zip.');
            return grow(pages);
          };
        }
        done(instance, module);
      });
      return {};
    },
  });
}

/** A member that 7-Zip writes: in memory, or in a file if the members exceed the memory limit or are not written in order. */
interface Unpacked {
  name: string;
  size: number;
  chunks: Buffer[];
  path: string | undefined;
}

/** Writes all bytes; a single write call may write fewer. */
function writeWhole(handle: number, bytes: Uint8Array, position: number): void {
  for (let written = 0; written < bytes.length; )
    written += writeSync(handle, bytes, written, bytes.length - written, position + written);
}

/** Message of 7-Zip about data after the archive, which is examined separately. */
const FOLLOWED = /(there are|there are some) data after the end/i;
const HEADING = /^(errors|warnings):$/i;
/** Message of 7-Zip about a link that cannot be created here. Links have no content: the target is another member or outside the archive. */
const LINK_LEFT_OUT = /^ERROR: (Dangerous link path was ignored|Cannot create (hard|symbolic) link) : /;
/** Message of 7-Zip about a file that is not an archive, or not one of the requested type. */
const NO_ARCHIVE = /cannot open the file as/i;

/** Messages of 7-Zip on stderr about the archive or a member, with their scan results. */
const COMPLAINTS: readonly { says: RegExp; detail: StatusDetail }[] = [
  { says: /wrong password|encrypted/i, detail: 'encrypted' },
  { says: /unsupported (method|feature)|not implemented|missing volume/i, detail: 'unsupported' },
  { says: /allocate|memory/i, detail: 'too_large' },
  { says: /error|unexpected|cannot open|crc failed|is not archive|headers/i, detail: 'damaged' },
];

function complaintsOf(lines: readonly string[]): StatusDetail[] {
  const is_followed = lines.some((line) => FOLLOWED.test(line));
  const said = lines.filter((line) => !FOLLOWED.test(line) && !LINK_LEFT_OUT.test(line) && !(is_followed && HEADING.test(line)));
  const details = said.flatMap((line) => COMPLAINTS.find(({ says }) => says.test(line))?.detail ?? []);
  return [...new Set(details)];
}

/** Members that 7-Zip could not decrypt, from the message `ERROR: Wrong password : name`. */
function locked(lines: readonly string[]): string[] {
  return lines.flatMap((line) => (/wrong password/i.test(line) ? (/ : (.*)$/.exec(line)?.[1] ?? []) : []));
}

/** Whether the header of a 7z archive is encrypted with AES, so that even its names are hidden (7zFormat.txt: the method id 06F10701). */
function hasEncryptedHeader(source: Source): boolean {
  const head = source.read(0, 32);
  if (head.length < 32 || head.readUInt32BE(0) !== 0x377abcaf) return false;
  const position = Number(head.readBigUInt64LE(12)) + 32;
  return position < source.size && source.read(position, 4096).includes(Buffer.from('06f10701', 'hex'));
}

/** Result of a run of 7-Zip. */
interface Answer {
  unpacked: Unpacked[];
  /** Error that ended the run early, such as a limit. */
  stopped: unknown;
  /** Lines of stderr. */
  lines: string[];
  /** Lines of stdout. */
  said: string[];
}

async function run(
  words: readonly string[],
  source: Source,
  type: string | undefined,
  { budget, path }: Pick<ReadContext, 'budget' | 'path'>,
): Promise<Answer> {
  const lines: string[] = [];
  const said: string[] = [];
  const { FS, callMain } = await startProgram(
    (line) => {
      if (said.length < SAID_LINES_MAXIMUM) said.push(line);
    },
    (line) => {
      if (lines.length < LINES_MAXIMUM) lines.push(line);
    },
  );
  const unpacked = new Map<Node, Unpacked>();
  let in_memory = 0;
  /** The output file that is open. Only one is open at a time, because an archive may have more files than a process may open. */
  let open: { path: string; handle: number } | undefined;
  let stopped: unknown;
  let folders_and_files = 0;
  const { dir, file } = FS.root.mount.type.ops_table;

  const handleOf = (target: string, flags: 'wx' | 'r+'): number => {
    if (open?.path !== target) {
      if (open !== undefined) closeSync(open.handle);
      open = undefined;
      open = { path: target, handle: openSync(target, flags, 0o600) };
    }
    return open.handle;
  };

  FS.close(FS.create(INPUT));
  FS.mkdir(OUTPUT);
  const input = FS.lookupPath(INPUT).node;
  input.usedBytes = source.size;
  // An error thrown here passes through 7-Zip, which may report it as a disk error. The first error is kept and thrown again.
  const guarded = <T>(work: () => T): T => {
    if (stopped !== undefined) throw stopped;
    try {
      return work();
    } catch (error) {
      stopped = error;
      throw error;
    }
  };

  // Sizes stated by the archive are not trusted, so no memory is allocated for them.
  file.node.setattr = (node, { mode }) => {
    if (mode !== undefined) node.mode = mode;
  };
  file.stream.read = (stream, heap, offset, length, position) =>
    guarded(() => {
      if (stream.node !== input) return 0;
      const count = source.fill(heap.subarray(offset, offset + length), position);
      budget.spend(count + CALL_COST);
      return count;
    });
  file.stream.write = (stream, heap, offset, length, position) =>
    guarded(() => {
      const { node } = stream;
      const known = unpacked.get(node);
      const member = known ?? { name: FS.getPath(node).slice(OUTPUT.length + 1), size: 0, chunks: [], path: undefined };
      if (known === undefined) unpacked.set(node, member);
      budget.spend(length);
      budget.addUnpacked(length, Math.max(member.size, position + length), source.size);
      if (member.path === undefined && (position !== member.size || in_memory + length > MEMORY_BYTES_MAXIMUM)) {
        member.path = path();
        const handle = handleOf(member.path, 'wx');
        let at = 0;
        for (const chunk of member.chunks.splice(0)) {
          writeWhole(handle, chunk, at);
          at += chunk.length;
        }
        in_memory -= member.size;
      }
      const chunk = heap.subarray(offset, offset + length);
      if (member.path === undefined) {
        member.chunks.push(Buffer.from(chunk));
        in_memory += length;
      } else {
        writeWhole(handleOf(member.path, 'r+'), chunk, position);
      }
      member.size = Math.max(member.size, position + length);
      node.usedBytes = member.size;
      return length;
    });
  const { mknod } = dir.node;
  dir.node.mknod = (...parts) =>
    guarded(() => {
      folders_and_files += 1;
      budget.expectMembers(folders_and_files);
      return mknod(...parts);
    });

  try {
    callMain([...words, '-bd', '-bsp0', ...(type === undefined ? [] : [`-t${type}`]), INPUT]);
  } catch (error) {
    // An exception of 7-Zip itself is a number (a C++ exception), which only shows that it failed.
    if (stopped === undefined && lines.length === 0) lines.push(`error ${String(error)}`);
  } finally {
    if (open !== undefined) closeSync(open.handle);
  }
  return { unpacked: [...unpacked.values()], stopped, lines, said };
}

/** The number after `key = ` in the output. */
function numberAfter(said: readonly string[], key: string): number | undefined {
  const line = said.find((one) => one.startsWith(`${key} = `));
  const number = line === undefined ? Number.NaN : Number(line.slice(key.length + 3));
  return Number.isSafeInteger(number) ? number : undefined;
}

/** The range of the archive in the input, as reported by 7-Zip. Of nested archives, the outermost. */
function placeOf(said: readonly string[]): { type: string; start: number; end: number | undefined } | undefined {
  const first = said.findIndex((line) => line.startsWith('Type = '));
  const type = said[first]?.slice('Type = '.length);
  if (type === undefined) return undefined;
  const after = said.slice(first);
  const last = after.findIndex((line) => line === '' || line.startsWith('--') || line.startsWith('Comment = '));
  const block = last < 0 ? after : after.slice(0, last);
  const start = numberAfter(block, 'Offset') ?? 0;
  const size = numberAfter(block, 'Physical Size');
  return { type, start, end: size === undefined ? undefined : start + size };
}

/** A range of a file, as reported by the parser mode of 7-Zip. `type` is undefined for unknown data. */
interface Piece {
  start: number;
  end: number;
  type: string | undefined;
}

/** Lists the archives that a file is composed of. The parser mode of 7-Zip searches the whole file. */
async function piecesOf(source: Source, context: ReadContext): Promise<Piece[]> {
  const { said, stopped } = await run(['l', '-slt', '-t#'], source, undefined, context);
  if (stopped instanceof LimitReached || isDiskError(stopped)) throw stopped;
  const pieces: Piece[] = [];
  for (const block of said.join('\n').split('\n\n')) {
    const lines = block.split('\n');
    const size = numberAfter(lines, 'Size');
    const start = numberAfter(lines, 'Offset');
    const type = lines.find((line) => line.startsWith('Type = '))?.slice('Type = '.length);
    if (size !== undefined && start !== undefined)
      pieces.push({ start, end: start + size, type: type === '' ? undefined : type });
  }
  return pieces;
}

/** Unpacks everything with the password as typed or, if that fails, in Unicode NFC and NFD, since archives made on a Mac may use either. */
async function unlockedRun(source: Source, format: string | undefined, context: ReadContext): Promise<Answer> {
  // Without a password, 7-Zip would ask for one.
  const { password = 'none' } = context;
  const forms = [...new Set([password, password.normalize('NFC'), password.normalize('NFD')])];
  for (const [index, form] of forms.entries()) {
    const answer = await run(['x', '-y', '-aou', `-p${form}`, `-o${OUTPUT}`], source, format, context);
    const is_locked =
      locked(answer.lines).length > 0 || complaintsOf(answer.lines).includes('encrypted') || hasEncryptedHeader(source);
    const is_opened = answer.unpacked.some(({ size }) => size > 0);
    if (index === forms.length - 1 || answer.stopped !== undefined || !is_locked || is_opened) return answer;
  }
  throw new NotAnArchive();
}

/**
 * The members of an archive that 7-Zip opens. `format` is its name in 7-Zip (`7z i`); undefined lets 7-Zip detect the format and its position in the source,
 * and open an archive that is the only member of another (such as a file system on a virtual disk). `claim` receives the ranges of the archive in the source.
 * @throws LimitReached, or Unreadable at the end if a part could not be read; NotAnArchive if 7-Zip recognises nothing.
 */
export async function* sevenZipMembers(
  source: Source,
  format: string | undefined,
  context: ReadContext,
  claim: (start: number, end: number) => void = () => {},
): AsyncGenerator<Member> {
  const { unpacked, stopped, lines, said } = await unlockedRun(source, format, context);
  // The output written before a disk error is incomplete.
  if (isDiskError(stopped)) throw stopped;
  context.budget.announce(unpacked.length);
  for (const { name, size, chunks, path } of unpacked) {
    yield { name, read: () => ({ content: path ? { size, path } : { size, bytes: Buffer.concat(chunks.splice(0)) } }) };
  }
  for (const name of locked(lines))
    yield { name, closed: 'encrypted', read: () => ({ content: { size: 0, bytes: Buffer.alloc(0) } }) };
  if (stopped instanceof LimitReached) throw stopped;
  if (stopped !== undefined) throw new Unreadable('damaged');
  const complaints = complaintsOf(lines);
  const gravest = complaints.includes('damaged') && hasEncryptedHeader(source) ? 'encrypted' : complaints[0];
  const place = placeOf(said);
  if (place === undefined && lines.some((line) => NO_ARCHIVE.test(line)))
    throw gravest === 'damaged' ? new NotAnArchive() : new Unreadable(gravest ?? 'damaged');
  if (place !== undefined) await claimPlace(place, lines, source, context, claim);
  if (gravest !== undefined) throw new Unreadable(gravest);
}

/**
 * Claims the range of the archive. The end of a compressed stream is known only after unpacking, when 7-Zip only reports that data follows, so the parser mode
 * is used to find it.
 */
async function claimPlace(
  { start, end }: { start: number; end: number | undefined },
  lines: readonly string[],
  source: Source,
  context: ReadContext,
  claim: (start: number, end: number) => void,
): Promise<void> {
  if (end !== undefined) return claim(start, end);
  if (!lines.some((line) => FOLLOWED.test(line))) return claim(start, source.size);
  const pieces = await piecesOf(rangeOf(source, start, source.size - start), context);
  const first = pieces.find((piece) => piece.type !== undefined && piece.start === 0);
  if (first === undefined) throw new Unreadable('damaged');
  claim(start, start + first.end);
}
