import { IconExternalLink, IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSupportLinks } from '#api/support-links.ts';
import { Button } from '#ui/button.tsx';
import { ButtonLink } from '#ui/button-link.tsx';
import { Card } from '#ui/card.tsx';
import { Grid, Row } from '#ui/layout.tsx';
import { useMinute } from '#ui/moment.tsx';
import { Page } from '#ui/page.tsx';
import { LoadingRows } from '#ui/states.tsx';
import { NewSessionDialog } from './new-session-dialog.tsx';
import { OwnSessionFlow } from './own-session.tsx';
import { isOpen, sessionsQuery, useSessionEvents } from './remote.queries.ts';
import { SessionHistory } from './session-history.tsx';
import { type Step, Steps } from './steps.tsx';
import './remote-page.css';

const STEPS: readonly Step[] = [
  {
    title: 'Call support first',
    sentence: 'Use a number you know, so you’re sure who is helping you.',
  },
  { title: 'Press New Session', sentence: 'You get a code with nine letters and digits. It lasts 30 minutes.' },
  {
    title: 'Read the code aloud',
    sentence: 'The technician enters it and you see their name. You approve or decline.',
  },
  {
    title: 'Solve it together',
    sentence: 'Choose a screen, window, or tab to share. They point, you press.',
  },
  { title: 'End the session', sentence: 'Press End session whenever you want. Your code can’t be used again.' },
];

export function RemotePage() {
  const { data: sessions, isPending } = useQuery(sessionsQuery);
  useSessionEvents();
  const now = useMinute();
  const { remote_portal } = useSupportLinks();
  const [isStarting, setIsStarting] = useState(false);
  const hasOpen = sessions?.some(isOpen) ?? false;
  return (
    <Page
      title="Remote Access"
      sentence="Get help from a technician you trust. Only your code lets them in."
      aside={
        <Row gap="2" justify="end" className="remote__actions" data-open={hasOpen}>
          <ButtonLink href={remote_portal} isNewWindow icon={IconExternalLink}>
            Open remote-support portal
          </ButtonLink>
          {!hasOpen && (
            <Button icon={IconPlus} stroke={2} aria-haspopup="dialog" onClick={() => setIsStarting(true)}>
              New Session
            </Button>
          )}
        </Row>
      }
    >
      {sessions && <OwnSessionFlow sessions={sessions} now={now} />}
      {/* The open session is first on the page but loaded last, so the rest waits for it. */}
      {isPending && <LoadingRows label="Loading your sessions" />}
      <Grid
        gap="4"
        align="start"
        className="remote__columns"
        data-open={hasOpen}
        style={isPending ? { display: 'none' } : undefined}
      >
        <SessionHistory />
        {!hasOpen && (
          <Card title="How it works">
            <Steps steps={STEPS} />
          </Card>
        )}
      </Grid>
      {isStarting && <NewSessionDialog onClose={() => setIsStarting(false)} offersPortal />}
    </Page>
  );
}
