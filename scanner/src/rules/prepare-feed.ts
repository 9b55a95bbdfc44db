import { createPublicKey, verify } from 'node:crypto';
import { open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { formatNumber, plural } from '@palisade/contract/intl';
import { HEAD_BYTES } from '#scanner/formats/format.ts';
import { containerOf, membersOf } from '#scanner/formats/recognition.ts';
import { type Content, disposeContent, openSource, takeContent } from '#scanner/reading/content.ts';
import { Budget, LimitReached, type ScanLimits } from '#scanner/reading/limits.ts';
import { type Member, type ReadContext, Unreadable } from '#scanner/reading/member.ts';
import { digestOf } from './digest.ts';
import { writeDomainSums } from './domain-list.ts';
import { BadHashList, buildHashList, openHashList } from './hash-list.ts';
import { type LeftOut, leftOut, shownName } from './left-out.ts';
import { countRules } from './rules.ts';
import { type Sifted, siftFiles } from './sift-rules.ts';
import type { PreparedFeed, RawFeed } from './trial-messages.ts';

/** A feed is refused. The message is one sentence for an administrator. */
export class BadFeed extends Error {
  override name = 'BadFeed';
}

/** Rules are text: the largest public sets unpack to some 30 MB. Bytes and ms. */
const UNPACK_LIMITS: ScanLimits = {
  depth: 2,
  members: 20_000,
  unpacked_bytes: 128 * 1024 ** 2,
  ratio: 250,
  ratio_floor_bytes: 4 * 1024 ** 2,
  time_ms: 60_000,
};
/** The complete MalwareBazaar list is some 300 MB of CSV. */
const LIST_LIMITS: ScanLimits = { ...UNPACK_LIMITS, unpacked_bytes: 1024 ** 3, members: 100, time_ms: 120_000 };
const COPIED_BYTES = 1024 ** 2;
const RULE_FILE = /\.yara?$/i;
const NAMED_MAXIMUM = 3;
const SIGNATURE_BYTES = 64;
/** RFC 8410: the bytes before the 32 of an Ed25519 key in its SubjectPublicKeyInfo. */
const ED25519_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/** @throws BadFeed when the bytes do not match the pin. */
async function requirePin({ path, pin, signature }: RawFeed): Promise<void> {
  // The download over TLS is all that this pin requires.
  if (pin.kind === 'tls') return;
  if (pin.kind === 'sha256') {
    const digest = await digestOf(path);
    if (digest !== pin.hex) throw new BadFeed(`Its checksum is not the pinned one (it is ${digest}).`);
    return;
  }
  // Publishers send the 64 raw bytes, or their base64.
  const sent = Buffer.from(signature ?? '', 'base64');
  const raw = sent.length === SIGNATURE_BYTES ? sent : Buffer.from(sent.toString('latin1'), 'base64');
  const key = createPublicKey({
    key: Buffer.concat([ED25519_PREFIX, Buffer.from(pin.key, 'base64')]),
    format: 'der',
    type: 'spki',
  });
  if (raw.length !== SIGNATURE_BYTES || !verify(null, await readFile(path), key, raw)) {
    throw new BadFeed('Its signature is not one of the pinned key.');
  }
}

async function takeMember(member: Member, context: ReadContext): Promise<Content> {
  if (member.closed !== undefined) throw new BadFeed(`Its file ${shownName(member.name)} cannot be read (${member.closed}).`);
  const body = await member.read();
  if ('content' in body) {
    if (body.damage !== undefined) throw new Unreadable(body.damage);
    return body.content;
  }
  let bytes_so_far = 0;
  const { content, failure } = await takeContent(body.stream, context.path, (bytes) => {
    bytes_so_far += bytes;
    context.budget.addUnpacked(bytes, bytes_so_far, body.packed_bytes);
  });
  if (failure !== undefined) {
    await disposeContent(content);
    throw failure;
  }
  return content;
}

function bytesOf(content: Content): Buffer {
  using source = openSource(content);
  return Buffer.from(source.read(0, content.size));
}

/** The rule files of an archive: zip, tar, or a gzip of one. Their names are used only for sorting and in messages. */
async function* ruleFiles(content: Content, depth: number, context: ReadContext): AsyncGenerator<{ name: string; text: string }> {
  const container = containerOf(bytesOf({ ...content, size: Math.min(content.size, HEAD_BYTES) }), context.budget);
  const kind = container?.format.id;
  if (container === undefined || (kind !== 'zip' && kind !== 'tar' && (kind !== 'gzip' || depth > 0))) {
    throw new BadFeed('It is neither a zip nor a tar archive (tar.gz).');
  }
  for await (const member of membersOf(container, content, 'feed', context)) {
    context.budget.addMember();
    if (kind !== 'gzip' && !RULE_FILE.test(member.name)) continue;
    const taken = await takeMember(member, context);
    try {
      if (kind === 'gzip') yield* ruleFiles(taken, depth + 1, context);
      else yield { name: member.name, text: bytesOf(taken).toString('utf8') };
    } finally {
      await disposeContent(taken);
    }
  }
}

/** A sentence about rules that do not compile. */
function sentenceOf(left_out: readonly LeftOut[]): string {
  const shown = left_out.slice(0, NAMED_MAXIMUM).map(({ name, detail }) => `${name}: ${detail}`);
  const more = left_out.length > NAMED_MAXIMUM ? `; and ${left_out.length - NAMED_MAXIMUM} more` : '';
  return `${shown.join('; ')}${more}`;
}

/** The rules of an archive that can be used together. @throws BadFeed when there are none, or with `strict` when some cannot be used. */
async function readRules(path: string, strict: boolean, context: ReadContext): Promise<Sifted> {
  const { size } = await stat(path);
  const files: { name: string; text: string }[] = [];
  try {
    for await (const file of ruleFiles({ path, size }, 0, context)) files.push(file);
  } catch (error) {
    if (error instanceof BadFeed || error instanceof LimitReached || error instanceof Unreadable) throw error;
    throw new Unreadable('damaged');
  }
  files.sort((one, other) => (one.name < other.name ? -1 : 1));
  if (files.every(({ text }) => countRules(text) === 0)) throw new BadFeed('It holds no YARA rule.');
  const sifted = siftFiles(files);
  const is_empty = countRules(sifted.source) === 0;
  if (sifted.left_out.length > 0 && (strict || is_empty))
    throw new BadFeed(`Its rules do not compile (${sentenceOf(sifted.left_out)}).`);
  return sifted;
}

/** Unpacks a list from a zip or gzip file to `target`, one member after the other. False if the list is not packed. */
async function unpackList(path: string, target: string, context: ReadContext): Promise<boolean> {
  const { size } = await stat(path);
  const container = containerOf(bytesOf({ path, size: Math.min(size, HEAD_BYTES) }), context.budget);
  if (container?.format.id !== 'zip' && container?.format.id !== 'gzip') return false;
  const file = await open(target, 'wx', 0o600);
  try {
    for await (const member of membersOf(container, { path, size }, 'feed', context)) {
      context.budget.addMember();
      const taken = await takeMember(member, context);
      const source = openSource(taken);
      try {
        for (let at = 0; at < taken.size; at += COPIED_BYTES) {
          await file.writeFile(source.read(at, Math.min(COPIED_BYTES, taken.size - at)));
        }
        await file.writeFile('\n');
      } finally {
        source.close();
        await disposeContent(taken);
      }
    }
  } catch (error) {
    if (error instanceof BadFeed || error instanceof LimitReached || error instanceof Unreadable) throw error;
    throw new Unreadable('damaged');
  } finally {
    await file.close();
  }
  return true;
}

/** Writes a list to `target`; entries for harmless content are left out. */
async function prepareList(feed: RawFeed, except: ReadonlySet<string>, context: ReadContext): Promise<LeftOut[]> {
  const { kind, path, target, strict } = feed;
  const unpacked = `${target}.list`;
  const sums_of_names = `${target}.sums`;
  const noEntry = (lines: number, detail: string) =>
    lines > 0 ? [leftOut(plural(lines, { one: '1 line', other: `${formatNumber(lines)} lines` }), 'no_entry', detail)] : [];
  try {
    const source = (await unpackList(path, unpacked, context)) ? unpacked : path;
    if (kind === 'domains') {
      const { lines } = await writeDomainSums(source, sums_of_names, strict);
      await buildHashList(sums_of_names, target, { strict, except });
      return noEntry(lines, 'There is no domain or address.');
    }
    const { lines, sums } = await buildHashList(source, target, { strict, except });
    return [
      ...sums.map((sum) => leftOut(sum, 'would_alarm', 'It is the checksum of a harmless file.')),
      ...noEntry(lines, 'There is no SHA-256 in hex.'),
    ];
  } finally {
    await rm(unpacked, { force: true });
    await rm(sums_of_names, { force: true });
  }
}

/**
 * Verifies a download against its pin, and only then parses it and writes the file that an engine uses. `except` holds checksums of harmless content.
 * @throws BadFeed
 */
export async function prepareFeed(feed: RawFeed, except: ReadonlySet<string>): Promise<PreparedFeed> {
  const { id, kind, path, target } = feed;
  let left_out: LeftOut[] = [];
  await requirePin(feed);
  let rules = 0;
  let hashes = 0;
  let files = 0;
  const folder_of_members = `${target}.members`;
  try {
    const { size } = await stat(path);
    const context: ReadContext = {
      budget: new Budget(kind === 'yara' ? UNPACK_LIMITS : LIST_LIMITS, size),
      path() {
        files += 1;
        return `${folder_of_members}-${files}`;
      },
      claim: () => {},
      note: () => {},
    };
    if (kind !== 'yara') {
      left_out = await prepareList(feed, except, context);
      const list = openHashList(target);
      hashes = list.count;
      list.close();
    } else {
      const sifted = await readRules(path, feed.strict, context);
      left_out = sifted.left_out;
      rules = countRules(sifted.source);
      await writeFile(target, sifted.source, { flag: 'wx', mode: 0o600 });
    }
  } catch (error) {
    if (error instanceof BadHashList) throw new BadFeed(error.message);
    if (error instanceof LimitReached) throw new BadFeed(`It unpacks to more than is taken (${error.detail}).`);
    if (error instanceof Unreadable) throw new BadFeed(`It cannot be unpacked (${error.detail}).`);
    throw error;
  } finally {
    for (; files > 0; files--) await rm(`${folder_of_members}-${files}`, { force: true });
  }
  return { id, kind, path: target, digest: await digestOf(target), rules, hashes, left_out };
}
