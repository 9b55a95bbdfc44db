import { beginRecording } from '@palisade/contract/remote-files';
import { act, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, it, vi } from 'vitest';
import { MARIA } from '#api/fake-records.ts';
import { at, FakeServer } from '#api/fake-server.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
import { sessionOf } from './fake-sessions.ts';
import { RecordingLine } from './recording-line.tsx';

/** A recorder whose pictures come when a test says so. */
class FakeRecorder extends EventTarget {
  static last: FakeRecorder | undefined;
  static isTypeSupported = () => true;
  state = 'inactive';

  constructor() {
    super();
    FakeRecorder.last = this;
  }

  start(): void {
    this.state = 'recording';
  }

  deliver(bytes: string): void {
    this.dispatchEvent(Object.assign(new Event('dataavailable'), { data: new Blob([bytes]) }));
  }

  stop(): void {
    this.state = 'inactive';
    this.deliver('');
    this.dispatchEvent(new Event('stop'));
  }
}

const isTrack = (value: unknown): value is MediaStreamTrack => value instanceof EventTarget;
function trackOf(): MediaStreamTrack {
  const track = Object.assign(new EventTarget(), { clone: trackOf, stop: () => {} });
  if (!isTrack(track)) throw new TypeError('a track is an event target');
  return track;
}

it('says that it records once a picture is recorded, and hands in none that ended before', async () => {
  vi.stubGlobal('MediaRecorder', FakeRecorder);
  vi.stubGlobal('MediaStream', class {});
  const session = sessionOf({
    status: 'active',
    grants: [{ grant: 'recording', granted_at: '2026-11-20T10:02:00.000Z', granted_by: 'maria', device: null }],
  });
  const server = new FakeServer(MARIA);
  const begun = {
    id: '01930000-0000-7000-8000-0000000000f1',
    session_id: session.id,
    kind: 'recording',
    side: 'technician',
    author: 'tina',
    filename: 'remote-session.webm',
    size: 0,
    status: 'recording',
    threat: null,
    sent_at: '2026-11-20T10:03:00.000Z',
    deleted_at: null,
  } as const;
  server.answer(at(beginRecording, session), begun);
  renderForTest(<RecordingLine session={session} track={trackOf()} isPaused={false} />);
  for (const hasPicture of [false, true]) {
    await userEvent.click(screen.getByRole('button', { name: 'Record' }));
    expect(await screen.findByText('Waiting for the first picture to record.')).toBeVisible();
    if (hasPicture) {
      act(() => FakeRecorder.last?.deliver('picture'));
      expect(screen.getByText('You record the picture, without voices.')).toBeVisible();
    }
    await userEvent.click(screen.getByRole('button', { name: 'End the recording' }));
    if (hasPicture) expect(screen.getByText(/^The recording is on its way/u)).toBeVisible();
    else expect(screen.getByRole('alert')).toHaveTextContent('Nothing was recorded: it ended before the first picture.');
  }
});
