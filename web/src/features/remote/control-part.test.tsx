import type { JoinedSession } from '@palisade/contract/remote';
import { act, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { expect, it } from 'vitest';
import { renderForTest } from '#ui/render-for-test.tsx';
import { ControlPart } from './control-part.tsx';
import { sessionOf } from './fake-sessions.ts';

const ASKED = 'You asked maria for control. They can decline or not answer.';

/** The part of a session that changes. */
function Shown({ session, onShow }: { session: JoinedSession; onShow: (show: (changed: JoinedSession) => void) => void }) {
  const [shown, setShown] = useState(session);
  onShow(setShown);
  return <ControlPart session={shown} />;
}

it('has asked until it is granted, and not any more once that is taken back', async () => {
  const session = sessionOf({ status: 'active', support_agent: 'tina' });
  let show: (changed: JoinedSession) => void = () => {};
  renderForTest(<Shown session={session} onShow={(set) => (show = set)} />);
  await userEvent.click(screen.getByRole('button', { name: 'Ask for control' }));
  expect(screen.getByRole('status')).toHaveTextContent(ASKED);
  // The screen of a device is a part of its own.
  const control = { grant: 'control', granted_at: '2026-11-20T10:02:00.000Z', granted_by: 'maria', device: null } as const;
  act(() => show({ ...session, grants: [control] }));
  expect(screen.getByRole('button', { name: 'Give control back' })).toBeVisible();
  const ended = { grants: ['control' as const], why: 'customer' as const, detail: null, at: '2026-11-20T10:03:00.000Z' };
  act(() => show({ ...session, grants_ended: ended }));
  expect(screen.getByRole('status')).toHaveTextContent(/^Control is off\. The customer took it back\.$/u);
});
