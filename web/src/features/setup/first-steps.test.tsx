import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { MemoryRouter } from 'react-router';
import { describe, expect, it } from 'vitest';
import { statusOf } from '#api/fake-records.ts';
import { renderForTest, textsOf } from '#ui/render-for-test.tsx';
import { FirstSteps } from './first-steps.tsx';
import { customerSteps } from './first-steps-left.ts';

const OWNER = { provider: false, second_factor: false, first_scan: false, others: false };

describe('the first steps', () => {
  it('of an administrator lead to set-up first, and mark what is done', () => {
    renderForTest(<FirstSteps done={{ ...OWNER, first_scan: true }} />);
    expect(screen.getByRole('heading', { name: 'First steps: 3 left' })).toBeVisible();
    expect(screen.getByRole('link', { name: 'Set up' })).toHaveAttribute('href', '/admin/setup');
    expect(screen.getByRole('link', { name: 'Turn on two-factor' })).toBeVisible();
    expect(screen.queryByRole('link', { name: 'Choose a file' })).not.toBeInTheDocument();
    expect(screen.getByText(`${window.location.origin}/?mode=register`)).toBeVisible();
  });

  it('of a customer follow from the status', () => {
    const fresh = statusOf({ id: 'no_two_factor' });
    expect(customerSteps(fresh)).toEqual({ first_scan: false, second_factor: false, device: false });
    expect(customerSteps({ ...fresh, protected_by: ['web_protection'] })).toMatchObject({ device: true });
    const looked_at = { ...fresh.looked_at, files_unread: 1, devices: 1 };
    expect(customerSteps({ ...statusOf(), looked_at })).toEqual({ first_scan: true, second_factor: true, device: true });
    renderForTest(<FirstSteps done={customerSteps(fresh)} />);
    expect(textsOf(screen.getAllByRole('link'))).toEqual(['Choose a file', 'Turn on two-factor', 'Add a device']);
  });

  it('do not repeat the step of the status above', () => {
    const done = { first_scan: true, second_factor: false };
    const { rerender } = render(<FirstSteps done={done} />, { wrapper: MemoryRouter });
    const link = () => screen.queryByRole('link', { name: 'Turn on two-factor' });
    expect(link()).toHaveAttribute('data-variant', 'quiet');
    rerender(<FirstSteps done={{ ...done, device: false }} offered="second_factor" />);
    expect(link()).not.toBeInTheDocument();
    expect(screen.getByRole('link', { name: 'Add a device' })).toHaveAttribute('data-variant', 'quiet');
    rerender(<FirstSteps done={done} offered="second_factor" />);
    expect(screen.queryByRole('region')).not.toBeInTheDocument();
  });

  it('go away when all are done, and when they are hidden', async () => {
    renderForTest(<FirstSteps done={{ first_scan: true, device: true }} />);
    expect(screen.queryByRole('region')).not.toBeInTheDocument();
    renderForTest(<FirstSteps done={OWNER} />);
    await userEvent.click(screen.getByRole('button', { name: 'Hide' }));
    expect(screen.queryByRole('region')).not.toBeInTheDocument();
  });
});
