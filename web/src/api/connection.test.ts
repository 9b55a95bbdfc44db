import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readConnection, reportConnection } from './connection.ts';

let isThere = true;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
  vi.spyOn(navigator, 'onLine', 'get').mockImplementation(() => isThere);
  isThere = true;
  reportConnection('online');
});

afterEach(() => {
  vi.useRealTimers();
});

function loseNetwork(): void {
  isThere = false;
  window.dispatchEvent(new Event('offline'));
}

describe('the connection that is shown', () => {
  it('stays offline when an answer comes that was under way as the network went', () => {
    loseNetwork();
    reportConnection('online');
    expect(readConnection()).toBe('offline');
  });

  it('is online again with an answer that came later, as of a server on this computer', () => {
    loseNetwork();
    vi.setSystemTime(Date.now() + 1_500);
    reportConnection('online');
    expect(readConnection()).toBe('online');
  });

  it('is online at the first answer once the network is back', () => {
    loseNetwork();
    isThere = true;
    expect(readConnection()).toBe('offline');
    reportConnection('online');
    expect(readConnection()).toBe('online');
  });
});
