import { render } from '@testing-library/react';
import { expect, it } from 'vitest';
import { Sentence } from './sentence.tsx';

it('puts parts at their placeholders, also in bold text', () => {
  const parts = { who: <bdi>tina</bdi>, device: 'Laptop' };
  const { container } = render(<Sentence text="**{who} controls {device}.** Move your mouse." parts={parts} />);
  expect(container.innerHTML).toBe('<b><bdi>tina</bdi> controls Laptop.</b> Move your mouse.');
});

it('reads no marks in values', () => {
  const parts = { name: '**{device}**', device: 'Laptop' };
  const { container } = render(<Sentence text="{device}: {name}" parts={parts} />);
  expect(container.innerHTML).toBe('Laptop: **{device}**');
});

it('takes a sentence without parts', () => {
  const { container } = render(<Sentence text="**Paused.** Nothing is shown." />);
  expect(container.innerHTML).toBe('<b>Paused.</b> Nothing is shown.');
});

it('does not compile without a part', () => {
  // @ts-expect-error: the part `name` is missing.
  const { container } = render(<Sentence text="Hello {name}" parts={{}} />);
  expect(container.innerHTML).toBe('Hello {name}');
});
