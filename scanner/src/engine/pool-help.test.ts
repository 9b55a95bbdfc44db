import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { SILENT } from '#test/silent-log.ts';
import { answerSchema, type EngineRequest } from './messages.ts';
import { createPoolHelp, type Hand, type Question } from './pool-help.ts';

const MIB = 1024 ** 2;
const FILE = '/spool/file';
const FOLDER = '/spool/file.unpacked';

class Process implements Hand<Process> {
  child = { connected: true, pid: 1, kill: vi.fn() };
  facts: unknown = {};
  current: Hand<Process>['current'];
  helping: Question<Process>[] = [];
  told: EngineRequest[] = [];
  readonly generation: { members: Set<Process> };
  constructor(generation: { members: Set<Process> }) {
    this.generation = generation;
    generation.members.add(this);
  }
  read() {
    this.current = { waiting: { job: { path: FILE, folder: FOLDER } } };
  }
}

describe('the process that is asked', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  function pool(processes: number, cores: number) {
    const generation = { members: new Set<Process>() };
    const members = Array.from({ length: processes }, () => new Process(generation));
    const send = (member: Process, request: EngineRequest) => member.told.push(request);
    const state = { is_wanted: false, grown: new Set<Process>() };
    const help = createPoolHelp<Process>({
      ...{ cores, send, logger: SILENT },
      isWanted: () => state.is_wanted,
      isGrown: (member) => state.grown.has(member),
    });
    const [asker = new Process(generation), ...others] = members;
    asker.read();
    let calls = 0;
    const ask = (path = FILE, length = MIB) => {
      calls += 1;
      asker.told = [];
      help.onAsks(asker, { kind: 'asks', call: calls, path, ranges: [{ from: 0, length, is_within: false }] });
      return asker.told.map(({ kind }) => kind);
    };
    return { help, asker, others, ask, state };
  }

  test('is a process that has nothing to read, on a machine that has a core for it', () => {
    const { ask, others, asker, help } = pool(3, 2);
    expect(ask()).toEqual(['granted']);
    const [first, second] = others;
    expect(first?.told).toEqual([{ kind: 'match', path: FILE, ranges: [{ from: 0, length: MIB, is_within: false }] }]);
    // Both cores have something to do.
    expect(ask()).toEqual(['helped']);
    expect(asker.told).toEqual([{ kind: 'helped', call: 2, findings: null }]);
    expect(second?.told).toEqual([]);
    if (first !== undefined) help.onMatched(first, [{ matches: [], places: [] }]);
    expect(asker.told.at(-1)).toEqual({ kind: 'helped', call: 1, findings: [{ matches: [], places: [] }] });
    expect(first?.helping).toEqual([]);

    expect(pool(3, 1).ask()).toEqual(['helped']);
    expect(pool(1, 8).ask()).toEqual(['helped']);
  });

  test('is none that has a file, has not compiled its rules, or is gone', () => {
    const { ask, others } = pool(4, 8);
    const [first, second, third] = others;
    first?.read();
    if (second !== undefined) second.facts = undefined;
    if (third !== undefined) third.child.connected = false;
    expect(ask()).toEqual(['helped']);
  });

  test('has little waiting: a file that comes is to wait for no more', () => {
    const { ask, others } = pool(2, 2);
    expect(ask(FILE, 16 * MIB)).toEqual(['granted']);
    expect(ask(FILE, 1000)).toEqual(['helped']);
    others[0]?.helping.splice(0);
    expect(ask(FILE, MIB / 2)).toEqual(['granted']);
    expect(ask(FILE, MIB / 2)).toEqual(['granted']);
    expect(ask(FILE, 1)).toEqual(['helped']);
    others[0]?.helping.splice(0);
    expect(ask(FILE, 64 * MIB)).toEqual(['helped']);
  });

  test('is nobody while a file waits for a process', () => {
    const { ask, state, others, help } = pool(2, 2);
    expect(ask(FILE, 1000)).toEqual(['granted']);
    expect(ask(FILE, 1000)).toEqual(['granted']);
    state.is_wanted = true;
    expect(ask(FILE, 1000)).toEqual(['helped']);
    const [helper] = others;
    if (helper !== undefined) help.onMatched(helper, []);
    if (helper !== undefined) help.onMatched(helper, []);
    expect(helper?.helping).toEqual([]);
    expect(ask(FILE, 1000)).toEqual(['helped']);
    state.is_wanted = false;
    expect(ask(FILE, 1000)).toEqual(['granted']);
  });

  test('is nobody once other files have taken the cores', () => {
    const { ask, others } = pool(3, 2);
    expect(ask(FILE, 1000)).toEqual(['granted']);
    others[1]?.read();
    expect(ask(FILE, 1000)).toEqual(['helped']);
  });

  test('is nobody any more for a file over which one has ended', () => {
    const { ask, asker, others, help } = pool(3, 8);
    expect(ask()).toEqual(['granted']);
    const [helper] = others;
    if (helper !== undefined) expect(help.onExit(helper)).toBe(false);
    expect(ask()).toEqual(['helped']);
    asker.read();
    expect(ask()).toEqual(['granted']);
  });

  test('has no ranges before the file or of less than nothing', () => {
    const asks = (from: number, length: number) =>
      answerSchema.safeParse({ kind: 'asks', call: 1, path: FILE, ranges: [{ from, length, is_within: false }] }).success;
    expect([asks(0, 1), asks(-1, 1), asks(0, -1)]).toEqual([true, false, false]);
  });

  test.each([
    '/etc/passwd',
    `${FOLDER}/../secret`,
    `${FOLDER}/1/../12`,
    `${FOLDER}/../file.unpacked.2`,
    `${FOLDER}/1/2`,
    FOLDER,
    '1',
    '',
  ])('is asked for nothing but the file and what was unpacked from it: %j', (path) => {
    expect(pool(2, 2).ask(path)).toEqual(['helped']);
    expect(pool(2, 2).ask(`${FOLDER}/12`)).toEqual(['granted']);
  });

  test.each(['time', 'memory'])('is not waited for when it is gone, or takes too much %s', (what) => {
    const { ask, others, asker, help, state } = pool(2, 2);
    ask();
    const [helper] = others;
    vi.advanceTimersByTime(1000);
    expect(helper?.child.kill).not.toHaveBeenCalled();
    if (what === 'memory' && helper !== undefined) state.grown.add(helper);
    // Sooner than whoever asked is ended for the time of its file.
    vi.advanceTimersByTime(what === 'memory' ? 100 : 3_900);
    expect(helper?.child.kill).toHaveBeenCalledExactlyOnceWith('SIGKILL');
    if (helper !== undefined) expect(help.onExit(helper)).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
    expect(asker.told.at(-1)).toEqual({ kind: 'helped', call: 1, findings: null });
    expect(helper?.helping).toEqual([]);
  });
});

test('the share of a file that a process has read is 0 to 1', () => {
  const isTaken = (share: number) =>
    answerSchema.safeParse({ kind: 'progress', job: 'a', share, members_read: 1, members_found: 2 }).success;
  expect([-0.1, 0, 0.5, 1, 1.1].map(isTaken)).toEqual([false, true, true, true, false]);
});
