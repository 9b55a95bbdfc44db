import { type HistoryDay, readHistory } from '@palisade/contract/anti-hacking';
import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { FakeServer, refusal } from '#api/fake-server.ts';
import { renderForTest, textsOf } from '#ui/render-for-test.tsx';
import { HistoryCard } from './history-card.tsx';
import { isDrawable, summaryOf } from './history-day.ts';

const server = FakeServer.ofEachTest();

beforeEach(() => {
  vi.spyOn(console, 'error').mockReturnValue();
});

function dayOf(day: string, parts: Partial<HistoryDay> = {}): HistoryDay {
  return { day, score: null, threats: 0, blocked: 0, simulated: 0, ...parts };
}

const DAYS = [
  dayOf('2026-11-17', { score: 100 }),
  dayOf('2026-11-18', { threats: 3, blocked: 2 }),
  dayOf('2026-11-19', { score: 92, simulated: 1 }),
];

const rowsOf = (table: HTMLElement) => textsOf(within(table).getAllByRole('row'));

describe('the card', () => {
  it('tells the same figures as a table, the latest day first', async () => {
    const user = userEvent.setup();
    server.answer(readHistory, DAYS);
    renderForTest(<HistoryCard />);
    expect(screen.getByRole('status', { name: 'Loading the history' })).toBeVisible();
    expect(await screen.findByText('3 threats in the last 3 days, 2 of them blocked.')).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Show as table' }));
    expect(rowsOf(screen.getByRole('table'))).toEqual([
      'DayScoreThreatsBlockedSimulated',
      'Thu, Nov 1992001',
      'Wed, Nov 18–not known320',
      'Tue, Nov 17100000',
    ]);
    await user.click(screen.getByRole('button', { name: 'Show as chart' }));
    expect(screen.queryByRole('table')).not.toBeInTheDocument();
  });

  it('shows as many days as are chosen, and until they are there those before', async () => {
    const user = userEvent.setup();
    server.answer(readHistory, DAYS);
    renderForTest(<HistoryCard />);
    expect(await screen.findByRole('button', { name: '30 days' })).toHaveAttribute('aria-pressed', 'true');
    server.answer(readHistory, [...DAYS, dayOf('2026-11-20')]);
    await user.click(screen.getByRole('button', { name: '90 days' }));
    expect(screen.getByRole('button', { name: '90 days' })).toHaveAttribute('aria-pressed', 'true');
    expect(screen.getByText(/^3 threats/u)).toBeVisible();
    expect(await screen.findByText('3 threats in the last 4 days, 2 of them blocked.')).toBeVisible();
  });

  it('says that there is nothing to draw yet', async () => {
    server.answer(readHistory, [dayOf('2026-11-18'), dayOf('2026-11-19', { score: 100 })]);
    renderForTest(<HistoryCard />);
    expect(await screen.findByText(/After three days with data/u)).toBeVisible();
    expect(screen.getByText(/^No threats in the last 2 days\. After three days with data/u)).toBeVisible();
    await userEvent.click(screen.getByRole('button', { name: 'Show as table' }));
    expect(rowsOf(screen.getByRole('table'))).toHaveLength(3);
  });

  it('says that the history cannot be read, and reads it on Retry', async () => {
    const user = userEvent.setup();
    server.on(readHistory, refusal('internal'));
    renderForTest(<HistoryCard />);
    expect(await screen.findByText('The history could not be read')).toBeVisible();
    server.answer(readHistory, DAYS);
    await user.click(screen.getByRole('button', { name: 'Retry' }));
    expect(await screen.findByText(/3 threats/u)).toBeVisible();
    expect(screen.queryByRole('alert')).not.toBeInTheDocument();
  });
});

it('shows the figures where what draws them cannot be fetched', async () => {
  vi.doMock('./history-chart.tsx', () => {
    throw new TypeError('Failed to fetch dynamically imported module');
  });
  vi.stubGlobal(
    'IntersectionObserver',
    class {
      constructor(callback: (entries: { isIntersecting: boolean }[]) => void) {
        queueMicrotask(() => callback([{ isIntersecting: true }]));
      }
      observe = () => undefined;
      disconnect = () => undefined;
    },
  );
  server.answer(readHistory, DAYS);
  renderForTest(<HistoryCard />);
  expect(rowsOf(await screen.findByRole('table'))).toHaveLength(4);
});

describe('the days', () => {
  it.each([
    [[0, 0], 'No threats in the last 2 days.'],
    [[1, 1], 'One threat in the last 2 days, and it was blocked.'],
    [[1, 0], 'One threat in the last 2 days, not blocked.'],
    [[2, 2], '2 threats in the last 2 days, all blocked here.'],
    [[2, 0], '2 threats in the last 2 days, none of them blocked.'],
    [[5, 2], '5 threats in the last 2 days, 2 of them blocked.'],
  ] as const)('with %j threats and blocked ones are told in a sentence', ([threats, blocked], sentence) => {
    expect(summaryOf([dayOf('2026-11-18'), dayOf('2026-11-19', { threats, blocked })])).toBe(sentence);
  });

  it('can be drawn from the third day that is known on', () => {
    const one = dayOf('2026-11-19', { score: 90 });
    expect(isDrawable([one])).toBe(false);
    expect(isDrawable([one, dayOf('2026-11-20', { simulated: 1 })])).toBe(false);
    expect(isDrawable([one, dayOf('2026-11-20', { threats: 1 })])).toBe(false);
    expect(isDrawable([one, one, dayOf('2026-11-20', { threats: 1 })])).toBe(true);
  });
});
