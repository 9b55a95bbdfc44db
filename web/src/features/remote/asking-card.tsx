import type { RemoteSession } from '@palisade/contract/remote';
import { IconBuildingStore, IconCalendarCheck, IconCheck, IconUserQuestion, IconX } from '@tabler/icons-react';
import { sentenceOf } from '#api/call.ts';
import { Button } from '#ui/button.tsx';
import { Countdown } from '#ui/countdown.tsx';
import { Face } from '#ui/face.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { describeDate } from '#ui/moment.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { useDecline, useTalkOnly } from './joined.queries.ts';
import { missingToShare, type NotShown, share, useSharing } from './sharing.ts';

const MAY = ['See the screen, window, or tab you choose', 'Point and draw on its picture', 'Write to you in the session chat'];
const MAY_NOT = [
  'Press or type anything, unless you allow it later',
  'See anything you don’t choose',
  'Stay after you press End session',
];

const NOT_SHOWN: Record<NotShown, string> = {
  refused: 'Nothing is shared, because your browser was told not to. Press Approve to try again.',
  unreadable:
    'Your browser couldn’t read the screen. On a Mac, allow it in System Settings, Privacy & Security, Screen Recording. Press Approve to try again.',
};

export const UNABLE = {
  browser: 'This browser cannot share a screen; on phones none can. Write to the technician or send a photo instead.',
  secure_page:
    'Screen sharing needs https, and this page was not opened over a secure connection. Ask your provider for its https address.',
} as const;

/** The technician's request to see the screen, with both answers. No answer counts as a refusal. */
export function AskingCard({ session }: { session: RemoteSession }) {
  const { technician, due_at } = session;
  const { isChoosing, notShown, error } = useSharing();
  const decline = useDecline(session.id);
  const talk = useTalkOnly(session.id);
  const missing = missingToShare();
  const refused = error ?? decline.error ?? talk.error;
  const name = technician?.name ?? session.support_agent ?? '';
  return (
    <Stack as="section" gap="4" className="card glow" data-tone="attention" aria-label="Open session">
      <Grid columns="lead" gap="4" align="center">
        <Face name={name} size="l" />
        <div>
          <Row as="p" inline gap="1" className="bold base amber" role="status">
            <IconUserQuestion size={18} stroke={1.7} aria-hidden="true" />
            Someone asks to see your screen
          </Row>
          <h2 className="title break">
            <Sentence text="{name} has joined your session" parts={{ name: <bdi>{name}</bdi> }} />
          </h2>
          <Row as="ul" gap="4" rowGap="1" align="stretch" className="base muted above-1">
            {technician && (
              <Row as="li" inline gap="1">
                <IconBuildingStore size={16} stroke={1.7} aria-hidden="true" />
                <Sentence text="Works for {provider}" parts={{ provider: <bdi>{technician.provider}</bdi> }} />
              </Row>
            )}
            {technician && technician.staff_since !== null && (
              <Row as="li" inline gap="1">
                <IconCalendarCheck size={16} stroke={1.7} aria-hidden="true" />
                {`On its staff since ${describeDate(technician.staff_since)}`}
              </Row>
            )}
          </Row>
        </div>
      </Grid>
      <p className="medium">Ask them to say this name. If it’s different, or if they called you, press Decline.</p>
      <Grid columns="fit-l" gap="3">
        <Grants title="They will be able to" grants={MAY} isAllowed />
        <Grants title="They will not be able to" grants={MAY_NOT} />
      </Grid>
      {missing && <p className="surface-amber pad-m amber base medium">{UNABLE[missing]}</p>}
      {notShown && (
        <p role="alert" className="surface-amber pad-m amber base medium">
          {NOT_SHOWN[notShown]}
        </p>
      )}
      <Row gap="2" phone="fill">
        {missing === undefined && (
          <Button size="l" loading={isChoosing} onClick={() => void share(session)}>
            Approve
          </Button>
        )}
        <Button variant="quiet" size="l" loading={decline.isPending} onClick={() => decline.mutate()}>
          Decline
        </Button>
        <Button
          variant={missing === undefined ? 'text' : 'primary'}
          size="l"
          loading={talk.isPending}
          onClick={() => talk.mutate()}
        >
          Approve without a screen
        </Button>
      </Row>
      <p className="sub">
        {missing === undefined && 'Next, your browser asks what to share. Nothing is shared before you choose. '}
        {due_at !== null && (
          <Sentence text="This request expires in {time}." parts={{ time: <Countdown until={Date.parse(due_at)} /> }} />
        )}
      </p>
      {refused && (
        <p role="alert" className="span full base red">
          {sentenceOf(refused)}
        </p>
      )}
    </Stack>
  );
}

function Grants({ title, grants, isAllowed = false }: { title: string; grants: readonly string[]; isAllowed?: boolean }) {
  const Icon = isAllowed ? IconCheck : IconX;
  return (
    <div className="pad-m surface-plain">
      <h3 className="below-2 small bold muted">{title}</h3>
      <Stack as="ul" gap="1" className="base">
        {grants.map((grant) => (
          <Grid as="li" columns="lead" gap="2" align="start" key={grant}>
            <Icon className={isAllowed ? 'accent above-1' : 'red above-1'} size={16} stroke={2} aria-hidden="true" />
            {grant}
          </Grid>
        ))}
      </Stack>
    </div>
  );
}
