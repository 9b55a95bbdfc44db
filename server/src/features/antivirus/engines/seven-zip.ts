import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { StatusDetail } from '@palisade/contract/antivirus';
import sevenZip from '7z-wasm';
import { z } from 'zod';
import { isDiskError, MEMORY_BYTES_MAXIMUM, type Source } from './content.ts';
import { LimitReached } from './limits.ts';
import { type Member, Unreadable, type Workshop } from './member.ts';

// 7-Zip as WebAssembly opens what has no library of its own here. It runs in one call that cannot be paused, so it unpacks into a file system of ours:
// every byte that it reads or writes passes through here and is counted, and a limit ends the call. It sees no disk and no other file.

/** What of Emscripten's file system is used; 7z-wasm's own types leave this part out. */
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

/** LZMA's dictionary must fit: 256 MB is what `7z -mx=9` takes at most. A page is 64 KiB. */
const MEMORY_PAGES_MAXIMUM = (384 * 1024 ** 2) / 65_536;
const INPUT = '/input';
const OUTPUT = '/out';
const LINES_MAXIMUM = 100;
/** What it costs that 7-Zip asks for bytes, however few. */
const CALL_COST = 64;

let compiled: Promise<WebAssembly.Module> | undefined;

function compileOnce(): Promise<WebAssembly.Module> {
  const folder = dirname(createRequire(import.meta.url).resolve('7z-wasm'));
  compiled ??= WebAssembly.compile(readFileSync(join(folder, '7zz.wasm')));
  return compiled;
}

async function startProgram(say: (line: string) => void): Promise<Program> {
  const module = await compileOnce();
  return await createProgram({
    print: () => {},
    printErr: say,
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

/** A member while 7-Zip writes it: in memory, or in a file when it, or all of them together, are too big for that. */
interface Unpacked {
  name: string;
  size: number;
  chunks: Buffer[];
  path: string | undefined;
}

/** One call may write less than it was given. */
function writeWhole(handle: number, bytes: Uint8Array, position: number): void {
  for (let written = 0; written < bytes.length; )
    written += writeSync(handle, bytes, written, bytes.length - written, position + written);
}

/** What 7-Zip's lines on stderr say of the archive as a whole, or of the member that they name. */
const COMPLAINTS: readonly { says: RegExp; detail: StatusDetail }[] = [
  { says: /wrong password|encrypted/i, detail: 'encrypted' },
  { says: /unsupported (method|feature)|not implemented|missing volume/i, detail: 'unsupported' },
  { says: /allocate|memory/i, detail: 'too_large' },
  { says: /error|unexpected|cannot open|crc failed|is not archive|headers/i, detail: 'damaged' },
];

function complaintsOf(lines: readonly string[]): StatusDetail[] {
  const details = lines.flatMap((line) => COMPLAINTS.find(({ says }) => says.test(line))?.detail ?? []);
  return [...new Set(details)];
}

/** The members that 7-Zip could not open without their password: `ERROR: Wrong password : name`. */
function locked(lines: readonly string[]): string[] {
  return lines.flatMap((line) => (/wrong password/i.test(line) ? (/ : (.*)$/.exec(line)?.[1] ?? []) : []));
}

/** AES in the header of a 7z archive: even its names are encrypted (7zFormat.txt: the method id 06F10701). */
function hasEncryptedHeader(source: Source): boolean {
  const head = source.read(0, 32);
  if (head.length < 32 || head.readUInt32BE(0) !== 0x377abcaf) return false;
  const position = Number(head.readBigUInt64LE(12)) + 32;
  return position < source.size && source.read(position, 4096).includes(Buffer.from('06f10701', 'hex'));
}

async function unpack(
  source: Source,
  format: string | undefined,
  { budget, path, password }: Workshop,
): Promise<{ unpacked: Unpacked[]; stopped: unknown; lines: string[] }> {
  const lines: string[] = [];
  const { FS, callMain } = await startProgram((line) => {
    if (lines.length < LINES_MAXIMUM) lines.push(line);
  });
  const unpacked = new Map<Node, Unpacked>();
  let in_memory = 0;
  /** The file that is being written; one at a time, because an archive may have more files than a process may open. */
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
  // A limit is thrown through 7-Zip, which may take it for an error of the disk; what comes first is what counts.
  const guarded = <T>(work: () => T): T => {
    if (stopped !== undefined) throw stopped;
    try {
      return work();
    } catch (error) {
      stopped = error;
      throw error;
    }
  };

  // Sizes come from the archive and are not believed: nothing is set aside for them.
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
    // Without a password 7-Zip would ask for one.
    const words = ['x', '-y', '-aou', `-p${password ?? 'none'}`, '-bd', '-bsp0', '-bso0', `-o${OUTPUT}`];
    callMain([...words, ...(format === undefined ? [] : [`-t${format}`]), INPUT]);
  } catch (error) {
    // What 7-Zip throws itself (a number: a C++ exception) says no more than that it failed.
    if (stopped === undefined && lines.length === 0) lines.push(`error ${String(error)}`);
  } finally {
    if (open !== undefined) closeSync(open.handle);
  }
  return { unpacked: [...unpacked.values()], stopped, lines };
}

/**
 * The members of an archive that 7-Zip opens; `format` is its name there (`7z i`), undefined to let it find out.
 * @throws LimitReached, or Unreadable at the end when something could not be read.
 */
export async function* sevenZipMembers(source: Source, format: string | undefined, workshop: Workshop): AsyncGenerator<Member> {
  const { unpacked, stopped, lines } = await unpack(source, format, workshop);
  // What was written before is not all there.
  if (isDiskError(stopped)) throw stopped;
  workshop.budget.announce(unpacked.length);
  for (const { name, size, chunks, path } of unpacked) {
    yield { name, read: () => ({ content: path ? { size, path } : { size, bytes: Buffer.concat(chunks.splice(0)) } }) };
  }
  for (const name of locked(lines))
    yield { name, closed: 'encrypted', read: () => ({ content: { size: 0, bytes: Buffer.alloc(0) } }) };
  if (stopped instanceof LimitReached) throw stopped;
  if (stopped !== undefined) throw new Unreadable('damaged');
  const complaints = complaintsOf(lines);
  const gravest = complaints.includes('damaged') && hasEncryptedHeader(source) ? 'encrypted' : complaints[0];
  if (gravest !== undefined) throw new Unreadable(gravest);
}
