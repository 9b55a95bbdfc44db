import { createPublicKey, verify } from 'node:crypto';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { containerOf, HEAD_BYTES, membersOf } from './containers.ts';
import { type Content, disposeContent, openSource, takeContent } from './content.ts';
import { digestOf } from './digest.ts';
import { BadHashList, buildHashList, openHashList } from './hash-list.ts';
import { Budget, LimitReached, type ScanLimits } from './limits.ts';
import { type Member, Unreadable, type Workshop } from './member.ts';
import { compileSource, countRules } from './rules.ts';
import type { PreparedFeed, RawFeed } from './trial-messages.ts';

/** A feed that is not taken. The message is one sentence for an administrator. */
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
const RULE_FILE = /\.yara?$/i;
const NAMED_MAXIMUM = 3;
const NAME_CHARACTERS_MAXIMUM = 80;
const SIGNATURE_BYTES = 64;
/** RFC 8410: what comes before the 32 bytes of an Ed25519 key in its SubjectPublicKeyInfo. */
const ED25519_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/** @throws BadFeed when the bytes are not what the pin says. */
async function requirePin({ path, pin, signature }: RawFeed): Promise<void> {
  if (pin.kind === 'sha256') {
    const digest = await digestOf(path);
    if (digest !== pin.hex) throw new BadFeed(`Its checksum is not the pinned one (it is ${digest}).`);
    return;
  }
  // Makers send the 64 bytes themselves, or their base64.
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

/** A name out of an archive, for a sentence: never a path. */
function shownName(name: string): string {
  return (name.split(/[/\\]/).at(-1) ?? '').replaceAll(/[^\w.+-]/g, '?').slice(0, NAME_CHARACTERS_MAXIMUM);
}

async function takeMember(member: Member, workshop: Workshop): Promise<Content> {
  if (member.closed !== undefined) throw new BadFeed(`Its file ${shownName(member.name)} cannot be read (${member.closed}).`);
  const body = await member.read();
  if ('content' in body) {
    if (body.damage !== undefined) throw new Unreadable(body.damage);
    return body.content;
  }
  let bytes_so_far = 0;
  const { content, failure } = await takeContent(body.stream, workshop.path, (bytes) => {
    bytes_so_far += bytes;
    workshop.budget.addUnpacked(bytes, bytes_so_far, body.packed_bytes);
  });
  if (failure !== undefined) {
    await disposeContent(content);
    throw failure;
  }
  return content;
}

function bytesOf(content: Content): Buffer {
  const source = openSource(content);
  try {
    return Buffer.from(source.read(0, content.size));
  } finally {
    source.close();
  }
}

/** The rule files of an archive: zip, tar, or a gzip of one. Their names serve for order and for sentences alone. */
async function* ruleFiles(content: Content, depth: number, workshop: Workshop): AsyncGenerator<{ name: string; text: string }> {
  const container = containerOf(bytesOf({ ...content, size: Math.min(content.size, HEAD_BYTES) }));
  const kind = container?.kind;
  if (container === undefined || (kind !== 'zip' && kind !== 'tar' && (kind !== 'gzip' || depth > 0))) {
    throw new BadFeed('It is neither a zip nor a tar archive (tar.gz).');
  }
  for await (const member of membersOf(container, content, 'feed', workshop)) {
    workshop.budget.addMember();
    if (kind !== 'gzip' && !RULE_FILE.test(member.name)) continue;
    const taken = await takeMember(member, workshop);
    try {
      if (kind === 'gzip') yield* ruleFiles(taken, depth + 1, workshop);
      else yield { name: member.name, text: bytesOf(taken).toString('utf8') };
    } finally {
      await disposeContent(taken);
    }
  }
}

/** The first line of a compiler's error. */
function errorOf(source: string): string | undefined {
  try {
    compileSource(source);
    return undefined;
  } catch (error) {
    return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';
  }
}

/** All rules of an archive as one source. @throws BadFeed, with the names of files that do not compile. */
async function readRules(path: string, workshop: Workshop): Promise<string> {
  const { size } = await stat(path);
  const files: { name: string; text: string }[] = [];
  try {
    for await (const file of ruleFiles({ path, size }, 0, workshop)) files.push(file);
  } catch (error) {
    if (error instanceof BadFeed || error instanceof LimitReached || error instanceof Unreadable) throw error;
    throw new Unreadable('damaged');
  }
  files.sort((one, other) => (one.name < other.name ? -1 : 1));
  const source = files.map(({ text }) => text).join('\n');
  if (countRules(source) === 0) throw new BadFeed('It holds no YARA rule.');
  const error = errorOf(source);
  if (error === undefined) return source;
  const bad = files.flatMap(({ name, text }) => {
    const reason = errorOf(text);
    return reason === undefined ? [] : [`${shownName(name)}: ${reason}`];
  });
  const shown = bad.slice(0, NAMED_MAXIMUM).join('; ');
  const more = bad.length > NAMED_MAXIMUM ? `; and ${bad.length - NAMED_MAXIMUM} more` : '';
  throw new BadFeed(`Its rules do not compile (${bad.length === 0 ? error : shown + more}).`);
}

/**
 * Proves a download by its pin, and only then reads it: makes the one file that an engine uses.
 * @throws BadFeed
 */
export async function prepareFeed(feed: RawFeed): Promise<PreparedFeed> {
  const { id, kind, path, target } = feed;
  await requirePin(feed);
  let rules = 0;
  let hashes = 0;
  let files = 0;
  const folder_of_members = `${target}.members`;
  try {
    if (kind === 'sha256') {
      await buildHashList(path, target);
      const list = openHashList(target);
      hashes = list.count;
      list.close();
    } else {
      const { size } = await stat(path);
      const workshop: Workshop = {
        budget: new Budget(UNPACK_LIMITS, size),
        path() {
          files += 1;
          return `${folder_of_members}-${files}`;
        },
        explain: () => {},
      };
      const source = await readRules(path, workshop);
      rules = countRules(source);
      await writeFile(target, source, { flag: 'wx', mode: 0o600 });
    }
  } catch (error) {
    if (error instanceof BadHashList) throw new BadFeed(error.message);
    if (error instanceof LimitReached) throw new BadFeed(`It unpacks to more than is taken (${error.detail}).`);
    if (error instanceof Unreadable) throw new BadFeed(`It cannot be unpacked (${error.detail}).`);
    throw error;
  } finally {
    for (; files > 0; files--) await rm(`${folder_of_members}-${files}`, { force: true });
  }
  return { id, kind, path: target, digest: await digestOf(target), rules, hashes };
}
