import { mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { Budget, LimitReached, SCAN_LIMITS, type ScanLimits } from '#scanner/reading/limits.ts';
import type { Member, MemberBody } from '#scanner/reading/member.ts';
import type { Matchers } from '#scanner/walk/examination.ts';
import { examine } from '#scanner/walk/examine.ts';
import type { Help } from '#scanner/walk/help.ts';
import { readAhead } from '#scanner/walk/read-ahead.ts';
import { archiveByChance } from '#test/archives-by-chance.ts';
import { Chance } from '#test/chance.ts';
import { EICAR, noise, tar, zip } from '#test/files.ts';
import { packRules } from '#test/pack-rules.ts';
import { PACKED_EICAR } from '#test/packed-eicar.ts';
import { containersOf } from '#test/samples/index.ts';
import { createHelp, matchRanges } from './help.ts';
import type { EngineMessage, RangeMessage } from './messages.ts';

const MIB = 1024 ** 2;
const folder = mkdtempSync(join(tmpdir(), 'palisade-help-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
/** Not the test file, but with its text in it: a note. */
const noted = (index: number) => Buffer.concat([noise(3000 + index, index + 1), EICAR, noise(500, index + 2)]);

const LISTED = { description: 'Listed.', severity: 'low', reference: null } as const;

type Asks = Extract<EngineMessage, { kind: 'asks' }>;
/** Reaction of another process to a question: it answers, refuses, or dies. */
type Deed = 'answers' | 'refuses' | 'dies';

/** Another process, in this one: what it does is told for each question, and when by chance. */
function helper(deedOf: Deed | ((asked: Asks) => Deed), asked: RangeMessage[][] = [], match = packRules.match): Help {
  let time = 0;
  const desk = createHelp(
    (message) => {
      if (message.kind !== 'asks') return;
      asked.push(message.ranges);
      const deed = typeof deedOf === 'string' ? deedOf : deedOf(message);
      if (deed === 'refuses') return desk.onHelped(message.call, null);
      desk.onGranted(message.call);
      const findings = deed === 'dies' ? null : matchRanges(match, message.path, message.ranges);
      // As the server says it: nothing but data.
      setTimeout(() => desk.onHelped(message.call, structuredClone(findings)), message.call % 3);
    },
    // Each question comes long after a refusal.
    () => (time += 1000),
  );
  return desk;
}

async function examined(
  bytes: Buffer,
  help?: Help,
  limits: Partial<ScanLimits> = {},
  more: Partial<Matchers> & { budget?: Budget } = {},
) {
  const path = join(folder, 'upload');
  writeFileSync(path, bytes);
  const parts = {
    match: packRules.match,
    ...more,
    limits: { ...SCAN_LIMITS, ...limits },
    folder: join(folder, 'unpacked'),
    help,
  };
  const examination = await examine({ path, size: bytes.length, name: 'file' }, parts);
  expect(readdirSync(folder)).toEqual(['upload']);
  return examination;
}

const members = [...PACKED_EICAR, ...containersOf(EICAR)];

/** Bytes that others stand in the place of, every 900 kB. */
function bent(archive: Buffer): Buffer {
  for (let at = 450_000; at < archive.length; at += 900_000) archive.fill(0xa5, at, at + 20);
  return archive;
}

/** Archives of all that is known, of which every member is found or noted somewhere, filled up with noise to the size from which others are asked. */
const ARCHIVES = new Map<string, Buffer>([
  [
    'a zip of containers',
    zip(
      [...members, ...Array.from({ length: 60 }, (_, index): [string, Buffer] => [`noise-${index}`, noise(100_000, index + 1)])]
        .toSorted(([a], [b]) => (a.length % 7) - (b.length % 7))
        .map(([name, content]) => ({ name, content })),
    ),
  ],
  [
    'a zip with a zip in it that is read by two as well',
    zip([
      ...Array.from({ length: 30 }, (_, index) => ({ name: `before-${index}`, content: noted(index) })),
      {
        name: 'inner.zip',
        content: zip(Array.from({ length: 50 }, (_, index) => ({ name: `${index}`, content: noise(100_000, index + 50) }))),
      },
      { name: 'test.com', content: EICAR },
    ]),
  ],
  [
    'a zip with damaged members',
    bent(
      zip(
        Array.from({ length: 90 }, (_, index) => ({
          name: `${index}`,
          content: index % 9 === 4 ? noted(index) : noise(70_000, index + 9),
        })),
      ),
    ),
  ],
  [
    'a tar with suspicious members',
    await tar(
      Array.from({ length: 200 }, (_, index) => ({
        name: `${index}`,
        content: index % 7 === 4 ? noted(index) : noise(30_000, index + 1),
      })),
    ),
  ],
]);

const deeds = (seed: number) => {
  let state = seed;
  return (): Deed => {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    return state % 3 === 0 ? 'refuses' : state % 7 === 0 ? 'dies' : 'answers';
  };
};

describe('an archive that two processes read says what one says', () => {
  test.each([...ARCHIVES])('%s', { timeout: 60_000 }, async (_, archive) => {
    expect(archive.length).toBeGreaterThan(4 * MIB);
    const alone = await examined(archive);
    const asked: RangeMessage[][] = [];
    expect(await examined(archive, helper('answers', asked))).toEqual(alone);
    expect(asked.flat().length).toBeGreaterThan(20);
    expect(await examined(archive, helper('refuses'))).toEqual(alone);
    expect(await examined(archive, helper('dies'))).toEqual(alone);
    for (const seed of [1, 2, 3]) expect(await examined(archive, helper(deeds(seed)))).toEqual(alone);
  });

  test.each<[string, Partial<ScanLimits>]>([
    ['too_many_members', { members: 100 }],
    ['too_many_members', { members: 130 }],
    ['too_large', { unpacked_bytes: 2 * MIB }],
    ['too_large', { unpacked_bytes: 5 * MIB }],
    ['bomb', { ratio: 1, ratio_floor_bytes: MIB }],
    ['depth', { depth: 1 }],
  ])('where limits end it: %s %j', { timeout: 60_000 }, async (detail, limits) => {
    const archive = ARCHIVES.get('a zip of containers') ?? Buffer.alloc(0);
    const alone = await examined(archive, undefined, limits);
    expect(alone.unread).toContain(detail);
    for (const deed of ['answers', 'refuses'] as const) expect(await examined(archive, helper(deed), limits)).toEqual(alone);
  });

  test('where rules ask for names, and a list of hashes is in use', { timeout: 60_000 }, async () => {
    const archive = ARCHIVES.get('a zip with a zip in it that is read by two as well') ?? Buffer.alloc(0);
    const match: Matchers['match'] = (bytes, onPlaces, path, is_within) => {
      const found = packRules.match(bytes, onPlaces, path, is_within);
      return path?.endsWith('before-7')
        ? [...found, { ...LISTED, rule: 'named', threat: 'Named', verdict: 'suspicious' }]
        : found;
    };
    const more: Partial<Matchers> = {
      match,
      asks_for_names: true,
      matchHash: (sha256) =>
        sha256.startsWith('0') ? [{ ...LISTED, rule: 'listed', threat: sha256, verdict: 'suspicious' }] : [],
    };
    const alone = await examined(archive, undefined, {}, more);
    expect(alone.notes.length).toBeGreaterThan(10);
    expect(await examined(archive, helper('answers', [], match), {}, more)).toEqual(alone);
  });

  test('where the disk takes nothing that could be shown to another', { timeout: 60_000 }, async () => {
    const archive = ARCHIVES.get('a tar with suspicious members') ?? Buffer.alloc(0);
    const path = join(folder, 'upload');
    writeFileSync(path, archive);
    const file = join(folder, 'file');
    writeFileSync(file, '');
    const parts = { match: packRules.match, limits: SCAN_LIMITS };
    const alone = await examine({ path, size: archive.length, name: 'file' }, { ...parts, folder: join(folder, 'unpacked') });
    // No folder can be made below a file.
    const help = helper('answers');
    const shared = await examine(
      { path, size: archive.length, name: 'file' },
      { ...parts, folder: join(file, 'unpacked'), help },
    );
    expect(shared).toEqual(alone);
    rmSync(file);
  });
});

test.each(Array.from({ length: 8 }, (_, seed) => seed))(
  'an archive made by chance, with limits by chance: two processes say what one says (%i)',
  { timeout: 120_000 },
  async (seed) => {
    const chance = new Chance(seed);
    const archive = archiveByChance(chance);
    expect(archive.length).toBeGreaterThan(4 * MIB);
    const limits: Partial<ScanLimits> = chance.of([
      {},
      { members: 20 + chance.below(60) },
      { unpacked_bytes: MIB + chance.below(6 * MIB) },
      { ratio: 2, ratio_floor_bytes: 300_000 + chance.below(MIB) },
      { depth: 1 + chance.below(2) },
    ]);
    const more: Partial<Matchers> = {
      matchHash: (sha256) =>
        sha256.startsWith('0') ? [{ ...LISTED, rule: 'listed', threat: sha256, verdict: 'suspicious' }] : [],
    };
    const alone = await examined(archive, undefined, limits, more);
    const asked: RangeMessage[][] = [];
    expect(await examined(archive, helper('answers', asked), limits, more)).toEqual(alone);
    expect(asked.length).toBeGreaterThan(0);
    expect(await examined(archive, helper(deeds(seed)), limits, more)).toEqual(alone);
  },
);

describe('a large file', () => {
  const large = Buffer.concat([
    noise(66 * MIB),
    EICAR,
    noise(15 * MIB, 7),
    zip([{ name: 'test.com', content: EICAR }]),
    noise(1000, 5),
  ]);

  test('is matched by two, window by window, to the same end', { timeout: 120_000 }, async () => {
    const alone = await examined(large);
    expect(alone).toMatchObject({ threat: 'EICAR-Test-File', coverage: { whole_file_conditions: false } });
    const asked: RangeMessage[][] = [];
    expect(await examined(large, helper('answers', asked))).toEqual(alone);
    expect(asked.length).toBeGreaterThan(0);
    expect(await examined(large, helper('refuses'))).toEqual(alone);
    expect(
      await examined(
        large,
        helper(({ call }) => (call === 1 ? 'answers' : 'dies')),
      ),
    ).toEqual(alone);
  });

  test('that is an archive: its own notes come first, and the first member with a threat is named', {
    timeout: 120_000,
  }, async () => {
    const MARK = Buffer.from('known only to this test');
    const stored = (name: string, content: Buffer) => ({ name, content, method: 0 });
    const archive = zip([
      ...Array.from({ length: 25 }, (_, index) => stored(`noted-${index}`, noted(index))),
      stored('marked', MARK),
      ...Array.from({ length: 66 }, (_, index) => stored(`noise-${index}`, noise(MIB, index + 3))),
      stored('marked again', MARK),
    ]);
    const match: Matchers['match'] = (bytes, ...more) => {
      const found = packRules.match(bytes, ...more);
      return bytes.includes(MARK) ? [...found, { ...LISTED, rule: 'marked', threat: 'Marked', verdict: 'infected' }] : found;
    };
    const alone = await examined(archive, undefined, {}, { match });
    expect(alone).toMatchObject({ threat: 'Marked', threat_member: 'marked' });
    expect(alone.notes[0]?.member).toBeNull();
    expect(alone.notes).toHaveLength(20);
    for (const deed of ['answers', 'refuses', 'dies'] as const)
      expect(await examined(archive, helper(deed, [], match), {}, { match })).toEqual(alone);
  });

  /** The time is over at a step. */
  class Clock extends Budget {
    private is_over = false;
    private readonly step: 'window' | 'member';
    constructor(step: 'window' | 'member') {
      super(SCAN_LIMITS, large.length);
      this.step = step;
    }
    override checkTime() {
      if (this.is_over || this.step === 'window') throw new LimitReached('time_limit');
    }
    override addMember() {
      this.is_over = true;
      super.addMember();
    }
  }

  test('is asked for no longer than its time', { timeout: 120_000 }, async () => {
    const asked: RangeMessage[][] = [];
    const alone = await examined(large, undefined, {}, { budget: new Clock('window') });
    expect(alone).toMatchObject({ unread: ['time_limit'], coverage: { bytes_scanned: 0 } });
    expect(await examined(large, helper('answers', asked), {}, { budget: new Clock('window') })).toEqual(alone);
    expect(asked).toHaveLength(1);
  });

  test('is matched before it is taken apart, also where the other process is wanted elsewhere', {
    timeout: 120_000,
  }, async () => {
    const MARK = Buffer.from('known only to this test');
    const marked = Buffer.concat([large.subarray(0, 40 * MIB), MARK, large.subarray(40 * MIB)]);
    const match: Matchers['match'] = (bytes, ...more) =>
      bytes.includes(MARK)
        ? [{ ...LISTED, rule: 'marked', threat: 'Marked', verdict: 'infected' }]
        : packRules.match(bytes, ...more);
    const alone = await examined(marked, undefined, {}, { match, budget: new Clock('member') });
    expect(alone).toMatchObject({ threat: 'Marked', unread: ['time_limit'] });
    const help = helper(({ call }) => (call === 1 ? 'answers' : 'refuses'), [], match);
    expect(await examined(marked, help, {}, { match, budget: new Clock('member') })).toEqual(alone);
  });

  test('that becomes shorter meanwhile is no answer', { timeout: 120_000 }, async () => {
    const help = helper(() => {
      truncateSync(join(folder, 'upload'), 10 * MIB);
      return 'answers';
    });
    await expect(examined(large, help)).rejects.toThrow('The file became shorter while it was read.');
    rmSync(join(folder, 'unpacked'), { recursive: true, force: true });
  });
});

test('ignores answers that do not fit the question', async () => {
  const desk = createHelp(() => {});
  const { granted, findings } = desk.ask('/file', [
    { from: 0, length: 1, is_within: false },
    { from: 1, length: 1, is_within: false },
  ]);
  expect(desk.isBusy()).toBe(true);
  desk.onGranted(1);
  desk.onHelped(7, []);
  desk.onHelped(1, [{ matches: [], places: [{ carved: 'of-a-later-version', offsets: [0], is_cut: false }] }]);
  expect(await granted).toBe(true);
  expect(await findings).toBeUndefined();
  expect(desk.isBusy()).toBe(false);
});

describe('members that are read ahead', () => {
  const read = async (members: AsyncGenerator<Member>, budget = new Budget(SCAN_LIMITS, MIB)) => {
    const parts = { help: helper('refuses'), budget, newPath: () => join(folder, 'ahead'), pathOf: () => undefined };
    const bodies: MemberBody[] = [];
    for await (const member of readAhead(members, parts)) bodies.push(await member.read());
    return bodies;
  };

  test('holds no more than the members, which may be pieces of something larger', async () => {
    const bodies = await read(
      (async function* () {
        for (let index = 0; index < 300; index += 1) {
          const window = Buffer.alloc(MIB);
          yield { name: `${index}`, read: () => ({ content: { size: 200, bytes: window.subarray(7, 207) } }) };
        }
      })(),
    );
    expect(bodies).toHaveLength(300);
    for (const body of bodies) {
      if (!('content' in body && 'bytes' in body.content)) throw new Error('Not in memory.');
      expect(body.content.bytes).toHaveLength(200);
      expect(body.content.bytes.buffer.byteLength).toBeLessThan(MIB / 4);
    }
  });

  test('ends where a limit ends it', async () => {
    const limits = { ...SCAN_LIMITS, unpacked_bytes: 1000 };
    const budget = new Budget(limits, MIB);
    let unpacked = 0;
    const members = (async function* () {
      for (let index = 0; index < 100; index += 1)
        yield {
          name: `${index}`,
          read() {
            unpacked += 1;
            budget.addUnpacked(index < 3 ? 300 : 5000, 0, 0);
            return { content: { size: 300, bytes: Buffer.alloc(300) } };
          },
        };
    })();
    await expect(read(members, budget)).rejects.toThrow('too_large');
    expect(unpacked).toBe(4);
  });
});
