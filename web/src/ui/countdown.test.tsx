import { act, render, screen } from '@testing-library/react';
import { expect, it, vi } from 'vitest';
import { Countdown, describeLeft } from './countdown.tsx';

it.each([
  [0, '0:00'],
  [-5_000, '0:00'],
  [1, '0:01'],
  [59_000, '0:59'],
  [60_000, '1:00'],
  [272_000, '4:32'],
  [600_000, '10:00'],
  [3_872_000, '1:04:32'],
  [36_000_000, '10:00:00'],
  [604_800_000, '7 days'],
])('%i ms are %s', (ms, clock) => {
  expect(describeLeft(ms)).toBe(clock);
});

it('shows no more than is left when the moment is put off between two seconds', () => {
  vi.useFakeTimers();
  const { rerender } = render(<Countdown until={Date.now() + 2_000} />);
  act(() => void vi.advanceTimersByTime(700));
  rerender(<Countdown until={Date.now() + 2_000} />);
  expect(screen.getByText('0:02')).toBeVisible();
  act(() => void vi.advanceTimersByTime(1_000));
  expect(screen.getByText('0:01')).toBeVisible();
});
