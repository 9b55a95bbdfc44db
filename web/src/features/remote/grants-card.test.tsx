import { listDevices } from '@palisade/contract/devices';
import type { RemoteSession } from '@palisade/contract/remote';
import { grantInSession, revokeInSession } from '@palisade/contract/remote-session';
import { act, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { keepEventsOpen } from '#api/events.ts';
import { deviceOf } from '#api/fake-devices.ts';
import { MARIA } from '#api/fake-records.ts';
import { at, FakeServer } from '#api/fake-server.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
import { sessionOf } from './fake-sessions.ts';
import { GrantsCard } from './grants-card.tsx';

const server = FakeServer.ofEachTest(MARIA);
let close: () => void;
const LAPTOP = deviceOf({ device_name: '<b>laptop</b>' });
const of = (grant: 'view' | 'control' | 'clipboard') => ({
  grant,
  granted_at: '2026-11-20T10:02:00.000Z',
  granted_by: 'maria',
  device: { id: LAPTOP.id, device_name: LAPTOP.device_name },
});

beforeEach(() => {
  vi.spyOn(console, 'error').mockReturnValue();
  close = keepEventsOpen('token-1');
});
afterEach(() => close());

/** The card of a session that changes. */
function Shown({ session, onShow }: { session: RemoteSession; onShow: (show: (changed: RemoteSession) => void) => void }) {
  const [shown, setShown] = useState(session);
  onShow(setShown);
  return <GrantsCard session={shown} />;
}

function visit(parts: Partial<RemoteSession> = {}, devices = [LAPTOP]) {
  const session = sessionOf({ status: 'active', support_agent: 'tina', ...parts });
  server.answer(listDevices, devices);
  const changes = [at(grantInSession, session), at(revokeInSession, session)];
  for (const change of changes) server.answer(change, session);
  let show: (changed: RemoteSession) => void = () => {};
  renderForTest(<Shown session={session} onShow={(set) => (show = set)} />);
  const asked = () => changes.flatMap((change) => server.callsOf(change).map(({ body }) => body));
  return { session, asked, show: (changed: RemoteSession) => show(changed) };
}

function askForControl({ id: session_id }: RemoteSession): void {
  const signal = { type: 'grant_wanted', grant: 'control' } as const;
  const event = { kind: 'remote_signal', session_id, from: 'technician', signal } as const;
  act(() => server.socket.say({ kind: 'event', id: null, topic: { session_id }, event }));
}

describe('grants of the technician', () => {
  it('is nothing until a switch is switched on, and the clipboard comes after the screen', async () => {
    const { asked } = visit();
    expect(screen.getByText(/No technician controls your computers/u)).toBeVisible();
    const control = await screen.findByRole('switch', { name: 'Control mouse and keyboard of <b>laptop</b>' });
    expect(control).not.toBeChecked();
    expect(screen.queryByRole('switch', { name: /clipboard/u })).toBeNull();
    expect(screen.queryByRole('button', { name: 'Stop control' })).toBeNull();
    await userEvent.click(control);
    expect(asked()).toEqual([{ grant: 'control', device_id: LAPTOP.id }]);
  });

  it('is said while it is so, and stopped by a button and by a key', async () => {
    const { asked } = visit({ grants: [of('control'), of('clipboard')] });
    expect(screen.getByRole('status')).toHaveTextContent('tina controls <b>laptop</b>. Move your mouse to take control back.');
    expect(await screen.findByRole('switch', { name: /clipboard/u })).toBeChecked();
    await userEvent.click(screen.getByRole('button', { name: 'Stop control' }));
    await userEvent.keyboard('{Alt>}{Shift>}[KeyC]{/Shift}{/Alt}');
    expect(asked()).toEqual([{ grant: 'all' }, { grant: 'all' }]);
  });

  it('is asked for, and silence is no answer', async () => {
    const { session, asked } = visit();
    await screen.findByRole('switch', { name: /Control mouse/u });
    server.socket.open();
    askForControl(session);
    expect(screen.getByRole('alert')).toHaveTextContent('tina asks to control your computer.');
    await userEvent.click(screen.getByRole('button', { name: 'Not now' }));
    expect(screen.queryByRole('alert')).toBeNull();
    expect(asked()).toEqual([]);
  });

  it('is not asked for anew by what was granted and taken back', async () => {
    const { session, show } = visit();
    server.socket.open();
    askForControl(session);
    expect(screen.getByRole('alert')).toBeVisible();
    act(() => show({ ...session, grants: [of('control')] }));
    expect(screen.queryByRole('alert')).toBeNull();
    act(() => show(session));
    expect(screen.getByText(/No technician controls your computers/u)).toBeVisible();
    expect(screen.queryByRole('alert')).toBeNull();
  });

  it('says why it ended, and what is missing where nothing can be controlled', async () => {
    const ended = { grants: ['control' as const], why: 'own_input' as const, detail: null, at: '2026-11-20T10:03:00.000Z' };
    visit({ grants_ended: ended }, [deviceOf({ state: 'offline' })]);
    expect(screen.getByRole('status')).toHaveTextContent('The customer moved their own mouse.');
    expect(await screen.findByText(/To allow control, add a computer in Devices/u)).toBeVisible();
  });
});
