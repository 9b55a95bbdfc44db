import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readConnection, reportConnection } from './connection.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
  reportConnection('online');
});

afterEach(() => {
  window.dispatchEvent(new Event('online'));
  vi.useRealTimers();
});

describe('the connection that is shown', () => {
  it('stays offline when an answer comes that was under way as the network went', () => {
    window.dispatchEvent(new Event('offline'));
    reportConnection('online');
    expect(readConnection()).toBe('offline');
  });

  it('is online again with an answer that came later, as of a server on this computer', () => {
    window.dispatchEvent(new Event('offline'));
    vi.setSystemTime(Date.now() + 1_500);
    reportConnection('online');
    expect(readConnection()).toBe('online');
  });

  it('is online at the first answer once the network is back', () => {
    window.dispatchEvent(new Event('offline'));
    window.dispatchEvent(new Event('online'));
    expect(readConnection()).toBe('offline');
    reportConnection('online');
    expect(readConnection()).toBe('online');
  });
});
