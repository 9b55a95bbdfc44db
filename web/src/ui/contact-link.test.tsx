import { render, screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import { EmailLink } from './contact-link.tsx';

it('shows the letters of a domain, and writes to its address', async () => {
  render(<EmailLink email="help@xn--bcher-kva.example" />);
  const link = await screen.findByRole('link', { name: 'help@bücher.example' });
  expect(link).toHaveAttribute('href', 'mailto:help@xn--bcher-kva.example');
});
