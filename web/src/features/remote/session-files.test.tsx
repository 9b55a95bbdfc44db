import type { JoinedSession } from '@palisade/contract/remote';
import { downloadSessionFile, listSessionFiles, refuseSessionFile, type SessionFile } from '@palisade/contract/remote-files';
import type { GrantKind } from '@palisade/contract/remote-grant';
import { grantInSession, revokeInSession } from '@palisade/contract/remote-session';
import { act, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { MARIA } from '#api/fake-records.ts';
import { at, FakeServer, refusal, reply } from '#api/fake-server.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
import { sessionOf } from './fake-sessions.ts';
import { Allow, SessionFiles } from './session-files.tsx';

const server = FakeServer.ofEachTest(MARIA);

const grantOf = (grant: GrantKind) => ({ grant, granted_at: '2026-11-20T10:02:00.000Z', granted_by: 'maria', device: null });
const running = (...grants: GrantKind[]): JoinedSession =>
  sessionOf({ status: 'active', support_agent: '<i>tina</i>', grants: grants.map(grantOf) });

function fileOf(session: JoinedSession, parts: Partial<SessionFile> = {}): SessionFile {
  return {
    id: '01930000-0000-7000-8000-0000000000f1',
    session_id: session.id,
    kind: 'file',
    side: 'technician',
    author: 'tina',
    filename: 'setup <b>1</b>.txt',
    size: 2_048,
    status: 'clean',
    threat: null,
    sent_at: '2026-11-20T10:03:00.000Z',
    deleted_at: null,
    ...parts,
  };
}

function visit(session: JoinedSession, files: SessionFile[], side: 'customer' | 'technician' = 'customer') {
  server.answer(at(listSessionFiles, session), files);
  return renderForTest(<SessionFiles session={session} side={side} />);
}

beforeEach(() => {
  vi.spyOn(console, 'error').mockReturnValue();
});

describe('files of a session', () => {
  it('say how each stands and why one did not arrive', async () => {
    const session = running('files');
    const states = [
      { status: 'infected', threat: 'EICAR-Test-File' },
      { status: 'unread' },
      { status: 'failed' },
      { status: 'refused' },
      { status: 'scanning' },
      { status: 'recording', kind: 'recording' },
    ] as const;
    visit(
      session,
      states.map((state, index) => fileOf(session, { ...state, id: `01930000-0000-7000-8000-0000000000a${index}` })),
    );
    const rows = within(await screen.findByRole('list', { name: 'Files of the session' })).getAllByRole('listitem');
    for (const [index, words] of [
      'Infected (EICAR-Test-File): it did not arrive',
      'couldn’t check all of it. It did not arrive',
      'couldn’t scan it',
      'Refused by the customer',
      'being scanned',
      'Recording or uploading',
    ].entries())
      expect(rows[index]).toHaveTextContent(words);
    expect(screen.queryByRole('button', { name: /^Download/u })).not.toBeInTheDocument();
    expect(screen.getByText('Files are deleted a day after the session.')).toBeVisible();
  });

  it('are downloaded or refused by the customer, who is told why that failed', async () => {
    const session = running();
    const file = fileOf(session);
    visit(session, [file]);
    server.on(at(downloadSessionFile, file), refusal('conflict', { detail: 'We no longer keep this file.' }));
    await userEvent.click(await screen.findByRole('button', { name: 'Download setup <b>1</b>.txt' }));
    expect(await screen.findByRole('alert')).toHaveTextContent('We no longer keep this file.');
    server.on(at(refuseSessionFile, file), () => {
      server.answer(at(listSessionFiles, session), [{ ...file, status: 'refused' }]);
      return reply(refuseSessionFile, { ...file, status: 'refused' });
    });
    await userEvent.click(screen.getByRole('button', { name: 'Refuse setup <b>1</b>.txt' }));
    expect(await screen.findByText(/Refused by the customer, and deleted/u)).toBeVisible();
  });

  it('are sent while they are allowed, and a refusal is said', async () => {
    const session = running('files');
    visit(session, [], 'technician');
    const [small, large] = [new File(['words'], 'a.txt'), new File(['x'], 'large.bin')];
    Object.defineProperty(large, 'size', { value: 26 * 1024 * 1024 });
    await userEvent.upload(screen.getByLabelText('Files to send'), [small, large]);
    expect(screen.getByRole('alert')).toHaveTextContent('A file has at most 25 MB.');
    expect(server.uploads.map(({ file }) => file.name)).toEqual(['a.txt']);
    const text = JSON.stringify(fileOf(session, { filename: 'a.txt' }));
    act(() => server.uploads[0]?.answer({ status: 201, text }));
    await waitFor(() => expect(screen.queryByRole('progressbar')).not.toBeInTheDocument());
    await userEvent.click(screen.getByRole('button', { name: 'Put large.bin away' }));
    expect(screen.queryByRole('alert')).not.toBeInTheDocument();
  });
});

describe('parts beside the picture', () => {
  it('is allowed and taken back by the customer, and not before', async () => {
    const session = running();
    visit(session, []);
    expect(screen.queryByRole('button', { name: 'Send a file' })).not.toBeInTheDocument();
    server.answer(at(grantInSession, session), session);
    await userEvent.click(screen.getByRole('button', { name: 'Allow files' }));
    await waitFor(() =>
      expect(server.callsOf(at(grantInSession, session))[0]?.body).toEqual({ grant: 'files', device_id: null }),
    );
  });

  it('says that the picture is recorded while it is, with its end', async () => {
    const session = running('recording');
    const made = fileOf(session, { kind: 'recording', status: 'recording', size: 0 });
    server.answer(at(listSessionFiles, session), [made]);
    renderForTest(<Allow session={session} grant="recording" />);
    expect(await screen.findByText(/Your shared screen is being recorded/u)).toBeVisible();
    server.answer(at(revokeInSession, session), session);
    await userEvent.click(screen.getByRole('button', { name: 'Stop recording' }));
    await waitFor(() => expect(server.callsOf(at(revokeInSession, session))[0]?.body).toEqual({ grant: 'recording' }));
  });

  it('is asked for by the technician where it is not allowed', async () => {
    visit(running(), [], 'technician');
    await userEvent.click(screen.getByRole('button', { name: 'Ask to exchange files' }));
    expect(screen.getByText(/Waiting for the customer to allow/u)).toBeVisible();
    expect(screen.queryByRole('button', { name: 'Allow files' })).not.toBeInTheDocument();
  });
});
