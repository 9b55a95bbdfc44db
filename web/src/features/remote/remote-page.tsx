import { IconExternalLink, IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSupportLinks } from '#api/support-links.ts';
import { Button } from '#ui/button.tsx';
import { ButtonLink } from '#ui/button-link.tsx';
import { Card } from '#ui/card.tsx';
import { useMinute } from '#ui/moment.tsx';
import { Page } from '#ui/page.tsx';
import { LoadingRows } from '#ui/states.tsx';
import { NewSessionDialog } from './new-session-dialog.tsx';
import { JustEnded, OwnSession } from './own-session.tsx';
import { isOpen, sessionsQuery, useSessionEvents } from './remote.queries.ts';
import { NoSessionBanner } from './session-banner.tsx';
import { SessionHistory } from './session-history.tsx';
import { type Step, Steps } from './steps.tsx';
import './remote-page.css';

const STEPS: readonly Step[] = [
  {
    title: 'Talk to support first',
    sentence: 'Call the number of your support yourself, so that you know who is on the other side.',
  },
  { title: 'Press New Session', sentence: 'You get a code of nine letters and digits. It is valid for 30 minutes.' },
  {
    title: 'Read the code aloud',
    sentence: 'The technician enters it in the remote-support portal, and you see who asks. You approve, or decline.',
  },
  {
    title: 'Solve it together',
    sentence: 'You choose the screen, window or tab that they see. They point at it; you press. Pause whenever you like.',
  },
  { title: 'End the session', sentence: 'Press Stop whenever you want. The code is worth nothing afterwards.' },
];

export function RemotePage() {
  const { data: sessions, isPending } = useQuery(sessionsQuery);
  useSessionEvents();
  const now = useMinute();
  const { remote_portal } = useSupportLinks();
  const [isStarting, setIsStarting] = useState(false);
  return (
    <Page
      title="Remote Access"
      sentence="A technician whom you trust can help you. You give them a code; nobody else has it."
      aside={
        <div className="remote__actions" data-open={sessions?.some(isOpen)}>
          <ButtonLink href={remote_portal} isNewWindow icon={<IconExternalLink size={18} stroke={1.7} aria-hidden="true" />}>
            Open remote-support portal
          </ButtonLink>
          <Button
            variant={sessions?.some(isOpen) ? 'quiet' : 'primary'}
            icon={<IconPlus size={18} stroke={2} aria-hidden="true" />}
            aria-haspopup="dialog"
            onClick={() => setIsStarting(true)}
          >
            New Session
          </Button>
        </div>
      }
    >
      {sessions?.filter(isOpen).map((session) => (
        <OwnSession key={session.id} session={session} />
      ))}
      {sessions && <JustEnded sessions={sessions} now={now} />}
      {sessions && !sessions.some(isOpen) && <NoSessionBanner />}
      {/* Whether a session is open stands first, and is known last. */}
      {isPending && <LoadingRows label="Loading your sessions" />}
      <div className="remote__columns" style={isPending ? { display: 'none' } : undefined}>
        <SessionHistory />
        <Card title="How it works">
          <Steps steps={STEPS} />
        </Card>
      </div>
      {isStarting && <NewSessionDialog onClose={() => setIsStarting(false)} opensPortal />}
    </Page>
  );
}
