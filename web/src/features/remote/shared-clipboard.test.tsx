import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { expect, it, vi } from 'vitest';
import { renderForTest } from '#ui/render-for-test.tsx';
import { SharedClipboard } from './shared-clipboard.tsx';

const onSend = vi.fn<(text: string) => void>();

function Shown({ takesAll }: { takesAll: boolean }) {
  const [text, setText] = useState('');
  return <SharedClipboard device_name="study" value={text} takesAllLetters={() => takesAll} onChange={setText} onSend={onSend} />;
}

it.each([
  ['Grüße', false],
  ['Grüße', true],
  ['Привет', true],
  ['日本語 🙂', true],
])('sends %j to a computer that takes it', async (text, takesAll) => {
  renderForTest(<Shown takesAll={takesAll} />);
  await userEvent.click(screen.getByLabelText('Clipboard of study'));
  await userEvent.paste(text);
  expect(onSend).toHaveBeenCalledWith(text);
  expect(screen.getByLabelText('Clipboard of study')).toBeValid();
});

it.each(['Привет', '日本語', '“quoted”', '5 €'])(
  'says that %j would arrive as question marks, before it is sent',
  async (text) => {
    renderForTest(<Shown takesAll={false} />);
    const field = screen.getByLabelText('Clipboard of study');
    await userEvent.click(field);
    await userEvent.paste(text);
    expect(onSend).not.toHaveBeenCalled();
    expect(field).toHaveAccessibleDescription('Not sent. This computer takes only Western European letters.');
  },
);
