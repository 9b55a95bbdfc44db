import type { JoinedSession } from '@palisade/contract/remote';
import type { LiveSession, Side, Voice } from '@palisade/contract/remote-record';
import { act, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { keepEventsOpen } from '#api/events.ts';
import { MARIA } from '#api/fake-records.ts';
import { FakeServer } from '#api/fake-server.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
import { sessionOf } from './fake-sessions.ts';
import { mute, stopVoice } from './voice.ts';
import { VoicePart } from './voice-part.tsx';

const CURSOR = '01890a5d-ac96-774b-bcce-b302099a8057';

class FakeMicrophone extends EventTarget {
  enabled = true;
  readyState = 'live';

  stop() {
    this.readyState = 'ended';
  }
}

const server = FakeServer.ofEachTest(MARIA);
let close: () => void;
let session: JoinedSession;
let opened: FakeMicrophone[];
let ask: ReturnType<typeof vi.fn<() => Promise<unknown>>>;

const said = () => server.socket.sent.flatMap((frame) => (frame.kind === 'remote_signal' ? [frame.signal] : []));
function tell(told: Partial<LiveSession>) {
  const event = { kind: 'remote_changed' as const, session: { ...session, ...told } };
  act(() => server.socket.say({ kind: 'event', id: null, topic: { session_id: session.id }, event }));
}

function visit(
  side: Side = 'technician',
  voice: { customer: Voice; technician: Voice } = { customer: 'off', technician: 'off' },
) {
  session = sessionOf({ status: 'active', support_agent: 'tina', voice });
  renderForTest(<VoicePart session={session} side={side} other={side === 'customer' ? 'tina' : 'maria'} hasCode={false} />);
}
const press = (name: string) => userEvent.click(screen.getByRole('button', { name }));

beforeEach(() => {
  vi.spyOn(console, 'error').mockReturnValue();
  close = keepEventsOpen('token-1');
  server.socket.open();
  server.socket.say({ kind: 'welcome', cursor: CURSOR, missed: false, heartbeat_ms: 25_000 });
  opened = [];
  ask = vi.fn(async () => {
    const microphone = new FakeMicrophone();
    opened.push(microphone);
    return { getAudioTracks: () => [microphone] };
  });
  vi.stubGlobal('isSecureContext', true);
  Object.defineProperty(navigator, 'mediaDevices', { configurable: true, value: { getUserMedia: ask } });
});

afterEach(() => {
  act(() => stopVoice());
  close();
});

describe('one’s own voice', () => {
  it('is turned on by a press, muted at first, and closed with the session', async () => {
    visit();
    expect(ask).not.toHaveBeenCalled();
    await press('Turn my voice on');
    expect(await screen.findByText('maria has not turned their voice on. You are muted.')).toBeVisible();
    expect(opened[0]?.enabled).toBe(false);
    expect(said()).toEqual([{ type: 'voice', state: 'muted' }]);
    await press('Unmute');
    expect(opened[0]?.enabled).toBe(true);
    expect(said().at(-1)).toEqual({ type: 'voice', state: 'open' });
    await press('Mute');
    expect(opened[0]?.enabled).toBe(false);
    tell({ status: 'completed', phase: 'ended', version: 9 });
    expect(opened[0]?.readyState).toBe('ended');
    expect(screen.getByRole('button', { name: 'Turn my voice on' })).toBeVisible();
  });

  it('is turned off again by a press', async () => {
    visit('customer');
    await press('Turn my voice on');
    await press('Turn my voice off');
    expect(opened[0]?.readyState).toBe('ended');
    expect(said().at(-1)).toEqual({ type: 'voice', state: 'off' });
  });

  it('is said again by a page that was cut off for a moment', async () => {
    visit();
    await press('Turn my voice on');
    tell({ version: 3 });
    expect(said()).toEqual([
      { type: 'voice', state: 'muted' },
      { type: 'voice', state: 'muted' },
    ]);
  });

  // proves: remote-19
  it.each([
    ['NotAllowedError', /blocks the microphone/u],
    ['NotFoundError', /No microphone found/u],
    ['NotReadableError', /Another program may be using/u],
  ])('is off after %s, and says why', async (name, words) => {
    visit();
    ask.mockRejectedValueOnce(new DOMException('', name));
    await press('Turn my voice on');
    expect(await screen.findByRole('alert')).toHaveTextContent(words);
    expect(said()).toEqual([]);
    await press('Turn my voice on');
    expect(await screen.findByRole('button', { name: 'Unmute' })).toBeVisible();
  });

  // proves: remote-20
  it('is muted when the microphone is unplugged, and Unmute opens another one', async () => {
    visit();
    await press('Turn my voice on');
    await press('Unmute');
    act(() => void opened[0]?.dispatchEvent(new Event('ended')));
    expect(await screen.findByRole('alert')).toHaveTextContent('Your microphone was unplugged');
    expect(said().at(-1)).toEqual({ type: 'voice', state: 'muted' });
    await press('Unmute');
    expect(await screen.findByRole('button', { name: 'Mute' })).toBeVisible();
    expect(opened).toHaveLength(2);
    expect(opened[1]?.enabled).toBe(true);
  });

  it('opens one microphone where two presses ask for it at once', async () => {
    visit();
    await press('Turn my voice on');
    act(() => void opened[0]?.dispatchEvent(new Event('ended')));
    await act(async () => void (await Promise.all([mute(false), mute(false)])));
    expect(opened.slice(1).map(({ readyState }) => readyState)).toEqual(['live', 'ended']);
    expect(opened[1]?.enabled).toBe(true);
  });

  it('that is turned on while the session ends closes the microphone', async () => {
    visit();
    const { promise, resolve } = Promise.withResolvers<unknown>();
    ask.mockReturnValueOnce(promise);
    await press('Turn my voice on');
    expect(screen.getByText('Your browser asks whether it may use the microphone.')).toBeVisible();
    act(() => stopVoice());
    const late = new FakeMicrophone();
    await act(async () => resolve({ getAudioTracks: () => [late] }));
    expect(late.readyState).toBe('ended');
  });
});

describe('the voice of the other side', () => {
  it('is an invitation that may be put off', async () => {
    visit('customer', { customer: 'off', technician: 'muted' });
    expect(screen.getByRole('alert')).toHaveTextContent(
      'tina would like to talk with you here. They can’t hear you until you turn your voice on.',
    );
    await press('Not now');
    expect(screen.queryByRole('alert')).not.toBeInTheDocument();
    expect(screen.getByRole('button', { name: 'Turn my voice on' })).toBeVisible();
    expect(ask).not.toHaveBeenCalled();
  });
});
