import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, it, vi } from 'vitest';
import { Listed } from './listed.tsx';
import { renderForTest } from './render-for-test.tsx';

interface Given {
  rows?: readonly string[];
  isOutdated?: boolean;
  error?: Error;
}

function open({ rows, isOutdated = false, error }: Given) {
  const refetch = vi.fn();
  renderForTest(
    <Listed of="the names" list={{ rows, isOutdated, error: error ?? null, refetch }} empty={<p>No names yet</p>}>
      {(names) => names.map((name) => <p key={name}>{name}</p>)}
    </Listed>,
  );
  return refetch;
}

const isLoading = () => screen.queryByRole('status', { name: 'Loading the names' }) !== null;

it.each([
  ['nothing was read', {}, true, []],
  ['there are none', { rows: [] }, false, ['No names yet']],
  ['rows of an earlier question were none', { rows: [], isOutdated: true }, true, []],
  ['rows of an earlier question were some', { rows: ['Ada'], isOutdated: true }, false, ['Ada']],
  ['they were read', { rows: ['Ada', 'Bo'] }, false, ['Ada', 'Bo']],
] as const)('a list says where it stands: %s', (_, given, loading, texts) => {
  open(given);
  expect(isLoading()).toBe(loading);
  for (const text of texts) expect(screen.getByText(text)).toBeVisible();
  expect(screen.queryByText('No names yet') !== null).toBe(texts.some((text) => text === 'No names yet'));
  expect(screen.queryByRole('alert')).not.toBeInTheDocument();
});

it.each([
  ['none were read before', undefined],
  ['some were read before, which stay', ['Ada']],
])('says why it could not be read, and reads it on Retry: %s', async (_, rows) => {
  const refetch = open({ error: new Error('broken'), ...(rows && { rows }) });
  expect(screen.getByRole('alert')).toHaveTextContent('We couldn’t load the names');
  expect(isLoading()).toBe(false);
  if (rows) expect(screen.getByText('Ada')).toBeVisible();
  await userEvent.click(screen.getByRole('button', { name: 'Retry' }));
  expect(refetch).toHaveBeenCalledOnce();
});

it('all rows are drawn, also beyond the first window of them', () => {
  open({ rows: Array.from({ length: 40 }, (_, index) => `Name ${index}`) });
  expect(screen.getAllByText(/^Name/u)).toHaveLength(40);
});
