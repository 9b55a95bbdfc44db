import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, test } from 'vitest';
import { MessageText, partsOf } from './message-text.tsx';

const quoted = '> one\n> two\n> three\n> four';

describe('the words of a message', () => {
  test.each([
    ['without quotes', 'one\ntwo', [false]],
    ['with a short quote', '> one\n> two\nthree', [false]],
    ['with a long quote', `above\n${quoted}\nbelow`, [false, true, false]],
    ['that are a quote', quoted, [true]],
  ])('are all there %s', (_what, text, folded) => {
    const parts = partsOf(text);
    expect(parts.map(({ isFolded }) => isFolded)).toEqual(folded);
    expect(parts.flatMap(({ lines }) => lines).join('\n')).toBe(text);
  });

  test('that are quoted at length open in place', async () => {
    render(<MessageText text={`Is this you?\n${quoted}`} />);
    expect(screen.getByText('Is this you?')).toBeVisible();
    const fold = screen.getByText('4 quoted lines');
    expect(screen.getByText(/> four/)).not.toHaveAttribute('open');
    await userEvent.click(fold);
    expect(screen.getByText(/> four/)).toHaveAttribute('open');
  });
});
