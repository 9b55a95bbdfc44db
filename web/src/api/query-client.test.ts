import { listScans } from '@palisade/contract/antivirus';
import { QueryObserver } from '@tanstack/react-query';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { call } from './call.ts';
import { MARIA } from './fake-records.ts';
import { FakeServer, refusal } from './fake-server.ts';
import { createQueryClient } from './query-client.ts';
import { currentSession } from './session.ts';

const server = FakeServer.ofEachTest(MARIA);

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe('a query that is made stale while its first answer is on its way', () => {
  it('is asked again after that answer, which may be from before the change, and once only', async () => {
    const queries = createQueryClient();
    const answers: ((answer: string) => void)[] = [];
    const options = { queryKey: ['history'], queryFn: () => new Promise<string>((resolve) => answers.push(resolve)) };
    const stop = new QueryObserver(queries, options).subscribe(() => undefined);
    void queries.invalidateQueries({ queryKey: ['history'] });
    expect(answers).toHaveLength(1);
    answers[0]?.('before');
    await vi.advanceTimersByTimeAsync(0);
    expect(answers).toHaveLength(2);
    answers[1]?.('after');
    await vi.advanceTimersByTimeAsync(0);
    expect(queries.getQueryData(['history'])).toBe('after');
    expect(answers).toHaveLength(2);
    stop();
    queries.clear();
  });
});

describe('a query that is told to wait', () => {
  it('asks nothing until then, whatever its interval, and continues then; the session stays', async () => {
    server.on(listScans, refusal('too_many_requests', { retry_after: 20 }));
    const queries = createQueryClient();
    const options = { queryKey: ['scans'], queryFn: () => call(listScans), refetchInterval: 1_000 };
    const stop = new QueryObserver(queries, options).subscribe(() => undefined);
    await vi.advanceTimersByTimeAsync(19_900);
    expect(server.callsOf(listScans)).toHaveLength(1);
    expect(currentSession()).toBeDefined();
    server.answer(listScans, []);
    await vi.advanceTimersByTimeAsync(200);
    expect(server.callsOf(listScans)).toHaveLength(2);
    expect(queries.getQueryData(['scans'])).toEqual([]);
    stop();
    queries.clear();
  });

  it('fails at once when the wait is long, so that the person is told', async () => {
    server.on(listScans, refusal('too_many_requests', { retry_after: 600 }));
    const asked = createQueryClient().fetchQuery({ queryKey: ['scans'], queryFn: () => call(listScans) });
    await expect(asked).rejects.toMatchObject({ status: 429, retry_after: 600 });
  });
});
