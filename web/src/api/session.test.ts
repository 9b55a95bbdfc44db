import { act, renderHook } from '@testing-library/react';
import { beforeEach, describe, expect, it } from 'vitest';
import { MARIA } from './fake-records.ts';
import { endSession, refreshUser, restoreSession, startSession, useSession } from './session.ts';

function storedBy(token: string, user: string): void {
  localStorage.setItem('palisade.access_token', token);
  localStorage.setItem('palisade.user_info', user);
}

function storageEvent(key: string | null): void {
  act(() => {
    window.dispatchEvent(new StorageEvent('storage', { key }));
  });
}

beforeEach(() => endSession());

describe('the session', () => {
  it('is kept under the names of the product', () => {
    startSession({ access_token: 'token-1', user_info: MARIA });
    expect(localStorage.getItem('palisade.access_token')).toBe('token-1');
    expect(JSON.parse(localStorage.getItem('palisade.user_info') ?? '')).toEqual(MARIA);
  });

  it('is restored from storage', () => {
    storedBy('token-1', JSON.stringify(MARIA));
    restoreSession();
    expect(renderHook(useSession).result.current.session).toEqual({ access_token: 'token-1', user_info: MARIA });
  });

  it.each([
    ['no JSON', 'maria'],
    ['JSON of another shape', '{"username":"maria"}'],
    ['nothing', ''],
  ])('is not there when storage holds %s in place of the user', (_, user) => {
    storedBy('token-1', user);
    restoreSession();
    expect(renderHook(useSession).result.current.session).toBeUndefined();
  });

  it('begins here when it begins in another tab', () => {
    const { result } = renderHook(useSession);
    storedBy('token-1', JSON.stringify(MARIA));
    storageEvent('palisade.access_token');
    expect(result.current.session?.user_info.username).toBe('maria');
  });

  it('ends here when it ends in another tab, and says so', () => {
    startSession({ access_token: 'token-1', user_info: MARIA });
    const { result } = renderHook(useSession);
    localStorage.clear();
    storageEvent(null);
    expect(result.current).toEqual({ session: undefined, notice: 'signed_out_elsewhere' });
  });

  it.each(['session_ended', 'account_deleted'] as const)('says what the other tab said of it: %s', (notice) => {
    startSession({ access_token: 'token-1', user_info: MARIA });
    endSession(notice);
    const kept = localStorage.getItem('palisade.session_notice');
    // As this tab was before the other did that.
    startSession({ access_token: 'token-1', user_info: MARIA });
    expect(localStorage.getItem('palisade.session_notice')).toBeNull();
    const { result } = renderHook(useSession);
    localStorage.clear();
    localStorage.setItem('palisade.session_notice', kept ?? '');
    storageEvent('palisade.access_token');
    expect(result.current).toEqual({ session: undefined, notice });
  });

  it('takes over a new name of its person, and nobody else', () => {
    startSession({ access_token: 'token-1', user_info: MARIA });
    const { result } = renderHook(useSession);
    act(() => refreshUser({ ...MARIA, username: 'maria-2' }));
    act(() => refreshUser({ ...MARIA, id: '01930000-0000-7000-8000-999999999999', username: 'bob' }));
    expect(result.current.session?.user_info.username).toBe('maria-2');
  });
});
