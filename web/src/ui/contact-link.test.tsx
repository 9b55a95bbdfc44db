import { render, screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import { EmailLink } from './contact-link.tsx';

it('shows the letters of a domain, and writes to its address', () => {
  render(<EmailLink email="help@xn--bcher-kva.example" />);
  expect(screen.getByRole('link', { name: 'help@bücher.example' })).toHaveAttribute('href', 'mailto:help@xn--bcher-kva.example');
});
