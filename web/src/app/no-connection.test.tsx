import { readHealth } from '@palisade/contract/platform';
import { screen, waitFor } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { FakeServer } from '#api/fake-server.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
import { isNotFetched, NoConnection } from './no-connection.tsx';

const server = FakeServer.ofEachTest();

describe('a screen that could not be fetched', () => {
  it.each([
    'Failed to fetch dynamically imported module: http://localhost/assets/chat.js',
    'error loading dynamically imported module: http://localhost/assets/chat.js',
    'Importing a module script failed.',
  ])('is told by the words of the browser: %s', (words) => expect(isNotFetched(new TypeError(words))).toBe(true));

  it('is not every error', () => expect(isNotFetched(new TypeError('x is undefined'))).toBe(false));

  it('says that there is no connection, and loads as soon as there is one', async () => {
    server.lose(readHealth);
    const reload = vi.fn();
    renderForTest(<NoConnection otherwise="broken" reload={reload} />);
    expect(await screen.findByRole('heading', { name: 'No connection' })).toBeVisible();
    expect(reload).not.toHaveBeenCalled();
    server.answer(readHealth, { status: 'ok' });
    window.dispatchEvent(new Event('online'));
    await waitFor(() => expect(reload).toHaveBeenCalledOnce());
    expect(screen.queryByText('broken')).not.toBeInTheDocument();
  });

  it('loads once more where the server is there, and then says that the page broke', async () => {
    server.answer(readHealth, { status: 'ok' });
    const reload = vi.fn();
    const { unmount } = renderForTest(<NoConnection otherwise="broken" reload={reload} />);
    await waitFor(() => expect(reload).toHaveBeenCalledOnce());
    expect(screen.queryByText('broken')).not.toBeInTheDocument();
    unmount();
    renderForTest(<NoConnection otherwise="broken" reload={reload} />);
    expect(await screen.findByText('broken')).toBeVisible();
    expect(reload).toHaveBeenCalledOnce();
  });
});
