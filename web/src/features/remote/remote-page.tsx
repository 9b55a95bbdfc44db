import { IconExternalLink, IconHeadset, IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';
import { useConfig } from '#api/config.ts';
import { useIsStaff } from '#api/policies.ts';
import { useSupportLinks } from '#api/support-links.ts';
import { useRemoteWaiting } from '#domain/conversation/desk-counts.ts';
import { RemoteRequests } from '#domain/session/remote-requests.tsx';
import { Button } from '#ui/button.tsx';
import { ButtonLink, ScreenLink } from '#ui/button-link.tsx';
import { Card } from '#ui/card.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { Lead } from '#ui/lead.tsx';
import { useMinute } from '#ui/moment.tsx';
import { Page } from '#ui/page.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { LoadingRows } from '#ui/states.tsx';
import { JoinedSessions } from './joined-sessions.tsx';
import { NewSessionDialog } from './new-session-dialog.tsx';
import { OwnSessionFlow } from './own-session.tsx';
import { isOpen, sessionsQuery, useSessionEvents } from './remote.queries.ts';
import { SessionHistory } from './session-history.tsx';
import { type Step, Steps } from './steps.tsx';
import './portal-page.css';

/** Numbered as in the stepper of an open session. `number` is the provider's published phone number. */
const stepsOf = (number: string | undefined): readonly Step[] => [
  {
    title: 'Get a code',
    sentence: number ? (
      'Call support on a number you know. Then press New Session.'
    ) : (
      <Sentence text="Ask in {chat} first. Then press New Session." parts={{ chat: <Link to="/chat">Support Chat</Link> }} />
    ),
  },
  {
    title: 'Approve the technician',
    sentence: 'They enter your code and you see their name. You approve or decline.',
  },
  { title: 'Share your screen', sentence: 'Choose a screen, window, or tab.' },
  { title: 'Work together', sentence: 'They point, you press. Pause whenever you like.' },
  { title: 'End the session', sentence: 'Press End session whenever you want. Your code can’t be used again.' },
];

export function RemotePage() {
  const { data: sessions, isPending } = useQuery(sessionsQuery);
  useSessionEvents();
  const now = useMinute();
  const { remote_portal } = useSupportLinks();
  const phone = useConfig()?.support.phone;
  const [isStarting, setIsStarting] = useState(false);
  const hasOpen = sessions?.some(isOpen) ?? false;
  const isStaff = useIsStaff();
  const hasSessions = sessions !== undefined && sessions.length > 0;
  const portal = (
    <ButtonLink href={remote_portal} isNewWindow icon={IconExternalLink}>
      Open remote-support portal
    </ButtonLink>
  );
  const hasGuide = !hasOpen && !isStaff;
  const guide = hasGuide && (
    <Card title="How it works" level="sunken">
      <Stack gap="4" align="start">
        <Steps steps={stepsOf(phone)} />
        {portal}
      </Stack>
    </Card>
  );
  return (
    <Page
      title="Remote Access"
      sentence={
        isStaff
          ? 'Help customers on their screens. New Session is for help on yours.'
          : 'Get help from a technician you trust. Only your code lets them in.'
      }
      aside={
        !hasGuide && (
          <Row phone="fill" gap="2" className={`remote__actions ${hasOpen ? 'off-phone' : ''}`}>
            {portal}
            {isStaff && !hasOpen && (
              <Button variant="quiet" icon={IconPlus} stroke={2} aria-haspopup="dialog" onClick={() => setIsStarting(true)}>
                New Session
              </Button>
            )}
          </Row>
        )
      }
    >
      {/* The open session is first on the page but loaded last, so the rest waits for it. */}
      {isPending && <LoadingRows label="Loading your sessions" />}
      {isStaff && !isPending && <Requests />}
      {!isPending && (hasOpen || !isStaff) && (
        <OwnSessionFlow sessions={sessions ?? []} now={now} onStart={() => setIsStarting(true)} />
      )}
      {isStaff && !isPending && <JoinedSessions />}
      <Grid
        gap="4"
        align="start"
        columns={guide === false ? undefined : 'side'}
        tablet="stack"
        style={isPending ? { display: 'none' } : undefined}
      >
        {!hasSessions && guide}
        {(hasSessions || !isStaff) && <SessionHistory />}
        {hasSessions && guide}
      </Grid>
      {isStarting && <NewSessionDialog onClose={() => setIsStarting(false)} offersPortal />}
    </Page>
  );
}

/** The customers who wait with a code, first on the page of a technician. */
function Requests() {
  if (useRemoteWaiting() > 0) return <RemoteRequests isFirst />;
  return (
    <Lead
      tone="unknown"
      icon={IconHeadset}
      title="No customer waits for remote help."
      sentence="They give you their code. You enter it in the portal."
      action={<ScreenLink to="/portal">Enter their code</ScreenLink>}
    />
  );
}
