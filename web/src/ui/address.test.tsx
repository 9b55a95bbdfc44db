import { render } from '@testing-library/react';
import { expect, it } from 'vitest';
import { Address } from './address.tsx';

it.each([
  ['maria.von-hohenberg@mail.example.com', 'maria.|von-|hohenberg@|mail.|example.|com'],
  ['https://example.com/a?b=c', 'https:/|/|example.|com/|a?|b=|c'],
  ['maria', 'maria'],
])('%s wraps after its signs and stays the same text', (text, parts) => {
  const { container } = render(<Address text={text} />);
  expect(container).toHaveTextContent(text);
  expect(container.firstElementChild?.innerHTML.replaceAll('<wbr>', '|')).toBe(parts);
});
