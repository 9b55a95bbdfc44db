import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, it } from 'vitest';
import { CopyButton } from './copy-button.tsx';
import { renderForTest } from './render-for-test.tsx';

/** A page that came by http under a host name: no clipboard, and the browser's old way answers `allows`. */
function startInsecure(allows: boolean): string[] {
  const copied: string[] = [];
  Object.defineProperty(navigator, 'clipboard', { configurable: true, value: undefined });
  Object.defineProperty(document, 'execCommand', {
    configurable: true,
    value: () => {
      if (allows) copied.push(window.getSelection()?.toString() ?? '');
      return allows;
    },
  });
  return copied;
}

it('copies by the clipboard where there is one', async () => {
  const user = userEvent.setup();
  renderForTest(<CopyButton text="sh install.sh" copied="The command was copied." />);
  await user.click(screen.getByRole('button', { name: 'Copy' }));
  expect(await screen.findByRole('button', { name: 'Copied' })).toBeVisible();
  expect(await navigator.clipboard.readText()).toBe('sh install.sh');
});

it('copies what it selects where there is no clipboard', async () => {
  const user = userEvent.setup();
  renderForTest(<CopyButton text="sh install.sh" copied="The command was copied." />);
  const copied = startInsecure(true);
  await user.click(screen.getByRole('button', { name: 'Copy' }));
  expect(await screen.findByText('The command was copied.')).toBeInTheDocument();
  expect(copied).toEqual(['sh install.sh']);
  expect(screen.queryByRole('alert')).not.toBeInTheDocument();
});

it('says so where the browser allows neither', async () => {
  const user = userEvent.setup();
  renderForTest(<CopyButton text="sh install.sh" copied="The command was copied." />);
  startInsecure(false);
  await user.click(screen.getByRole('button', { name: 'Copy' }));
  expect(await screen.findByRole('alert')).toHaveTextContent('Your browser blocked copying.');
  expect(screen.getByRole('button', { name: 'Copy' })).toBeVisible();
});
