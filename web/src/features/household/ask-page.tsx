import type { Ask, AskPage as AskPageShown } from '@palisade/contract/household';
import { formatNumber } from '@palisade/contract/intl';
import { IconCheck, IconClock, IconX } from '@tabler/icons-react';
import { QueryClientProvider, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { CallError, sentenceOf } from '#api/call.ts';
import { createQueryClient } from '#api/query-client.ts';
import { ProfileFace } from '#domain/household/profile-face.tsx';
import { IconTile } from '#ui/badge.tsx';
import { Button } from '#ui/button.tsx';
import { FocusKept } from '#ui/focus-kept.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { EmptyState, ErrorNotice, LoadingRows } from '#ui/states.tsx';
import { askedOf, askWords, deviceWords, holdWords, refusedWords, replyWords, seenWords } from './ask-words.ts';
import { askPageQuery, useMayI } from './household.queries.ts';
import './ask-page.css';

type Refused = AskPageShown['refused'][number];

const TONES = { wait: 'note', hour: 'safe', always: 'safe', no: 'plain' } as const;
const ICONS = { wait: IconClock, hour: IconCheck, always: IconCheck, no: IconX };

function Reply({ ask, isLarge }: { ask: Ask; isLarge: boolean }) {
  const now = useMinute();
  return (
    <Grid columns="lead" gap="3" align="center">
      <IconTile tone={TONES[ask.answer]} icon={ICONS[ask.answer]} />
      <Stack gap="0" className="shrink">
        <b className={isLarge ? 'large' : undefined}>{replyWords(ask, now)}</b>
        {ask.line !== '' && <q className="break">{ask.line}</q>}
      </Stack>
    </Grid>
  );
}

interface RefusedRowProps {
  page: AskPageShown;
  refused: Refused;
  ask: Ask | undefined;
  pageKey: string;
  isLarge: boolean;
  /** True if all websites are blocked now, so the button is less prominent. */
  isHeld: boolean;
}

/** A refused name with a “May I?” button, which the reply replaces. */
function RefusedRow({ page, refused, ask, pageKey, isLarge, isHeld }: RefusedRowProps) {
  const { id, name, service, count, last_at, can_ask } = refused;
  const asked = askedOf(refused);
  const now = useMinute();
  const mayI = useMayI(pageKey);
  return (
    <Stack as="li" gap="3" className="surface-raised pad-l">
      <Grid columns="tail" phone="stack" gap="3" align="center">
        <Stack gap="0" className="shrink">
          <bdi className={isLarge ? 'title break' : 'large medium break'}>{asked}</bdi>
          {!isLarge && (
            <Row gap="2" rowGap="0" className="sub">
              {service !== '' && <bdi className="break">{name}</bdi>}
              <b>{refusedWords(refused, page)}</b>
              <Moment iso={last_at} now={now} />
              {count > 1 && <span>{`${formatNumber(count)} times`}</span>}
            </Row>
          )}
        </Stack>
        {can_ask && (
          <Button
            variant={isHeld ? 'quiet' : 'primary'}
            size="l"
            aria-label={`May I open ${asked}?`}
            loading={mayI.isPending}
            onClick={() => mayI.mutate(id)}
          >
            May I?
          </Button>
        )}
      </Grid>
      {ask && <Reply ask={ask} isLarge={isLarge} />}
      <Refusal error={mayI.error} />
    </Stack>
  );
}

function Shown({ page, pageKey }: { page: AskPageShown; pageKey: string }) {
  const now = useMinute();
  const { name, picture, age_group, devices, refused, asks } = page;
  const words = askWords(age_group);
  const isLarge = age_group === 'small_child';
  const hold = holdWords(page, now);
  const asked = new Map(asks.map((ask) => [ask.name, ask]));
  // One row for each requested name or service, even if several devices were refused.
  const rows = refused.filter((one, index) => refused.findIndex((other) => askedOf(other) === askedOf(one)) === index);
  const elsewhere = asks.filter((ask) => refused.every((one) => askedOf(one) !== ask.name));
  return (
    <Stack gap="5">
      <Row gap="3" wrap={false}>
        <ProfileFace picture={picture} size={36} />
        <Stack gap="0" className="shrink">
          <h1 className="title break">{`Hi ${name}`}</h1>
          <p className="sub break">{seenWords(page)}</p>
          <p className="sub break">{deviceWords(devices.map((device) => device.name))}</p>
        </Stack>
      </Row>
      {hold !== undefined && (
        <p role="status" className={`surface-amber pad-m ${isLarge ? 'title' : 'large'}`}>
          {hold}
        </p>
      )}
      <Stack gap="3">
        <h2 className="large">{refused.length + elsewhere.length === 0 ? words.none : words.refused}</h2>
        <FocusKept>
          <Stack as="ul" gap="3" aria-live="polite">
            {rows.map((one) => (
              <RefusedRow
                key={one.id}
                page={page}
                refused={one}
                ask={asked.get(askedOf(one))}
                pageKey={pageKey}
                isLarge={isLarge}
                isHeld={hold !== undefined && page.state !== 'no_plan'}
              />
            ))}
            {elsewhere.map((ask) => (
              <Stack as="li" key={ask.id} gap="3" className="surface-raised pad-l">
                <bdi className="large medium break">{ask.name}</bdi>
                <Reply ask={ask} isLarge={isLarge} />
              </Stack>
            ))}
          </Stack>
        </FocusKept>
      </Stack>
    </Stack>
  );
}

function AskPageContent({ pageKey }: { pageKey: string }) {
  const { data: page, error, refetch } = useQuery(askPageQuery(pageKey));
  const isGone = error instanceof CallError && error.status === 404;
  if (isGone)
    return (
      <Stack gap="3">
        <h1 className="visually-hidden">May I?</h1>
        <EmptyState
          icon={IconX}
          title="This address doesn’t work any more"
          sentence="Ask a guardian for the new address of your page."
        />
      </Stack>
    );
  if (page) return <Shown page={page} pageKey={pageKey} />;
  return (
    <Stack gap="3">
      <h1 className="visually-hidden">May I?</h1>
      {error ? (
        <ErrorNotice title="We couldn’t load your page" sentence={sentenceOf(error)} onRetry={() => void refetch()} />
      ) : (
        <LoadingRows label="Loading your page" />
      )}
    </Stack>
  );
}

/**
 * The page of a person in a household, without sign-in and shell. Its key is in the path, and is sent to the server only in request bodies.
 * The manifest's address is below that of the page, because the manifest's `start_url` is relative.
 */
export function AskPage() {
  const [queries] = useState(createQueryClient);
  const [key] = useState(() => window.location.pathname.split('/')[2] ?? '');
  useEffect(() => {
    document.title = 'May I?';
    const link = Object.assign(document.createElement('link'), { rel: 'manifest', href: `/ask/${key}/ask.webmanifest` });
    document.head.append(link);
    return () => link.remove();
  }, [key]);
  return (
    <QueryClientProvider client={queries}>
      <main className="ask-page">
        <AskPageContent pageKey={key} />
      </main>
    </QueryClientProvider>
  );
}
