import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Coverage, StatusDetail } from '@palisade/contract/antivirus';
import type { ThreatFacts } from '@palisade/contract/quarantine';
import {
  type Container,
  containerOf,
  containersBehind,
  HEAD_BYTES,
  isFileHead,
  isNamedAfterFile,
  membersOf,
} from './containers.ts';
import { type Content, disposeContent, isDiskError, openSource, takeContent, windowsOf } from './content.ts';
import { Budget, LimitReached, type ScanLimits } from './limits.ts';
import { isLockingManifest } from './locked-office.ts';
import { mediaTypeOf } from './media-type.ts';
import { type Member, Unreadable, type Workshop } from './member.ts';
import { Ranges } from './ranges.ts';
import { openReader } from './reader.ts';
import { withoutMark } from './text-encoding.ts';
import { textViews } from './text-views.ts';

/** A rule that matched. `severity` orders threats: the worst names the file. */
export interface Match {
  rule: string;
  threat: string;
  description: string;
  severity: 'low' | 'medium' | 'high' | 'critical';
  /** A public page about it. */
  reference: string | null;
  /** `suspicious` is a note on the record, never a verdict. */
  verdict: 'infected' | 'suspicious';
}

/** What a set of signatures says of content. `matchHash` is absent where no list of hashes is in use: then nothing is hashed. */
export interface Matchers {
  match: (bytes: Buffer) => Match[];
  /** `sha256` in hex. */
  matchHash?: ((sha256: string) => Match[]) | undefined;
}

/** What one scan found, and what it could not read. An empty `unread` means that every byte of every member was read. */
export interface Examination {
  threat: string | null;
  threat_member: string | null;
  threat_facts: ThreatFacts | null;
  /** What the bytes of the upload are. */
  media_type: string | null;
  /** Names in it follow from the name of the upload: the same bytes under another name have others. */
  named_after_upload: boolean;
  /** `member` is the path inside the file, as hostile as `threat_member`; null for the file itself. */
  notes: { member: string | null; sentence: string }[];
  unread: StatusDetail[];
  coverage: Coverage;
}

/** How far a scan is: the share of the file itself that has been matched, from 0 to 1, and the members of all archives in it, as far as they are known. */
export interface Progress {
  share: number;
  members_read: number;
  members_found: number;
}

/** Whole-file conditions (`filesize`, `pe`) hold for content up to this size; larger content is matched in overlapping windows. Bytes. */
const WINDOWS = { whole: 64 * 1024 ** 2, window: 16 * 1024 ** 2, overlap: 256 * 1024 } as const;
const HASH_BYTES = 1024 ** 2;
const BOMB_BYTES_EXAMINED = 4 * 1024 ** 2;
const SEVERITIES = ['low', 'medium', 'high', 'critical'] as const;
const NOTES_MAXIMUM = 20;
/** An archive may give a file a name of 64 KB. What is shown of it is shorter, and keeps the extension at its end. */
const NAME_CHARACTERS = { first: 960, last: 64 } as const;

interface Walk extends Matchers {
  /** Called at each step, and there are many. */
  report: () => void;
  /** Of the file itself, from 0 to 1. */
  share: number;
  workshop: Workshop;
  /** The uploaded file's name: gzip names its one member after it. */
  name: string;
  /** Of the uploaded file, in hex, where it is known already. */
  sha256: string | undefined;
  found: Examination;
  worst: number;
}

function note(walk: Walk, member: string | null, sentence: string): void {
  const { notes } = walk.found;
  const is_known = notes.some((known) => known.member === member && known.sentence === sentence);
  if (notes.length < NOTES_MAXIMUM && !is_known) notes.push({ member, sentence });
}

function unread(walk: Walk, detail: StatusDetail): void {
  if (!walk.found.unread.includes(detail)) walk.found.unread.push(detail);
}

/** Read on its own: the windows for rules overlap. */
function sha256Of(walk: Walk, content: Content): string {
  const hash = createHash('sha256');
  const source = openSource(content);
  try {
    const buffer = Buffer.allocUnsafe(Math.min(content.size, HASH_BYTES));
    for (let position = 0; position < content.size; ) {
      walk.workshop.budget.checkTime();
      const filled = source.fill(buffer, position);
      if (filled === 0) throw new Error('The file became shorter while it was read.');
      hash.update(buffer.subarray(0, filled));
      position += filled;
    }
  } finally {
    source.close();
  }
  return hash.digest('hex');
}

/** What matches a content, window by window; its hash only where no rule knows it better. */
function* matchesOf(walk: Walk, content: Content, is_upload: boolean): Generator<Match[]> {
  let known = false;
  let matched = 0;
  for (const piece of windowsOf(content, WINDOWS)) {
    walk.workshop.budget.checkTime();
    if (is_upload) walk.share = Math.min(1, matched / content.size);
    matched += piece.length;
    walk.report();
    const matches = walk.match(matched === piece.length ? withoutMark(piece) : piece);
    known ||= matches.some(({ verdict }) => verdict === 'infected');
    yield matches;
  }
  if (walk.matchHash === undefined || known) return;
  yield walk.matchHash(is_upload && walk.sha256 !== undefined ? walk.sha256 : sha256Of(walk, content));
}

/** Keeps what matched: notes, and the worst threat. */
function matchPieces(walk: Walk, pieces: Iterable<Match[]>, trail: readonly string[]): void {
  for (const matches of pieces) {
    for (const found of matches) {
      const member = trail.length > 0 ? trail.join(' / ') : null;
      if (found.verdict === 'suspicious') {
        note(walk, member, found.description);
        continue;
      }
      const severity = SEVERITIES.indexOf(found.severity);
      if (severity > walk.worst) {
        walk.worst = severity;
        walk.found.threat = found.threat;
        walk.found.threat_member = member;
        walk.found.threat_facts = { description: found.description, severity: found.severity, reference: found.reference };
      }
    }
  }
}

function matchContent(walk: Walk, content: Content, trail: readonly string[], is_view: boolean): void {
  if (content.size > WINDOWS.whole) walk.found.coverage.whole_file_conditions = false;
  matchPieces(walk, matchesOf(walk, content, trail.length === 0 && !is_view), trail);
  if (is_view) return;
  walk.found.coverage.bytes_scanned += content.size;
  if (trail.length === 0) walk.share = 1;
}

/** What a member holds, unpacked and counted, with what went wrong on the way: what came before is good. */
async function contentOf(walk: Walk, member: Member): Promise<{ content: Content; damage: unknown }> {
  const body = await member.read();
  if ('content' in body) {
    return { content: body.content, damage: body.damage === undefined ? undefined : new Unreadable(body.damage) };
  }
  let member_bytes = 0;
  const { content, failure } = await takeContent(body.stream, walk.workshop.path, (bytes) => {
    member_bytes += bytes;
    walk.workshop.budget.addUnpacked(bytes, member_bytes, body.packed_bytes);
  });
  return { content, damage: failure };
}

async function examineMember(walk: Walk, member: Member, depth: number, trail: readonly string[]): Promise<void> {
  walk.found.coverage.members_total += 1;
  walk.workshop.budget.addMember();
  walk.report();
  if (member.closed === 'encrypted') walk.found.coverage.encrypted += 1;
  if (member.closed !== undefined) return unread(walk, member.closed);

  const { content, damage } = await contentOf(walk, member);
  // Of a bomb only the beginning is examined: the rest is its filling, and reading it is the harm it does.
  if (damage instanceof LimitReached && damage.detail === 'bomb') content.size = Math.min(content.size, BOMB_BYTES_EXAMINED);
  try {
    // What was unpacked before a failure or a limit is examined all the same: a hit in what was read wins.
    if (member.view) matchContent(walk, content, trail, false);
    else await examineContent(walk, content, depth, trail);
    if ('bytes' in content && isLockingManifest(member.name, content.bytes)) {
      walk.found.coverage.encrypted += 1;
      unread(walk, 'encrypted');
    }
  } finally {
    await disposeContent(content);
  }
  if (damage instanceof LimitReached) throw damage;
  if (damage !== undefined) {
    const detail = damage instanceof Unreadable ? damage.detail : 'damaged';
    // The password was not the right one for it.
    if (detail === 'encrypted') walk.found.coverage.encrypted += 1;
    return unread(walk, detail);
  }
  walk.found.coverage.members_scanned += 1;
}

/** The containers that a content is, or holds behind something else. */
function containersOf(walk: Walk, content: Content): Container[] {
  const reader = openReader(content, walk.workshop.budget);
  try {
    const head = reader.at(0, HEAD_BYTES);
    const container = containerOf(head);
    // The first content of a walk is the upload itself.
    walk.found.media_type ??= mediaTypeOf(head, container);
    const behind = containersBehind(reader, head, container);
    return container === undefined ? behind : [container, ...behind];
  } finally {
    reader.close();
  }
}

/** Containers that are texts, too. What is in any other kind is no text that a program reads. */
const TEXTS: readonly Container['kind'][] = ['uuencode', 'mail', 'mailbox', 'rtf'];

/** What the rules see of a text that does not stand in its bytes as it is, and what is written in it as letters. */
async function examineViews(
  walk: Walk,
  content: Content,
  containers: readonly Container[],
  depth: number,
  trail: readonly string[],
): Promise<void> {
  if (containers.some(({ kind }) => !TEXTS.includes(kind))) return;
  const is_taken = containers.some(({ kind }) => kind === 'mail' || kind === 'mailbox');
  for await (const view of textViews(content, walk.workshop, { is_taken, isFile: isFileHead })) {
    if (!walk.workshop.budget.mayDescend(depth)) return unread(walk, 'depth');
    if (view.kind === 'member') await examineMember(walk, view.member, depth + 1, [...trail, view.member.name]);
    if (view.kind === 'view') matchPieces(walk, [walk.match(view.bytes)], trail);
    if (view.kind !== 'text') continue;
    try {
      await examineContent(walk, view.content, depth + 1, trail, true);
    } finally {
      await disposeContent(view.content);
    }
    if (view.failure instanceof LimitReached) throw view.failure;
  }
}

function shortened(name: string): string {
  const { first, last } = NAME_CHARACTERS;
  return name.length <= first + last ? name : name.slice(0, first) + name.slice(-last);
}

/** `is_view`: it is the content around it in another form. */
async function examineContent(
  walk: Walk,
  content: Content,
  depth: number,
  trail: readonly string[],
  is_view = false,
): Promise<void> {
  if (content.size === 0) return;
  matchContent(walk, content, trail, is_view);
  const explained = new Ranges(content.size);
  const workshop: Workshop = { ...walk.workshop, explain: (start, end) => explained.add(start, end) };
  const containers = containersOf(walk, content);
  await examineViews(walk, content, containers, depth, trail);
  for (const container of containers) {
    if (trail.length === 0 && isNamedAfterFile(container)) walk.found.named_after_upload = true;
    if (!walk.workshop.budget.mayDescend(depth)) return unread(walk, 'depth');
    try {
      for await (const member of membersOf(container, content, trail.at(-1) ?? walk.name, workshop)) {
        await examineMember(walk, member, depth + 1, [...trail, shortened(member.name)]);
      }
    } catch (error) {
      if (error instanceof LimitReached || isDiskError(error)) throw error;
      unread(walk, error instanceof Unreadable ? error.detail : 'damaged');
    }
  }
}

/**
 * Reads a file and everything packed in it, and matches each piece. Never throws for what the file holds: damage and limits are in `unread`; only for a
 * disk that takes no more.
 * `folder` takes members that are too big for memory; it is made where it is needed, and removed here.
 */
export async function examine(
  file: { path: string; size: number; name: string; sha256?: string | undefined },
  parts: Matchers & {
    limits: ScanLimits;
    folder: string;
    password?: string | undefined;
    onProgress?: (progress: Progress) => void;
    /** Counts what the scan uses up, for those who want to know it. */
    budget?: Budget;
  },
): Promise<Examination> {
  let files = 0;
  const walk: Walk = {
    match: parts.match,
    share: 0,
    report() {
      const { members_total, members_scanned } = walk.found.coverage;
      const members_found = Math.max(members_total, walk.workshop.budget.members_announced);
      parts.onProgress?.({ share: walk.share, members_read: members_scanned, members_found });
    },
    matchHash: parts.matchHash,
    sha256: file.sha256,
    workshop: {
      budget: parts.budget ?? new Budget(parts.limits, file.size),
      password: parts.password,
      path() {
        if (files === 0) mkdirSync(parts.folder, { recursive: true });
        files += 1;
        return join(parts.folder, `${files}`);
      },
      explain: () => {},
    },
    name: file.name,
    worst: -1,
    found: {
      threat: null,
      threat_member: null,
      threat_facts: null,
      media_type: null,
      named_after_upload: false,
      notes: [],
      unread: [],
      coverage: { members_total: 0, members_scanned: 0, bytes_scanned: 0, encrypted: 0, whole_file_conditions: true },
    },
  };
  try {
    await examineContent(walk, { path: file.path, size: file.size }, 0, []);
  } catch (error) {
    if (!(error instanceof LimitReached)) throw error;
    unread(walk, error.detail);
  } finally {
    // Most files need none.
    if (files > 0) await rm(parts.folder, { recursive: true, force: true });
  }
  return walk.found;
}
