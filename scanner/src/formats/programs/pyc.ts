import { guess } from '#scanner/decompression/decompress.ts';
import { format, withBits } from '#scanner/formats/format.ts';
import { type Content, openSource } from '#scanner/reading/content.ts';
import { JoinedPieces } from '#scanner/reading/joined-pieces.ts';
import { type Member, type ReadContext, Unreadable } from '#scanner/reading/member.ts';
import { LOOK_BYTES, textFormOf } from '#scanner/text/text-encoding.ts';

// Compiled Python: a header, and one marshalled object (Python/marshal.c). Compressed data of a script is a constant without a magic of its own.

/** Maximum size of a file. Bytes. */
const BYTES_MAXIMUM = 16 * 1024 ** 2;
/** Minimum size of a constant; shorter ones contain nothing that rules look for. Bytes. */
const LEAST = 33;
/** Maximum number of constants that are separate members; the others are joined. */
const MEMBERS_MAXIMUM = 1000;
const NEWLINE = Buffer.from('\n');
const CODE = 0x63;
/** Minimum size of a marshalled code object. Bytes. */
const CODE_LEAST = 60;
/** Type flag: later objects may refer to this object. */
const FLAG_REFERENCE = 0x80;

/** Layout of a version: the header size in bytes; in a code object, the counts of numbers, of objects before the first line number, and of tables after it. */
interface Version {
  head: number;
  numbers: number;
  objects: number;
  tables: number;
}

/** Magic numbers of releases and their previews (Lib/importlib/_bootstrap_external.py). */
const VERSIONS: readonly { from: number; to: number; version: Version }[] = [
  // 2.3 to 2.7.
  { from: 62_011, to: 62_219, version: { head: 8, numbers: 4, objects: 8, tables: 1 } },
  // 3.11 to 3.15.
  { from: 3450, to: 3700, version: { head: 16, numbers: 5, objects: 8, tables: 2 } },
  // 3.8 to 3.10.
  { from: 3400, to: 3449, version: { head: 16, numbers: 6, objects: 8, tables: 1 } },
  // 3.7.
  { from: 3390, to: 3399, version: { head: 16, numbers: 5, objects: 8, tables: 1 } },
  // 3.3 to 3.6.
  { from: 3190, to: 3389, version: { head: 12, numbers: 5, objects: 8, tables: 1 } },
  // 3.0 to 3.2.
  { from: 3000, to: 3189, version: { head: 8, numbers: 5, objects: 8, tables: 1 } },
];

function versionOf(head: Buffer): Version | undefined {
  if (head.length < 20 || head.readUInt16LE(2) !== 0x0a0d) return undefined;
  const magic = head.readUInt16LE(0);
  const version = VERSIONS.find(({ from, to }) => magic >= from && magic <= to)?.version;
  return version !== undefined && ((head[version.head] ?? 0) & ~FLAG_REFERENCE) === CODE ? version : undefined;
}

/** Whether a compiled Python script begins with these bytes. */
function isPyc(head: Buffer): boolean {
  return versionOf(head) !== undefined;
}

/** The next item to read. `own` is the bytecode and tables of a code object; `until` is a dictionary up to its end marker. */
type Step = { kind: 'objects'; left: number } | { kind: 'own'; left: number } | { kind: 'number' } | { kind: 'until' };

interface Constant {
  bytes: Buffer;
  is_text: boolean;
}

/** Marshal types with a length of four bytes, and with a length of one byte. */
const LONG_BYTES = 'stuaA';
const SHORT_BYTES = 'zZ';
const TEXT_TYPES = 'tuaAzZ';
const ALONE = 'NFTS.';
const FIXED: Readonly<Record<string, number>> = { i: 4, I: 8, g: 8, y: 16, r: 4, R: 4 };
const LISTS = '([<>';
const STEPS_MAXIMUM = 4000;

/** Walks the marshalled object at `at` and yields its constants. Returns its end. Each byte is read once. */
function* walk(bytes: Buffer, at: number, version: Version): Generator<Constant, number> {
  const steps: Step[] = [{ kind: 'objects', left: 1 }];
  let next = at;
  const take = (count: number): number => {
    const from = next;
    next += count;
    if (count < 0 || next > bytes.length) throw new Unreadable('damaged');
    return from;
  };
  for (let step = steps.at(-1); step !== undefined; step = steps.at(-1)) {
    if (steps.length > STEPS_MAXIMUM) throw new Unreadable('damaged');
    if (step.kind === 'number') {
      take(4);
      steps.pop();
      continue;
    }
    const is_own = step.kind === 'own';
    if (step.kind === 'until') {
      if (bytes[next] === 0x30) {
        take(1);
        steps.pop();
        continue;
      }
    } else {
      if (step.left === 0) {
        steps.pop();
        continue;
      }
      step.left -= 1;
    }
    const type = String.fromCharCode((bytes[take(1)] ?? 0) & ~FLAG_REFERENCE);
    if (ALONE.includes(type)) continue;
    const fixed = FIXED[type];
    if (fixed !== undefined) take(fixed);
    else if (LONG_BYTES.includes(type) || SHORT_BYTES.includes(type)) {
      const length = LONG_BYTES.includes(type) ? bytes.readUInt32LE(take(4)) : (bytes[take(1)] ?? 0);
      const from = take(length);
      if (!is_own && length >= LEAST) yield { bytes: bytes.subarray(from, next), is_text: TEXT_TYPES.includes(type) };
    } else if (type === 'l') take(2 * Math.abs(bytes.readInt32LE(take(4))));
    else if (type === 'f') take(bytes[take(1)] ?? 0);
    else if (type === 'x') for (let part = 0; part < 2; part += 1) take(bytes[take(1)] ?? 0);
    else if (LISTS.includes(type)) steps.push({ kind: 'objects', left: bytes.readUInt32LE(take(4)) });
    else if (type === ')') steps.push({ kind: 'objects', left: bytes[take(1)] ?? 0 });
    else if (type === ':') steps.push({ kind: 'objects', left: 3 });
    else if (type === '{') steps.push({ kind: 'until' });
    else if (type === 'c') {
      take(4 * version.numbers);
      steps.push(
        { kind: 'own', left: version.tables },
        { kind: 'number' },
        { kind: 'objects', left: version.objects - 1 },
        { kind: 'own', left: 1 },
      );
    } else throw new Unreadable('damaged');
  }
  return next;
}

function isCode(bytes: Buffer): boolean {
  return (
    ((bytes[0] ?? 0) & ~FLAG_REFERENCE) === CODE &&
    bytes.length > CODE_LEAST &&
    bytes[bytes.length - 1] !== undefined &&
    bytes.readUInt16LE(3) === 0
  );
}

/** Inflates raw deflate data; undefined unless the data uses all bytes. */
function rawInflated(bytes: Buffer, budget: ReadContext['budget']): Buffer | undefined {
  const answer = guess('deflate', bytes, budget, { most: Math.min(BYTES_MAXIMUM, budget.memberMaximum(bytes.length)) });
  return answer.kind === 'whole' && answer.read === bytes.length && answer.plain.length >= LEAST ? answer.plain : undefined;
}

/**
 * The constants of a compiled script: files, text, code objects and compressed data as separate members, and all strings joined. @throws Unreadable `damaged`
 * if the object is invalid, `too_large` if the file is too long.
 */
async function* pycMembers(
  content: Content,
  { budget, claim }: ReadContext,
  isFile: (bytes: Buffer) => boolean,
): AsyncGenerator<Member> {
  if (content.size > BYTES_MAXIMUM) throw new Unreadable('too_large');
  const source = openSource(content);
  const bytes = source.read(0, content.size);
  source.close();
  const version = versionOf(bytes);
  if (version === undefined) throw new Unreadable('damaged');
  budget.spend(bytes.length);
  const texts = new JoinedPieces(NEWLINE);
  const others = new JoinedPieces();
  const member = (name: string, whole: Buffer): Member => {
    budget.addUnpacked(whole.length, whole.length, bytes.length);
    return { name, read: () => ({ content: { size: whole.length, bytes: whole } }) };
  };
  const unpacks = bytes.includes('decompress');
  let members = 0;
  let end = 0;
  let failure: Unreadable | undefined;
  try {
    const constants = walk(bytes, version.head, version);
    let next = constants.next();
    for (; !next.done; next = constants.next()) {
      const constant = next.value;
      if (constant.is_text) texts.add(constant.bytes);
      else if (members < MEMBERS_MAXIMUM && isFile(constant.bytes)) {
        members += 1;
        yield member(`constant ${members}`, constant.bytes);
      } else if (members < MEMBERS_MAXIMUM && isCode(constant.bytes)) {
        // A code object is given with the header of this file, as a compiled script of its own.
        members += 1;
        yield member(`constant ${members}`, Buffer.concat([bytes.subarray(0, version.head), constant.bytes]));
      } else if (members < MEMBERS_MAXIMUM && unpacks) {
        const plain = rawInflated(constant.bytes, budget);
        if (plain === undefined) others.add(constant.bytes);
        else {
          members += 1;
          yield member(`constant ${members}, unpacked`, plain);
        }
      } else others.add(constant.bytes);
    }
    end = next.value;
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    failure = error;
  }
  if (texts.length > 0) yield member('texts', texts.take());
  // The other constants are joined, because one may begin like text and continue as an archive.
  if (others.length > 0) yield member('other constants', others.take());
  claim(0, end);
  if (failure !== undefined) throw failure;
}

export const pyc = format({
  id: 'pyc',
  media_type: 'application/x-python-bytecode',
  recognise: withBits(32, isPyc),
  limits: null,
  open: (content, context) =>
    pycMembers(content, context, (bytes) => context.isFileHead(bytes) || textFormOf(bytes.subarray(0, LOOK_BYTES)) !== undefined),
});
