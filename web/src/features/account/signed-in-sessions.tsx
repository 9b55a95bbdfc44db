import type { SignedInSession } from '@palisade/contract/sessions';
import { IconDeviceDesktop, IconDeviceMobile } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { messageAt } from '#api/field-messages.ts';
import { leftOf, rowsOf } from '#api/pages.ts';
import { useSession } from '#api/session.ts';
import { AccountName } from '#ui/account-name.tsx';
import { Badge, IconTile } from '#ui/badge.tsx';
import { Button } from '#ui/button.tsx';
import { DialogPart } from '#ui/dialog-part.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { Listed } from '#ui/listed.tsx';
import { describeAge, Moment, useMinute } from '#ui/moment.tsx';
import { PasswordField } from '#ui/password-field.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { ShowMore } from '#ui/show-more.tsx';
import { sessionsQuery, useEndSessions } from './account.queries.ts';

const HANDHELD = /iPhone|iPad|Android/u;
/** Value of `asked` for all other sessions. */
const OTHERS = 'others';

/** All sessions of this person, with actions to end them. */
export function SignedInSessions() {
  const { data, error, refetch, fetchNextPage, hasNextPage, isFetchingNextPage } = useInfiniteQuery(sessionsQuery);
  const sessions = rowsOf(data);
  const now = useMinute();
  const heading = useRef<HTMLHeadingElement>(null);
  const [asked, setAsked] = useState<string>();
  // Cancel returns the focus to the button.
  const [left, setLeft] = useState<string>();
  const [done, setDone] = useState('');
  const hasOthers = hasNextPage || (sessions?.some((session) => !session.current) ?? false);

  function ask(target: string) {
    setAsked(target);
    setDone('');
  }

  const question = (target: string) => ({
    onCancel: () => {
      setAsked(undefined);
      setLeft(target);
    },
    onDone: (sentence: string) => {
      setAsked(undefined);
      setLeft(undefined);
      setDone(sentence);
      heading.current?.focus({ preventScroll: true });
    },
  });

  return (
    <DialogPart
      title="Signed-in sessions"
      heading={heading}
      action={
        hasOthers &&
        asked !== OTHERS && (
          <Button variant="quiet" size="s" autoFocus={left === OTHERS} onClick={() => ask(OTHERS)}>
            Sign out everywhere else
          </Button>
        )
      }
    >
      <p role="status" className="grow shrink base medium accent off-empty" hidden={done === ''}>
        {done}
      </p>
      {asked === OTHERS && (
        <EndForm
          id={undefined}
          title="Sign out everywhere else?"
          sentence="Your other devices will have to sign in again."
          done="You’re signed out everywhere else."
          {...question(OTHERS)}
        />
      )}
      <Listed of="your sessions" list={{ rows: sessions, error, refetch }} empty={null}>
        {(rows) => (
          <ul>
            {rows.map((session) => (
              <SessionRow
                key={session.id}
                session={session}
                now={now}
                isAsked={asked === session.id}
                wasLeft={left === session.id}
                onAsk={() => ask(session.id)}
                {...question(session.id)}
              />
            ))}
          </ul>
        )}
      </Listed>
      {hasNextPage && <ShowMore left={leftOf(data)} loading={isFetchingNextPage} onMore={fetchNextPage} />}
    </DialogPart>
  );
}

interface Answers {
  onCancel: () => void;
  onDone: (sentence: string) => void;
}

interface SessionRowProps extends Answers {
  session: SignedInSession;
  now: number;
  isAsked: boolean;
  wasLeft: boolean;
  onAsk: () => void;
}

function SessionRow({ session, now, isAsked, wasLeft, onAsk, ...answers }: SessionRowProps) {
  const { id, client, source, created_at, last_used_at, current } = session;
  return (
    <Grid as="li" columns="both" phone="under" gap="3" align="center" className="pad-row line-between">
      <IconTile tone="note" icon={HANDHELD.test(client) ? IconDeviceMobile : IconDeviceDesktop} />
      <Stack className="small muted break">
        <span className="base medium ink">{client}</span>
        <span>
          {source ? (
            <Sentence
              text="{source}, signed in {when}"
              parts={{ source: <span className="num">{source}</span>, when: <Moment iso={created_at} now={now} /> }}
            />
          ) : (
            <Sentence text="signed in {when}" parts={{ when: <Moment iso={created_at} now={now} /> }} />
          )}
        </span>
        <span>{`last used ${describeAge(last_used_at, now)}`}</span>
      </Stack>
      {current && <Badge tone="safe">This session</Badge>}
      {!current && !isAsked && (
        <Button variant="quiet" size="s" autoFocus={wasLeft} aria-label={`Sign out ${client}`} onClick={onAsk}>
          Sign out
        </Button>
      )}
      {isAsked && (
        <EndForm
          id={id}
          title={`Sign out ${client}?`}
          sentence="That device will have to sign in again."
          done={`${client} is signed out.`}
          {...answers}
        />
      )}
    </Grid>
  );
}

interface EndFormProps extends Answers {
  /** Undefined for all sessions except this one. */
  id: string | undefined;
  title: string;
  sentence: string;
  done: string;
}

/** Asks once, then ends the session. */
function EndForm({ id, title, sentence, done, onCancel, onDone }: EndFormProps) {
  const [password, setPassword] = useState('');
  const end = useEndSessions(() => onDone(done));
  const email = useSession().session?.user_info.email;

  return (
    <Form
      gap="4"
      className="surface-sunken pad-l span"
      aria-label={title}
      error={end.error}
      busy={end.isPending}
      onSubmit={() => end.mutate({ id, password })}
      onEdit={end.reset}
    >
      <p className="base muted">
        <strong className="ink bold">{title}</strong> {sentence}
      </p>
      <AccountName email={email} />
      <PasswordField
        label="Your password"
        autoComplete="current-password"
        autoFocus
        required
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
        error={messageAt('password', end.error)}
      />
      <Row gap="4" rowGap="2" justify="end">
        <Button variant="quiet" onClick={onCancel}>
          Cancel
        </Button>
        <Submit disabled={password === ''}>Sign out</Submit>
      </Row>
    </Form>
  );
}
