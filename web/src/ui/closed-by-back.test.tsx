import { MantineProvider } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import { cleanup, render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { createBrowserRouter, Link, RouterProvider, useSearchParams } from 'react-router';
import { afterEach, expect, it, vi } from 'vitest';
import { ActionsMenu } from './actions-menu.tsx';
import { watchHistory } from './closed-by-back.ts';
import { ModalWindow } from './modal-window.tsx';
import { Sheet } from './sheet.tsx';

function Dialog({ title, onClose }: { title: string; onClose: () => void }) {
  const [isNested, setIsNested] = useState(false);
  return (
    <ModalWindow title={title} onClose={onClose}>
      <button type="button" onClick={() => setIsNested(true)}>
        Open nested
      </button>
      <Link to="/other">Other page</Link>
      <ActionsMenu actions={[{ label: 'Act', icon: IconDots, onSelect: () => {} }]} />
      {isNested && <Dialog title="Nested" onClose={() => setIsNested(false)} />}
    </ModalWindow>
  );
}

function Page() {
  const [opened, setOpened] = useState<'dialog' | 'sheet'>();
  const [search, setSearch] = useSearchParams();
  const close = () => setOpened(undefined);
  return (
    <>
      <h1>Page</h1>
      <button type="button" onClick={() => setOpened('dialog')}>
        Open dialog
      </button>
      <button type="button" onClick={() => setOpened('sheet')}>
        Open sheet
      </button>
      <Link to="?record=1">Record</Link>
      <ActionsMenu label="Menu" actions={[{ label: 'Dialog by menu', icon: IconDots, onSelect: () => setOpened('dialog') }]} />
      {opened === 'dialog' && <Dialog title="First" onClose={close} />}
      <Sheet title="Sheet" isOpen={opened === 'sheet'} onClose={close}>
        <Link to="/other">Other page</Link>
      </Sheet>
      {search.has('record') && <Dialog title="Record 1" onClose={() => setSearch({}, { replace: true })} />}
    </>
  );
}

let router: ReturnType<typeof createBrowserRouter>;
let length: number;

/** Opens the page behind another one, so that Back has somewhere to go. */
async function open(address = '/page') {
  window.history.pushState({ idx: 0 }, '', '/start');
  window.history.pushState({ idx: 1 }, '', address);
  watchHistory();
  router = createBrowserRouter(
    ['start', 'page', 'other'].map((path) => ({ path, element: path === 'page' ? <Page /> : <h1>{path}</h1> })),
  );
  render(
    <MantineProvider env="test">
      <RouterProvider router={router} />
    </MantineProvider>,
  );
  await screen.findByRole('heading', { name: 'Page' });
  length = window.history.length;
  return userEvent.setup();
}

afterEach(() => {
  cleanup();
  router.dispose();
});

const back = () => window.history.back();
const dialogs = () =>
  screen.queryAllByRole('dialog').map((dialog) => dialog.textContent?.match(/First|Nested|Record 1|Sheet/u)?.[0]);
const settled = (names: string[], address = '/page') =>
  waitFor(() => {
    expect(dialogs()).toEqual(names);
    expect(window.location.pathname + window.location.search).toBe(address);
    expect(router.state.location.pathname + router.state.location.search).toBe(address);
  });
/** Back from here leads to the page before, at once. */
async function leaves() {
  back();
  await screen.findByRole('heading', { name: 'start' });
}
const layers = () => waitFor(() => expect(history.state).toHaveProperty('layers', dialogs().length));

it('closes the dialogs from the top, then leaves the page', async () => {
  const user = await open();
  await user.click(screen.getByRole('button', { name: 'Open dialog' }));
  await user.click(screen.getByRole('button', { name: 'Open nested' }));
  await layers();
  back();
  await settled(['First']);
  back();
  await settled([]);
  await leaves();
});

it.each(['Sheet', 'Menu'])('closes a %s', async (what) => {
  const user = await open();
  await user.click(screen.getByRole('button', { name: what === 'Sheet' ? 'Open sheet' : 'Menu' }));
  await screen.findByRole(what === 'Sheet' ? 'dialog' : 'menu');
  back();
  await waitFor(() => expect(screen.queryByRole('menu')).not.toBeInTheDocument());
  await settled([]);
  await leaves();
});

it.each(['{Escape}', 'Close'])('leaves no entry behind a dialog that is closed by %s', async (how) => {
  const user = await open();
  for (let round = 0; round < 3; round += 1) {
    await user.click(screen.getByRole('button', { name: 'Open dialog' }));
    await layers();
    if (how === 'Close') await user.click(screen.getByRole('button', { name: 'Close' }));
    else await user.keyboard(how);
    await settled([]);
    await layers();
  }
  expect(window.history.length).toBe(length + 1);
  await leaves();
});

it('opens nothing again by Forward, and Back leaves the page afterwards', async () => {
  const user = await open();
  await user.click(screen.getByRole('button', { name: 'Open dialog' }));
  await layers();
  back();
  await settled([]);
  const goes = vi.spyOn(window.history, 'go');
  window.history.forward();
  await waitFor(() => expect(goes).toHaveBeenCalledWith(-1));
  goes.mockRestore();
  await settled([]);
  await layers();
  await leaves();
});

it('opens a page from a dialog above the page beneath', async () => {
  const user = await open();
  await user.click(screen.getByRole('button', { name: 'Open dialog' }));
  await layers();
  await user.click(screen.getByRole('link', { name: 'Other page' }));
  await screen.findByRole('heading', { name: 'other' });
  back();
  await screen.findByRole('heading', { name: 'Page' });
  await settled([]);
  await leaves();
});

it('a menu that opens a dialog gives it its entry', async () => {
  const user = await open();
  await user.click(screen.getByRole('button', { name: 'Menu' }));
  await user.click(await screen.findByRole('menuitem', { name: 'Dialog by menu' }));
  await settled(['First']);
  expect(window.history.length).toBe(length + 1);
  back();
  await settled([]);
  await leaves();
});

it.each(['Back', '{Escape}'])(
  'a record that the page’s own link opened is closed by %s, and its entry goes with it',
  async (how) => {
    const user = await open();
    await user.click(screen.getByRole('link', { name: 'Record' }));
    await settled(['Record 1'], '/page?record=1');
    await layers();
    if (how === 'Back') back();
    else await user.keyboard(how);
    await settled([]);
    await waitFor(() => expect(history.state).not.toHaveProperty('beneath', location.href));
    await leaves();
  },
);

it('a record that the page was loaded with is closed by Back', async () => {
  await open('/page?record=1');
  await settled(['Record 1'], '/page?record=1');
  await layers();
  back();
  await settled([]);
  await leaves();
});
