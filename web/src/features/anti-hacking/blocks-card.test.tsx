import { type Block, BROWSER_SOURCE, liftBlock, listBlocks } from '@palisade/contract/blocks';
import { act, screen } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FakeServer, refusal } from '#api/fake-server.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
import { BlocksCard } from './blocks-card.tsx';

const server = FakeServer.ofEachTest();

const BLOCK: Block = {
  id: '01930000-0000-7000-8000-000000000001',
  kind: 'pair',
  source: '203.0.113.9',
  rule: 'wrong_passwords',
  since: '2026-11-20T10:20:00.000Z',
  until: '2026-11-20T10:40:00.000Z',
  level: 2,
};

beforeEach(() => {
  vi.useFakeTimers({ now: new Date('2026-11-20T10:24:07.000Z') });
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

async function open() {
  renderForTest(<BlocksCard />);
  await act(() => vi.advanceTimersByTimeAsync(0));
}

async function press(name: string) {
  await act(async () => {
    screen.getByRole('button', { name }).click();
    await vi.advanceTimersByTimeAsync(100);
  });
}

describe('the active blocks', () => {
  it('say in plain words that there is none', async () => {
    server.answer(listBlocks, []);
    await open();
    expect(screen.getByText('No sign-ins are blocked')).toBeVisible();
  });

  it('name a known browser in words', async () => {
    server.answer(listBlocks, [{ ...BLOCK, source: `${BROWSER_SOURCE}0a1b` }]);
    await open();
    expect(screen.getByRole('listitem')).toHaveTextContent('Sign-ins from a browser that you used before are refused');
    expect(screen.getByRole('button', { name: 'Allow again: your browser' })).toBeVisible();
  });

  it('tell from where, why, since when and for how long, and read anew when one is over', async () => {
    server.answer(listBlocks, [BLOCK]);
    await open();
    expect(screen.getByRole('listitem')).toHaveTextContent(
      'Sign-ins from 203.0.113.9 are refusedToo many wrong passwords for your accountthe 2nd time',
    );
    expect(screen.getByText('15:53')).toBeVisible();
    await act(() => vi.advanceTimersByTimeAsync(3_000));
    expect(screen.getByText('15:50')).toBeVisible();
    server.answer(listBlocks, []);
    await act(() => vi.advanceTimersByTimeAsync(950_000));
    expect(screen.getByText('No sign-ins are blocked')).toBeVisible();
  });

  it('say how often it has come to that', async () => {
    const levels = [1, 3, 5, 21];
    server.answer(
      listBlocks,
      levels.map((level) => ({ ...BLOCK, id: `${BLOCK.id.slice(0, -2)}${level + 10}`, level })),
    );
    await open();
    expect(screen.getAllByRole('listitem').map(({ textContent }) => /the .+ time/u.exec(textContent)?.[0])).toEqual([
      undefined,
      'the 3rd time',
      'the 5th time',
      'the 21st time',
    ]);
  });

  it('end with Undo, after a question', async () => {
    server.answer(listBlocks, [BLOCK]);
    server.answer(liftBlock, undefined);
    await open();
    const question = vi.spyOn(window, 'confirm').mockReturnValue(false);
    await press('Allow again: 203.0.113.9');
    expect(question).toHaveBeenCalledOnce();
    expect(server.callsOf(liftBlock)).toEqual([]);
    question.mockReturnValue(true);
    server.answer(listBlocks, []);
    await press('Allow again: 203.0.113.9');
    expect(screen.getByText('No sign-ins are blocked')).toBeVisible();
    expect(server.calls.map(({ method, path }) => `${method} ${path}`)).toContain(
      `DELETE /premium/anti-hacking/blocks/${BLOCK.id}`,
    );
  });

  it('say when they cannot be read, or ended', async () => {
    server.on(listBlocks, refusal('internal'));
    await open();
    await act(() => vi.advanceTimersByTimeAsync(10_000));
    expect(screen.getByRole('alert')).toHaveTextContent('We couldn’t load the blocks');
    server.answer(listBlocks, [BLOCK]);
    server.on(liftBlock, refusal('unavailable'));
    await press('Retry');
    vi.spyOn(window, 'confirm').mockReturnValue(true);
    await press('Allow again: 203.0.113.9');
    expect(screen.getByRole('alert')).toHaveTextContent('The block could not be ended');
  });
});
