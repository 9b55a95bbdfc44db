import { notifyManager, QueryClient, QueryObserver, queryOptions } from '@tanstack/react-query';
import { beforeEach, describe, expect, it } from 'vitest';
import { changeList, putRecord } from './change-list.ts';

/** A list whose answers are given by hand. */
const answers: ((rows: string[] | Promise<never>) => void)[] = [];
const listQuery = queryOptions({
  queryKey: ['words', 'all'],
  queryFn: () => new Promise<string[]>((resolve) => answers.push(resolve)),
  retry: false,
});
const { queryKey } = listQuery;
const add = (word: string) => (words: string[]) => (words.includes(word) ? words : [...words, word]);

let queries: QueryClient;
const shown = () => queries.getQueryData(queryKey);

beforeEach(() => {
  queries = new QueryClient();
  answers.length = 0;
});

describe('a change of a list', () => {
  it('is not overwritten by an answer that was asked for before it, and is never seen to go and come', async () => {
    queries.setQueryData(queryKey, ['one']);
    const seen: unknown[] = [];
    const screen = new QueryObserver(queries, { ...listQuery, enabled: false });
    // As a component looks: when it is told that something has changed.
    const leave = screen.subscribe(notifyManager.batchCalls(() => seen.push(screen.getCurrentResult().data?.join())));
    const read = queries.fetchQuery(listQuery);
    changeList(queries, queryKey, add('two'));
    expect(shown()).toEqual(['one', 'two']);
    answers[0]?.(['one', 'three']);
    await read;
    await expect.poll(shown).toEqual(['one', 'three', 'two']);
    await expect.poll(() => seen.at(-1)).toBe('one,three,two');
    expect(seen).not.toContain('one,three');
    leave();
  });

  it('stands when that answer fails, and is in the answer to the first question', async () => {
    queries.setQueryData(queryKey, ['one']);
    const failing = queries.fetchQuery(listQuery);
    changeList(queries, queryKey, add('two'));
    answers[0]?.(Promise.reject(new Error('no network')));
    await expect(failing).rejects.toThrow('no network');
    expect(shown()).toEqual(['one', 'two']);

    queries.clear();
    const first = queries.fetchQuery(listQuery);
    changeList(queries, queryKey, add('two'));
    expect(shown()).toBeUndefined();
    answers[1]?.(['one']);
    await first;
    await expect.poll(shown).toEqual(['one', 'two']);
  });

  it('leaves alone what was not read, but where it says what stands there then', () => {
    changeList(queries, queryKey, add('two'));
    expect(shown()).toBeUndefined();
    changeList(queries, queryKey, add('two'), { begin: ['two'] });
    expect(shown()).toEqual(['two']);
    putRecord(queries, ['word', 'one'], 'as it is');
    expect(queries.getQueryData(['word', 'one'])).toBe('as it is');
  });

  it('changes every list of a kind', () => {
    for (const name of ['all', 'long']) queries.setQueryData(['words', name], [name]);
    changeList<readonly string[], string[]>(queries, ['words'], add('two'), { isExact: false });
    expect(queries.getQueriesData({ queryKey: ['words'] }).map(([, words]) => words)).toEqual([
      ['all', 'two'],
      ['long', 'two'],
    ]);
  });

  it('leaves a list that is to be read anew to be read anew', async () => {
    queries.setQueryData(queryKey, ['one']);
    await queries.invalidateQueries({ queryKey });
    changeList(queries, queryKey, add('two'));
    expect(queries.getQueryState(queryKey)).toMatchObject({ data: ['one', 'two'], isInvalidated: true });
  });

  it('is taken back as a whole, also in an answer that is on its way', async () => {
    queries.setQueryData(queryKey, ['one']);
    const read = queries.fetchQuery(listQuery);
    const takeBack = changeList(queries, queryKey, add('two'));
    takeBack();
    expect(shown()).toEqual(['one']);
    answers[0]?.(['one', 'three']);
    await read;
    expect(shown()).toEqual(['one', 'three']);
  });

  it('is taken back by reading anew where something else came between', () => {
    queries.setQueryData(queryKey, ['one']);
    const takeBack = changeList(queries, queryKey, add('two'));
    changeList(queries, queryKey, add('three'));
    takeBack();
    expect(queries.getQueryState(queryKey)).toMatchObject({ data: ['one', 'two', 'three'], isInvalidated: true });
  });
});
