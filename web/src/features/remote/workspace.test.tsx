import type { JoinedSession } from '@palisade/contract/remote';
import { listSessionMessages } from '@palisade/contract/remote-session';
import { readSessionCustomer, writeNotes } from '@palisade/contract/remote-staff';
import { act, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { keepEventsOpen } from '#api/events.ts';
import { TINA } from '#api/fake-desk.ts';
import { at, FakeServer, refusal } from '#api/fake-server.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
import { sessionOf } from './fake-sessions.ts';
import { Workspace } from './workspace.tsx';

const CURSOR = '01890a5d-ac96-774b-bcce-b302099a8057';

const server = FakeServer.ofEachTest({ ...TINA });
let close: () => void;

beforeEach(() => {
  vi.spyOn(console, 'error').mockReturnValue();
  close = keepEventsOpen('token-1');
  server.socket.open();
  server.socket.say({ kind: 'welcome', cursor: CURSOR, missed: false, heartbeat_ms: 25_000 });
});

afterEach(() => close());

const said = (kind: string) => server.socket.sent.filter((frame) => frame.kind === kind);

function visit(parts: Partial<JoinedSession>): JoinedSession {
  const session = sessionOf({ status: 'active', support_agent: 'tina', is_customer_here: true, ...parts });
  server.answer(at(listSessionMessages, session), []);
  renderForTest(<Workspace session={session} />);
  return session;
}

describe('messages to the technician while there is no picture', () => {
  it.each([
    [{ status: 'pending', phase: 'claimed' }, 'Waiting for maria to approve'],
    [{ share: 'none', view: 'screen' }, 'They choose what to show.'],
    [{ share: 'stopped', view: 'screen' }, 'They stopped sharing, or loaded the page again. Ask them to press Share again.'],
    [{ share: 'none', view: 'talk' }, /They chose to show no screen/u],
    [{ phase: 'reconnecting', is_customer_here: false }, 'maria is disconnected'],
  ] as const)('%j', (parts, words) => {
    visit(parts);
    expect(screen.getByText(words)).toBeVisible();
  });

  it('says when the session will end', () => {
    visit({ share: 'stopped', view: 'screen', due_reason: 'share_stopped', due_at: new Date(Date.now() + 42_500).toISOString() });
    expect(screen.getByRole('timer')).toHaveTextContent(/^The session ends in 0:4\d\.$/u);
  });
});

describe('the place of a technician', () => {
  it('asks for an offer once something is shared and nothing has come', () => {
    const session = visit({ share: 'none', view: 'screen' });
    const topic = { session_id: session.id };
    expect(said('listen_remote')).toEqual([{ kind: 'listen_remote', session_id: session.id }]);
    const tell = (share: 'none' | 'running') =>
      act(() =>
        server.socket.say({ kind: 'event', id: null, topic, event: { kind: 'remote_changed', session: { ...session, share } } }),
      );
    tell('none');
    expect(said('remote_signal')).toEqual([]);
    tell('running');
    expect(said('remote_signal')).toEqual([{ kind: 'remote_signal', session_id: session.id, signal: { type: 'offer_wanted' } }]);
  });

  it('is one window’s at a time, and goes to where it is wanted', async () => {
    const session = visit({ share: 'running', view: 'screen' });
    act(() => server.socket.say({ kind: 'refused', topic: { session_id: session.id }, why: 'taken' }));
    expect(screen.getByText('You watch this session in another window')).toBeVisible();
    await userEvent.click(screen.getByRole('button', { name: 'Continue in this window' }));
    expect(said('listen_remote')).toHaveLength(2);
    expect(screen.queryByText('You watch this session in another window')).not.toBeInTheDocument();
  });
});

describe('beside the picture', () => {
  it('notes are kept, and a refusal is said', async () => {
    const session = visit({});
    const notes = at(writeNotes, session);
    server.on(notes, refusal('internal', { detail: 'Not now.' }));
    await userEvent.click(screen.getByRole('button', { name: 'Notes' }));
    expect(screen.getByRole('button', { name: 'Save notes' })).toBeDisabled();
    await userEvent.type(screen.getByLabelText('Notes'), 'Driver was old');
    await userEvent.click(screen.getByRole('button', { name: 'Save notes' }));
    expect(await screen.findByRole('alert')).toHaveTextContent('Not now.');
    server.answer(notes, { ...session, notes: 'Driver was old' });
    await userEvent.click(screen.getByRole('button', { name: 'Save notes' }));
    expect(await screen.findByText('Saved.')).toBeVisible();
    expect(server.callsOf(notes)[1]?.body).toEqual({ notes: 'Driver was old' });
  });

  it('the customer’s card is read when it is opened, and not before they have approved', async () => {
    const asked = visit({ status: 'pending', phase: 'claimed' });
    await userEvent.click(screen.getByRole('button', { name: 'Customer' }));
    expect(screen.getByText('You’ll see their details once they approve.')).toBeVisible();
    expect(server.callsOf(at(readSessionCustomer, asked))).toEqual([]);
  });

  it('the card says why it could not be read', async () => {
    const session = visit({});
    server.on(at(readSessionCustomer, session), refusal('conflict', { detail: 'It is over.' }));
    await userEvent.click(screen.getByRole('button', { name: 'Customer' }));
    expect(await screen.findByRole('alert')).toHaveTextContent('It is over.');
  });
});
