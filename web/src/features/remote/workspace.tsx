import { Textarea } from '@mantine/core';
import { type EndReason, type JoinedSession, NOTES_LENGTH_MAXIMUM } from '@palisade/contract/remote';
import { IconFiles, IconHourglass, IconMessages, IconNotes, IconScreenShareOff, IconUser, IconWindow } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { sentenceOf } from '#api/call.ts';
import { CustomerCard } from '#domain/conversation/customer-card.tsx';
import { Button } from '#ui/button.tsx';
import { Countdown } from '#ui/countdown.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { Grid, Row } from '#ui/layout.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';
import { describeAge, useSecond } from '#ui/moment.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { EmptyState, ErrorNotice, LoadingRows } from '#ui/states.tsx';
import { CodeLine } from './code-line.tsx';
import type { Link } from './connection.ts';
import { ControlPart } from './control-part.tsx';
import { EndSession } from './end-session.tsx';
import { sessionCustomerQuery, useWriteNotes } from './joined.queries.ts';
import { describeLink } from './link-words.ts';
import { RecordingLine } from './recording-line.tsx';
import { useCompleteJoined } from './remote.queries.ts';
import { SessionChat } from './session-chat.tsx';
import { SessionFiles } from './session-files.tsx';
import { useQuality, useWatch } from './use-watch.ts';
import { WatchedPicture } from './watched-picture.tsx';
import '#ui/segments.css';
import './workspace.css';

const VoicePart = lazyPart(async () => (await import('./voice-part.tsx')).VoicePart);

/** The technician's side of a requested or running session. */
export function Workspace({ session }: { session: JoinedSession }) {
  const [turn, setTurn] = useState(0);
  const watch = useWatch(session, turn);
  const [chosen, setChosen] = useState<string>();
  const picture = watch.pictures.find(({ connection_id }) => connection_id === chosen) ?? watch.pictures[0];
  const quality = useQuality(picture?.connection_id, watch.stats);
  const complete = useCompleteJoined();
  const isWaiting = session.phase === 'claimed';
  return (
    <section className="card workspace" aria-label={`Session with ${session.customer}`}>
      <Row as="header" wrap={false} gap="4" rowGap="2" justify="between" className="pad-m">
        <div>
          <h2 className="large break">
            <bdi>{session.customer}</bdi>
          </h2>
          <Row as="p" gap="3" rowGap="0" className="sub">
            <bdi className="mono">{session.session_code}</bdi>
            {picture && quality !== undefined && (
              <span className="num workspace__quality" title="Frames that came, delay, way, size">
                {quality}
              </span>
            )}
          </Row>
        </div>
        {!isWaiting && <EndSession loading={complete.isPending} onClick={() => complete.mutate(session)} />}
      </Row>
      <Refusal error={complete.error} />
      <RecordingLine session={session} track={picture?.track} isPaused={watch.isPaused} />
      {!isWaiting && watch.place !== 'taken' && (
        <VoicePart session={session} side="technician" other={session.customer} hasCode={watch.code !== undefined} />
      )}
      <Grid className="workspace__columns line-above">
        <div className="workspace__stage shrink">
          {watch.pictures.length > 1 && (
            <Row as="fieldset" gap="1" className="workspace__screens shrink pad-s" aria-label="Screens">
              {watch.pictures.map(({ connection_id }, index) => (
                <Button
                  key={connection_id}
                  size="s"
                  variant="quiet"
                  aria-pressed={connection_id === picture?.connection_id}
                  onClick={() => setChosen(connection_id)}
                >{`Screen ${index + 1}`}</Button>
              ))}
            </Row>
          )}
          {watch.place === 'taken' ? (
            <Stage>
              <EmptyState
                icon={IconWindow}
                title="You watch this session in another window"
                sentence="The picture is in one window at a time."
                action={
                  <Button variant="quiet" onClick={() => setTurn(turn + 1)}>
                    Continue in this window
                  </Button>
                }
              />
            </Stage>
          ) : picture ? (
            <WatchedPicture
              key={picture.connection_id}
              picture={picture}
              customer={session.customer}
              isPaused={watch.isPaused}
              trouble={describeLink(watch.link)}
              onAgain={watch.link.state === 'failed' ? watch.again : undefined}
              mark={(mark) => watch.mark(picture.connection_id, mark)}
            />
          ) : (
            <Stage>
              {isWaiting ? (
                <WaitingRoom session={session} />
              ) : (
                <NoPicture session={session} link={watch.link} onAgain={watch.again} />
              )}
            </Stage>
          )}
          <ControlPart session={session} />
        </div>
        <Beside session={session} code={watch.code} />
      </Grid>
    </section>
  );
}

function Stage({ children }: { children: ReactNode }) {
  return <div className="workspace__empty center pad-l">{children}</div>;
}

/** Shown until the customer answers. */
function WaitingRoom({ session }: { session: JoinedSession }) {
  const now = useSecond();
  const asked_at = session.technician?.asked_at ?? session.joined_at;
  return (
    <EmptyState
      icon={IconHourglass}
      title={`Waiting for ${session.customer} to approve`}
      sentence={`They see your name, and decide whether to let you in. If they don’t, ask them for a new code.${
        asked_at === null ? '' : ` You asked ${describeAge(asked_at, now)}.`
      }`}
      action={
        session.due_at !== null && (
          <p className="sub" role="timer">
            <Sentence text="The request expires in {time}." parts={{ time: <Countdown until={Date.parse(session.due_at)} /> }} />
          </p>
        )
      }
    />
  );
}

/** End reasons that end a session within a minute or two; the technician sees the remaining time. */
const SOON: ReadonlySet<EndReason> = new Set(['share_stopped', 'customer_gone', 'server_restart']);

/** Shown in a running session without a picture. */
function NoPicture({ session, link, onAgain }: { session: JoinedSession; link: Link; onAgain: () => void }) {
  const { customer, view, share, phase, is_customer_here, due_at, due_reason } = session;
  const isGone = phase === 'reconnecting' && !is_customer_here;
  const sentence = isGone
    ? 'They’ve lost their connection. The session ends in a minute unless they return.'
    : view === 'talk'
      ? 'They chose to show no screen. Tell them what to press, or write to them.'
      : share === 'stopped'
        ? 'They stopped sharing, or loaded the page again. Ask them to press Share again.'
        : share === 'none'
          ? 'They choose what to show.'
          : describeLink(link);
  return (
    <EmptyState
      icon={IconScreenShareOff}
      title={isGone ? `${customer} is disconnected` : 'No picture'}
      sentence={sentence ?? 'The picture is loading.'}
      action={
        <>
          {share === 'running' && link.state === 'failed' && (
            <Button variant="quiet" onClick={onAgain}>
              Try again
            </Button>
          )}
          {due_at !== null && due_reason !== null && SOON.has(due_reason) && (
            <p className="sub" role="timer">
              <Sentence text="The session ends in {time}." parts={{ time: <Countdown until={Date.parse(due_at)} /> }} />
            </p>
          )}
        </>
      }
    />
  );
}

const PARTS = [
  { name: 'chat', label: 'Chat', icon: IconMessages },
  { name: 'files', label: 'Files', icon: IconFiles },
  { name: 'notes', label: 'Notes', icon: IconNotes },
  { name: 'customer', label: 'Customer', icon: IconUser },
] as const;

/** Parts beside the picture, one at a time. */
function Beside({ session, code }: { session: JoinedSession; code: string | undefined }) {
  const [part, setPart] = useState<(typeof PARTS)[number]['name']>('chat');
  return (
    <Grid className="workspace__beside">
      {code !== undefined && (
        <div className="pad-m line-below">
          <CodeLine code={code} side="technician" />
        </div>
      )}
      <div className="workspace__parts pad-xs line-below">
        <fieldset className="segments" data-wide aria-label="Next to the picture">
          {PARTS.map(({ name, label, icon: Icon }) => (
            <button key={name} type="button" aria-pressed={part === name} onClick={() => setPart(name)}>
              <Icon size={16} stroke={1.7} aria-hidden="true" />
              {label}
            </button>
          ))}
        </fieldset>
      </div>
      <div className="workspace__part scroll">
        {part === 'chat' && <SessionChat session_id={session.id} side="technician" />}
        {part === 'files' && <SessionFiles session={session} side="technician" />}
        {part === 'notes' && <Notes session={session} />}
        {part === 'customer' && <Customer session={session} />}
      </div>
    </Grid>
  );
}

/** Notes, visible only to staff. */
function Notes({ session }: { session: JoinedSession }) {
  const [notes, setNotes] = useState(session.notes);
  const write = useWriteNotes(session.id);
  return (
    <Form gap="3" className="pad-m" error={write.error} busy={write.isPending} onSubmit={() => write.mutate(notes)}>
      <Textarea
        label="Notes"
        description="Only staff can see these notes."
        rows={8}
        maxLength={NOTES_LENGTH_MAXIMUM}
        value={notes}
        onChange={(event) => setNotes(event.currentTarget.value)}
      />
      <Row wrap={false} gap="3">
        <Submit size="s" disabled={notes === session.notes}>
          Save notes
        </Submit>
        <span role="status" className="sub">
          {write.isSuccess && notes === write.variables && 'Saved.'}
        </span>
      </Row>
      <Refusal error={write.error} />
    </Form>
  );
}

/** Read when the technician opens it, because each request is recorded in the audit log. */
function Customer({ session }: { session: JoinedSession }) {
  const { data: card, error, refetch } = useQuery({ ...sessionCustomerQuery(session.id), enabled: session.phase !== 'claimed' });
  if (session.phase === 'claimed')
    return <EmptyState icon={IconUser} title="Not yet" sentence="You’ll see their details once they approve." />;
  if (card) return <CustomerCard card={card} />;
  return (
    <div className="pad-m">
      {error ? (
        <ErrorNotice title="We couldn’t load the customer" sentence={sentenceOf(error)} onRetry={() => void refetch()} />
      ) : (
        <LoadingRows label="Loading the card" />
      )}
    </div>
  );
}
