import { addRule, editRule } from '@palisade/contract/firewall';
import { QueryClient, QueryClientProvider, QueryObserver } from '@tanstack/react-query';
import { act, renderHook, waitFor } from '@testing-library/react';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { useChange } from './change.ts';

let queries: QueryClient;
const isOld = (...queryKey: string[]) => queries.getQueryState(queryKey)?.isInvalidated;

beforeEach(() => {
  queries = new QueryClient();
  for (const queryKey of [['firewall', 'rules'], ['dashboard'], ['overview'], ['audit'], ['engine']])
    queries.setQueryData(queryKey, {});
});

function use(send: () => Promise<unknown>) {
  const parts = { of: [addRule, editRule], mutationFn: send, renews: [['audit']] };
  return renderHook(() => useChange(parts), {
    wrapper: ({ children }) => <QueryClientProvider client={queries}>{children}</QueryClientProvider>,
  }).result;
}

describe('a change', () => {
  it('has read anew what shows what its endpoints change, the dashboard, and what else it names', async () => {
    const change = use(() => Promise.resolve('done'));
    act(() => change.current.mutate());
    await waitFor(() => expect(change.current.data).toBe('done'));
    expect([isOld('firewall', 'rules'), isOld('dashboard'), isOld('overview'), isOld('audit')]).toEqual([true, true, true, true]);
    expect(isOld('engine')).toBe(false);
  });

  it('has read anew after a refusal too what it was about', async () => {
    const change = use(() => Promise.reject(new Error('refused')));
    act(() => change.current.mutate());
    await waitFor(() => expect(change.current.error?.message).toBe('refused'));
    expect([isOld('firewall', 'rules'), isOld('audit'), isOld('overview')]).toEqual([true, true, false]);
  });

  it('is sent at once although the browser says that there is no network, so that its failure is told', async () => {
    vi.spyOn(navigator, 'onLine', 'get').mockReturnValue(false);
    window.dispatchEvent(new Event('offline'));
    const change = use(() => Promise.reject(new Error('no network')));
    act(() => change.current.mutate());
    await waitFor(() => expect(change.current.error?.message).toBe('no network'));
    vi.restoreAllMocks();
    window.dispatchEvent(new Event('online'));
  });

  it('is sent once for a double click, again once it was answered, and back after another one', async () => {
    const answers: ((_: unknown) => void)[] = [];
    const send = vi.fn((_given: { code: string }) => new Promise((resolve) => answers.push(resolve)));
    const { result } = renderHook(() => useChange({ mutationFn: send }), {
      wrapper: ({ children }) => <QueryClientProvider client={queries}>{children}</QueryClientProvider>,
    });
    const press = (code: string) => result.current.mutate({ code });
    // Before anything is drawn, as the two presses of a slow page come.
    act(() => {
      press('one');
      press('one');
      press('two');
      press('two');
      press('one');
    });
    await waitFor(() => expect(send.mock.calls.map(([{ code }]) => code)).toEqual(['one', 'two', 'one']));
    await act(async () => {
      for (const answer of answers) answer('done');
      await Promise.resolve();
    });
    await waitFor(() => expect(result.current.isSuccess).toBe(true));
    act(() => press('one'));
    await waitFor(() => expect(send).toHaveBeenCalledTimes(4));
  });

  it('is on its way until what shows it has been read', async () => {
    let answer = (_: object): void => undefined;
    const queryFn = () => new Promise<object>((resolve) => (answer = resolve));
    const observer = new QueryObserver(queries, { queryKey: ['firewall', 'rules'], queryFn, staleTime: 60_000 });
    const stop = observer.subscribe(() => undefined);
    const change = use(() => Promise.resolve('done'));
    act(() => change.current.mutate());
    await waitFor(() => expect(queries.isFetching({ queryKey: ['firewall'] })).toBe(1));
    expect(change.current.isPending).toBe(true);
    answer({});
    await waitFor(() => expect(change.current.isSuccess).toBe(true));
    stop();
  });
});
