import type { Budget } from '#scanner/reading/limits.ts';
import type { Member } from '#scanner/reading/member.ts';

// Files embedded in documents: OLE 1.0 objects (MS-OLEDS 2.2.5), and the Packager's form of a file (stream `\1Ole10Native`).

const OLE1 = { embedded: 2, name_maximum: 4096 } as const;

/** Reads a text after its length; undefined if it is longer than any valid one. */
function lengthText(bytes: Buffer, at: number): { text: string; after: number } | undefined {
  if (at + 4 > bytes.length) return undefined;
  const length = bytes.readUInt32LE(at);
  if (length > OLE1.name_maximum) return undefined;
  return { text: bytes.toString('latin1', at + 4, at + 4 + Math.max(0, length - 1)), after: at + 4 + length };
}

function memberOf(name: string, bytes: Buffer): Member {
  return { name, read: () => ({ content: { size: bytes.length, bytes } }) };
}

/** The data of an OLE 1.0 object and, for the Packager, the file in the data. */
export function* ole1Members(object: Buffer, budget: Budget): Generator<Member> {
  if (object.length < 12) return;
  const format = object.readUInt32LE(4);
  const name = lengthText(object, 8);
  const topic = name === undefined ? undefined : lengthText(object, name.after);
  const item = topic === undefined ? undefined : lengthText(object, topic.after);
  if (format !== OLE1.embedded || name === undefined || item === undefined || item.after + 4 > object.length) return;
  // If the stored length is wrong, the object extends to the end.
  const start = item.after + 4;
  const claimed = object.readUInt32LE(item.after);
  const bytes = object.subarray(start, claimed > 0 && start + claimed <= object.length ? start + claimed : object.length);
  budget.addUnpacked(bytes.length, bytes.length, bytes.length);
  if (bytes.length > 0) yield memberOf(name.text || 'object', bytes);
  if (/^package/i.test(name.text)) yield* packageMembers(bytes, budget);
}

/** Reads a zero-terminated text as Latin-1; its code page is unknown. */
function zeroText(bytes: Buffer, at: number): { text: string; after: number } | undefined {
  const end = bytes.indexOf(0, at);
  return at < 0 || end < 0 || end - at > OLE1.name_maximum
    ? undefined
    : { text: bytes.toString('latin1', at, end), after: end + 1 };
}

/** Finds the file in a stream of the Packager. The name, the source path, two numbers, the temporary path and the length precede it. */
function packageRange(head: Buffer, size: number): { name: string; start: number; end: number } | undefined {
  // In an OLE 1.0 object the data begins at once, in a stream after its length.
  for (const start of [0, 4]) {
    if (head.length < start + 8 || head.readUInt16LE(start) !== 2) continue;
    const label = zeroText(head, start + 2);
    const path = label === undefined ? undefined : zeroText(head, label.after);
    if (label === undefined || path === undefined || path.after + 8 > head.length) continue;
    const target_bytes = head.readUInt32LE(path.after + 4);
    const at = path.after + 8 + target_bytes;
    if (target_bytes > OLE1.name_maximum || at + 4 > head.length) continue;
    const end = Math.min(size, at + 4 + head.readUInt32LE(at));
    if (end > at + 4) return { name: label.text.split(/[\\/]/).at(-1) || 'file', start: at + 4, end };
  }
  return undefined;
}

/** The file in a stream of the Packager. */
function* packageMembers(data: Buffer, budget: Budget): Generator<Member> {
  const file = packageRange(data, data.length);
  if (file === undefined) return;
  budget.addUnpacked(file.end - file.start, file.end - file.start, file.end - file.start);
  yield memberOf(file.name, data.subarray(file.start, file.end));
}

/** The range of the content in a native stream of `size` bytes. `head` holds its first bytes. */
export function nativeRange(head: Buffer, size: number): { name: string; start: number; end: number } {
  return packageRange(head, size) ?? { name: 'native data', start: 4, end: size };
}

/** The content of a native stream: a file of the Packager, or the data of another program after its length. */
export function* nativeMembers(stream: Buffer, budget: Budget): Generator<Member> {
  let has_file = false;
  for (const member of packageMembers(stream, budget)) {
    has_file = true;
    yield member;
  }
  if (has_file || stream.length <= 4) return;
  budget.addUnpacked(stream.length, stream.length, stream.length);
  yield memberOf('native data', stream.subarray(4));
}
