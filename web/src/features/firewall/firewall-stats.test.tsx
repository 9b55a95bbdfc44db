import { readConfig } from '@palisade/contract/platform';
import { screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import { useConfig } from '#api/config.ts';
import { CONFIG } from '#api/fake-records.ts';
import { FakeServer } from '#api/fake-server.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
import { FirewallStats } from './firewall-stats.tsx';

function Exposure() {
  return <p>{useConfig()?.exposure}</p>;
}

// The configuration is asked for once a page, so this stands in a file of its own.
it('has no samples where none are shown', async () => {
  const server = new FakeServer();
  server.answer(readConfig, { ...CONFIG, exposure: 'public', demo: false });
  renderForTest(
    <>
      <FirewallStats devices={[]} total={0} active={0} conflicts={0} />
      <Exposure />
    </>,
  );
  await screen.findByText('public');
  expect(screen.getByRole('region', { name: 'Blocked Attempts' })).toHaveTextContent('– Not measured yet');
  expect(screen.getByRole('region', { name: 'Data Protected' })).toHaveTextContent('– Not measured yet');
  expect(screen.queryByText('Sample')).not.toBeInTheDocument();
});
