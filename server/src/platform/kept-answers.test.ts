import { readCounts } from '@palisade/contract/desk-counts';
import { listDevices } from '@palisade/contract/devices';
import { readHealth } from '@palisade/contract/platform';
import { describe, expect, test } from 'vitest';
import { KeptAnswers } from './kept-answers.ts';
import { personTopic, STAFF_TOPIC } from './topics/topics.ts';

const MARIA = { id: 'maria', username: 'maria', email: 'maria@example.com', role: 'customer' as const };
const TOM = { ...MARIA, id: 'tom' };
const NONE = {
  mine: 0,
  unassigned: 0,
  all: 0,
  snoozed: 0,
  closed: 0,
  mine_unread: 0,
  unassigned_waiting: 0,
  remote_waiting: 0,
  remote_customers: [],
  tags: [],
};

describe('kept answers', () => {
  function start(alone: boolean) {
    const kept = new KeptAnswers({ alone, now: () => 0 });
    const reads = { own: 0, staff: 0 };
    const own = kept.keep(readHealth, () => {
      reads.own += 1;
      return Promise.resolve({ status: 'ok' as const });
    });
    const staff = kept.keep(
      readCounts,
      () => {
        reads.staff += 1;
        return Promise.resolve(NONE);
      },
      { isOfStaff: true },
    );
    const ask = async () => {
      for (const person of [MARIA, TOM]) await Promise.all([own(person), staff(person)]);
      return { ...reads };
    };
    return { kept, ask };
  }

  test('are read once for each person, and again after an event of that person', async () => {
    const { kept, ask } = start(true);
    expect(await ask()).toEqual({ own: 2, staff: 2 });
    expect(await ask()).toEqual({ own: 2, staff: 2 });
    kept.told(personTopic('maria'));
    expect(await ask()).toEqual({ own: 3, staff: 3 });
  });

  test('of the staff are read again after an event of the staff, and all of them after one for everybody', async () => {
    const { kept, ask } = start(true);
    await ask();
    kept.told(STAFF_TOPIC);
    expect(await ask()).toEqual({ own: 2, staff: 4 });
    kept.toldAll();
    expect(await ask()).toEqual({ own: 4, staff: 6 });
  });

  describe('of a list', () => {
    const SESSION = { user: MARIA };
    function startList(alone: boolean) {
      const kept = new KeptAnswers({ alone, now: () => 0 });
      let reads = 0;
      const read = kept.keepList(listDevices, ({ header }) => {
        reads += 1;
        header('link', `<page ${reads}>`);
        return Promise.resolve([]);
      });
      const ask = async (url: string) => {
        const headers: string[] = [];
        const query = { limit: 20 };
        await read({ session: SESSION, query, request: { url }, header: (_, value) => void headers.push(value) });
        return headers;
      };
      return { kept, ask };
    }

    test('keep their headers, until something is told to their person', async () => {
      const { kept, ask } = startList(true);
      expect([await ask('/api/devices'), await ask('/api/devices')]).toEqual([['<page 1>'], ['<page 1>']]);
      kept.told(personTopic('maria'));
      expect(await ask('/api/devices')).toEqual(['<page 2>']);
    });

    test('are read anew for an address with a query', async () => {
      const { ask } = startList(true);
      await ask('/api/devices');
      expect(await ask('/api/devices?limit=5')).toEqual(['<page 2>']);
      expect(await ask('/api/devices')).toEqual(['<page 1>']);
    });

    test('are none beside other servers', async () => {
      const { ask } = startList(false);
      expect([await ask('/api/devices'), await ask('/api/devices')]).toEqual([['<page 1>'], ['<page 2>']]);
    });
  });

  test('for all are kept by what they depend on, until something is told to everybody', async () => {
    const kept = new KeptAnswers({ alone: true, now: () => 0 });
    const asked: boolean[] = [];
    const read = kept.keepForAll(readHealth, String, (isHere: boolean) => {
      asked.push(isHere);
      return Promise.resolve({ status: 'ok' as const });
    });
    for (const isHere of [true, false, true, false]) await read(isHere);
    expect(asked).toEqual([true, false]);
    kept.told(personTopic('true'));
    await read(true);
    expect(asked).toEqual([true, false]);
    kept.toldAll();
    await read(true);
    expect(asked).toEqual([true, false, true]);
  });

  test('are none beside other servers', async () => {
    const { ask } = start(false);
    await ask();
    expect(await ask()).toEqual({ own: 4, staff: 4 });
  });
});
