import { type Overview, readOverview } from '@palisade/contract/overview';
import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it } from 'vitest';
import { MARIA, NOTHING_WAITS } from '#api/fake-records.ts';
import { FakeServer } from '#api/fake-server.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
import { FirstSteps } from './first-steps.tsx';

let server: FakeServer;

beforeEach(() => {
  server = new FakeServer({ ...MARIA, role: 'admin' });
});

function open(done: Partial<Overview['first_steps']>) {
  const first_steps = { provider: false, second_factor: false, first_scan: false, others: false, ...done };
  server.answer(readOverview, { waiting: NOTHING_WAITS, first_steps });
  renderForTest(<FirstSteps />);
}

describe('the first steps of an administrator', () => {
  it('lead to set-up first, and mark what is done', async () => {
    open({ first_scan: true });
    expect(await screen.findByRole('heading', { name: 'First steps: 3 left' })).toBeVisible();
    expect(screen.getByRole('link', { name: 'Set up' })).toHaveAttribute('href', '/admin/setup');
    expect(screen.getByRole('link', { name: 'Turn on two-factor' })).toHaveAttribute('href', '/dashboard?open=security');
    expect(screen.queryByRole('link', { name: 'Choose a file' })).not.toBeInTheDocument();
    expect(screen.getByText(`${window.location.origin}/?mode=register`)).toBeVisible();
  });

  it('go away when all are done', async () => {
    open({ provider: true, second_factor: true, first_scan: true, others: true });
    await waitFor(() => expect(server.callsOf(readOverview)).toHaveLength(1));
    expect(screen.queryByRole('region')).not.toBeInTheDocument();
  });

  it('stay away once they were hidden', async () => {
    open({});
    await userEvent.click(await screen.findByRole('button', { name: 'Hide' }));
    expect(screen.queryByRole('region')).not.toBeInTheDocument();
    renderForTest(<FirstSteps />);
    await waitFor(() => expect(server.callsOf(readOverview)).toHaveLength(2));
    expect(screen.queryByRole('region')).not.toBeInTheDocument();
  });
});
