import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { StatusDetail } from '@palisade/contract/antivirus';
import { scanPhrase } from '@palisade/contract/scan-phrases';
import { isLockingManifest } from '#scanner/formats/documents/locked-office.ts';
import { type Found, HEAD_BYTES } from '#scanner/formats/format.ts';
import { containerOf, containersBeside, isLate, mediaTypeOf, membersOf } from '#scanner/formats/recognition.ts';
import { type Content, disposeContent, isDiskError, takeContent } from '#scanner/reading/content.ts';
import { Budget, LimitReached, type ScanLimits } from '#scanner/reading/limits.ts';
import { type Member, type ReadContext, Unreadable } from '#scanner/reading/member.ts';
import { Ranges } from '#scanner/reading/ranges.ts';
import { openReader, type Reader } from '#scanner/reading/reader.ts';
import { type TextView, textViews } from '#scanner/text/text-views.ts';
import type { Places } from './carving.ts';
import type { Examination, Matchers, Progress } from './examination.ts';
import type { Help } from './help.ts';
import { isOrHoldsFile } from './holds-file.ts';
import { type Kind, keepMatches, matchContent, matchWithHelp, note, pathOf, unread, type Walk } from './match-content.ts';
import { AHEAD_LEAST_BYTES, type MemberAhead, readAhead } from './read-ahead.ts';
import { type Opened, UnclaimedRanges } from './unclaimed-ranges.ts';

const BOMB_BYTES_EXAMINED = 4 * 1024 ** 2;

/** An archive may give a file a name of 64 KB. The shown form is shorter, and keeps the extension at its end. */
const NAME_CHARACTERS = { first: 960, last: 64 } as const;

/** The content of a member, unpacked and counted, with any damage: bytes before the damage are valid. */
async function contentOf(walk: Walk, member: Member): Promise<{ content: Content; damage: unknown }> {
  const body = await member.read();
  if ('content' in body) {
    return { content: body.content, damage: body.damage === undefined ? undefined : new Unreadable(body.damage) };
  }
  let member_bytes = 0;
  const { content, failure } = await takeContent(body.stream, walk.context.path, (bytes) => {
    member_bytes += bytes;
    walk.context.budget.addUnpacked(bytes, member_bytes, body.packed_bytes);
  });
  return { content, damage: failure };
}

/** Only matches a member of kind `alone`: there may be thousands of them. */
async function matchMember(walk: Walk, member: Member, trail: readonly string[]): Promise<void> {
  const { content } = await contentOf(walk, member);
  if ('bytes' in content) keepMatches(walk, [walk.match(content.bytes, undefined, pathOf(walk, trail))], trail);
}

async function examineMember(walk: Walk, member: MemberAhead, depth: number, trail: readonly string[]): Promise<void> {
  if (member.kind === 'alone') return await matchMember(walk, member, trail);
  walk.found.coverage.members_total += 1;
  if (member.kind === 'written') walk.context.budget.addWritten();
  else walk.context.budget.addMember();
  walk.report();
  if (member.closed === 'encrypted') walk.found.coverage.encrypted += 1;
  if (member.closed !== undefined) return unread(walk, member.closed);

  const { content, damage } = await contentOf(walk, member);
  // Only the beginning of a decompression bomb is examined: the rest is padding that only uses up time and memory.
  if (damage instanceof LimitReached && damage.detail === 'bomb') content.size = Math.min(content.size, BOMB_BYTES_EXAMINED);
  try {
    // Bytes unpacked before a failure or a limit are examined, too: a match in them counts.
    if (member.kind === 'view') matchContent(walk, content, trail);
    else await examineContent(walk, content, depth, trail, { taken: member.taken, matched: member.matched });
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
    // The password is wrong for this member.
    if (detail === 'encrypted') walk.found.coverage.encrypted += 1;
    return unread(walk, detail);
  }
  walk.found.coverage.members_scanned += 1;
}

/** The container at the beginning of a content, and those that are read beside it. `is_tried`: the first byte needs no further attempt. */
function containersOf(walk: Walk, reader: Reader, name: string): { containers: Found[]; is_tried: boolean } {
  const head = reader.at(0, HEAD_BYTES);
  const container = containerOf(head, reader.budget);
  // The first content of a walk is the upload itself.
  walk.found.media_type ??= mediaTypeOf(head, container);
  const beside = containersBeside(reader, head, container, name);
  const is_tried = container !== undefined || beside.some(({ format }) => format.traits.is_disk === true);
  return { containers: container === undefined ? beside : [container, ...beside], is_tried };
}

/** Smaller decoded data is not searched for a container at an offset. Bytes. */
const LETTERS_LEAST = 128;

/** Examines decoded forms of a text, and the files that are encoded in it. */
async function examineViews(
  walk: Walk,
  reader: Reader,
  containers: readonly Found[],
  depth: number,
  trail: readonly string[],
): Promise<void> {
  // The header of a PDF may be anywhere near the beginning, so a text that quotes one is both text and PDF.
  const isText = (container: Found) => container.format.traits.is_text === true || isLate(container, reader.at(0, HEAD_BYTES));
  if (!containers.every(isText)) return;
  const is_taken = containers.some(({ format }) => format.traits.is_mail === true);
  for await (const view of textViews(reader, walk.context, {
    is_taken,
    isFile: (bytes) => isOrHoldsFile(walk, bytes, LETTERS_LEAST),
  })) {
    if (!walk.context.budget.mayDescend(depth)) return unread(walk, 'depth');
    if (view.kind === 'view') keepMatches(walk, [walk.match(view.bytes, undefined, pathOf(walk, trail))], trail);
    else if (view.kind === 'unevaluated') {
      note(walk, trail.length > 0 ? trail.join(' / ') : null, scanPhrase('script.unevaluated', {}));
      if (view.is_of_windows) unread(walk, 'unexplained');
    } else if (view.is_guess) await withoutDamage(walk, () => examineView(walk, view, depth + 1, trail));
    else await examineView(walk, view, depth + 1, trail);
  }
}

async function examineView(
  walk: Walk,
  view: Exclude<TextView, { kind: 'view' | 'unevaluated' }>,
  depth: number,
  trail: readonly string[],
): Promise<void> {
  if (view.kind === 'member') return await examineMember(walk, view.member, depth, [...trail, view.member.name]);
  try {
    await examineContent(walk, view.content, depth, trail, { is_view: true });
  } finally {
    await disposeContent(view.content);
  }
  if (view.failure instanceof LimitReached) throw view.failure;
}

/** Damage that is not reported for a guess: the extraction may have cut the file, not its author. */
const DAMAGE: ReadonlySet<StatusDetail> = new Set(['damaged', 'unexplained']);

async function withoutDamage(walk: Walk, step: () => Promise<void>): Promise<void> {
  const { unread: known, notes } = walk.found;
  walk.found.unread = [];
  walk.found.notes = [];
  try {
    await step();
  } finally {
    const [more, more_notes] = [walk.found.unread, walk.found.notes];
    Object.assign(walk.found, { unread: known, notes });
    for (const detail of more) if (!DAMAGE.has(detail)) unread(walk, detail);
    for (const { member, phrase } of more_notes)
      if (!phrase.code.startsWith('container.') && phrase.code !== 'unexplained') note(walk, member, phrase);
  }
}

function shortened(name: string): string {
  const { first, last } = NAME_CHARACTERS;
  return name.length <= first + last ? name : name.slice(0, first) + name.slice(-last);
}

/** Opens a container and examines its members. If its reader claims nothing, but gives members or does not fail, the whole content is claimed. */
async function open(walk: Walk, container: Found, content: Content, depth: number, trail: readonly string[]): Promise<Opened> {
  const claimed = new Ranges(content.size);
  const context: ReadContext = {
    ...walk.context,
    claim: (start, end) => claimed.add(start, end),
    note: (phrase) => note(walk, trail.length > 0 ? trail.join(' / ') : null, phrase),
  };
  const { help } = walk;
  // Decrypted bytes are not put on the disk for another process.
  const is_shared =
    container.format.traits.reads_ahead === true && content.size >= AHEAD_LEAST_BYTES && context.password === undefined;
  const membersFrom = (): AsyncGenerator<MemberAhead> => {
    const members = membersOf(container, content, trail.at(-1) ?? walk.name, context);
    if (help === undefined || !is_shared) return members;
    return readAhead(members, {
      help,
      budget: context.budget,
      newPath: context.path,
      pathOf: (member) => pathOf(walk, [...trail, shortened(member.name)]),
    });
  };
  let members = 0;
  let failure: StatusDetail | undefined;
  try {
    for await (const member of membersFrom()) {
      if (member.kind !== 'view' && member.kind !== 'alone') members += 1;
      await examineMember(walk, member, depth + 1, [...trail, shortened(member.name)]);
    }
  } catch (error) {
    if (error instanceof LimitReached || isDiskError(error)) throw error;
    failure = error instanceof Unreadable ? error.detail : 'damaged';
  }
  const is_whole = container.format.traits.is_beside !== true && (members > 0 || (failure === undefined && !container.is_guess));
  if (claimed.is_empty && is_whole) claimed.add(0, content.size);
  return { claimed, members, failure };
}

/** The offsets without those of some patterns. */
function without(places: Places, ids: readonly string[]): Places {
  return new Map([...places].filter(([{ id }]) => !ids.includes(id)));
}

/**
 * Matches a content, opens its containers and examines the unclaimed ranges. `is_rest`: it is an unclaimed range that was identified as one file; `is_view`: another form
 * of the containing content. `taken`: carving patterns that are ignored. `matched`: another process's finding for it, if requested.
 */
async function examineContent(
  walk: Walk,
  content: Content,
  depth: number,
  trail: readonly string[],
  { taken = [], matched, ...kind }: Kind & { [field in 'taken' | 'matched']?: MemberAhead[field] | undefined } = {},
): Promise<void> {
  if (content.size === 0) return;
  const places = without(await matchWithHelp(walk, content, trail, kind, matched), taken);
  using reader = openReader(content, walk.context.budget);
  const claimed = new Ranges(content.size);
  const { containers, is_tried } = containersOf(walk, reader, trail.at(-1) ?? walk.name);
  await examineViews(walk, reader, containers, depth, trail);
  for (const container of containers) {
    if (trail.length === 0 && container.format.traits.is_named_after_file === true) walk.found.named_after_upload = true;
    if (!walk.context.budget.mayDescend(depth)) return unread(walk, 'depth');
    const opened = await open(walk, container, content, depth, trail);
    if (opened.failure !== undefined) unread(walk, opened.failure);
    if (container.format.traits.is_beside !== true) claimed.addAll(opened.claimed);
  }
  const is_opened = !claimed.is_empty;
  const gaps = claimed.gaps();
  if (gaps.length === 0) return;
  const steps = { open, examineContent, examineMember };
  const unread_places = without(
    places,
    containers.flatMap(({ format }) => format.traits.reads_beside ?? []),
  );
  const rests = new UnclaimedRanges(steps, walk, content, reader, depth, trail, unread_places, kind.is_rest === true);
  await rests.examine(gaps, is_opened, is_tried);
}

/**
 * Reads a file and everything packed in it, and matches each piece. Damage and limits are reported in `unread`; only errors of the disk throw. `folder` holds members that
 * are too big for memory; it is created when needed, and removed here.
 */
export async function examine(
  file: Content & { name: string; sha256?: string | undefined },
  parts: Matchers & {
    limits: ScanLimits;
    folder: string;
    password?: string | undefined;
    onProgress?: (progress: Progress) => void;
    /** Budget of the scan, for callers that read its counters. */
    budget?: Budget;
    help?: Help | undefined;
  },
): Promise<Examination> {
  let files = 0;
  const walk: Walk = {
    match: parts.match,
    asks_for_names: parts.asks_for_names,
    share: 0,
    report() {
      const { members_total, members_scanned } = walk.found.coverage;
      const members_found = Math.max(members_total, walk.context.budget.members_announced);
      parts.onProgress?.({ share: walk.share, members_read: members_scanned, members_found });
    },
    matchHash: parts.matchHash,
    sha256: file.sha256,
    context: {
      budget: parts.budget ?? new Budget(parts.limits, file.size),
      password: parts.password,
      path() {
        if (files === 0) mkdirSync(parts.folder, { recursive: true });
        files += 1;
        return join(parts.folder, `${files}`);
      },
      claim: () => {},
      note: () => {},
    },
    name: file.name,
    worst: -1,
    help: parts.help,
    found: {
      threat: null,
      threat_member: null,
      threat_facts: null,
      media_type: null,
      named_after_upload: parts.asks_for_names === true,
      notes: [],
      unread: [],
      coverage: {
        members_total: 0,
        members_scanned: 0,
        bytes_scanned: 0,
        encrypted: 0,
        bytes_raw: 0,
        whole_file_conditions: true,
      },
    },
  };
  try {
    await examineContent(walk, file, 0, []);
  } catch (error) {
    if (!(error instanceof LimitReached)) throw error;
    unread(walk, error.detail);
  } finally {
    // Most files need no folder.
    if (files > 0) await rm(parts.folder, { recursive: true, force: true });
  }
  return walk.found;
}
