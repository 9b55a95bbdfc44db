import { formatNumber, plural } from '@palisade/contract/intl';
import { endReasonSchema, sessionStatusSchema } from '@palisade/contract/remote-record';
import type { OverseenSession } from '@palisade/contract/remote-staff';
import { IconDeviceDesktop, IconEye, IconFlag, IconShieldCheck } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSearchParams } from 'react-router';
import { useRemoteWaiting } from '#domain/conversation/desk-counts.ts';
import { RemoteRequests } from '#domain/session/remote-requests.tsx';
import { Badge } from '#ui/badge.tsx';
import { Button } from '#ui/button.tsx';
import { Drawing } from '#ui/drawing.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';
import { Lead, LeadWaiting } from '#ui/lead.tsx';
import { ListCard } from '#ui/list-card.tsx';
import { ChoiceFilter, ListFilters, SearchFilter, StateFilter } from '#ui/list-filters.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import { Page } from '#ui/page.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { useSearchedPages } from '#ui/searched-pages.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { EmptyState, NothingMatches } from '#ui/states.tsx';
import { lastedOf } from './lasted.ts';
import {
  ALL_OVERSEEN,
  type OverseenChoice,
  overseenQuery,
  reportedQuery,
  runningQuery,
  useEndOverseen,
} from './overseen.queries.ts';
import { REPORTS } from './report-words.ts';
import { BADGES, END_REASONS, SessionBadge } from './session-badge.tsx';
import './overseen-page.css';

/** Dialogs import Mantine's, so it is loaded when it opens. */
const OverseenDialog = lazyPart(async () => (await import('./overseen-dialog.tsx')).OverseenDialog);

const STATES = [
  { value: undefined, label: 'All' },
  ...sessionStatusSchema.options.map((value) => ({ value, label: BADGES[value].label })),
];
const REASONS = endReasonSchema.options.map((value) => [value, END_REASONS[value]] as const);
const REPORTED = [
  ['true', 'Reported'],
  ['false', 'Not reported'],
] as const;

/** Sessions of all people, for administrators. */
export function OverseenPage() {
  return (
    <Page
      title="Remote sessions"
      sentence="See which technician viewed whose screen, when, for how long, and how it ended. Reported sessions come first."
    >
      <Sessions />
    </Page>
  );
}

function isNarrowed({ status, end_reason, reported, search }: OverseenChoice): boolean {
  return status !== undefined || end_reason !== undefined || reported !== undefined || search !== '';
}

function Sessions() {
  // A person’s record links to their sessions.
  const [address] = useSearchParams();
  const list = useSearchedPages({ ...ALL_OVERSEEN, search: address.get('search') ?? '' }, overseenQuery);
  const { chosen, setChosen, choice, rows: sessions, total = 0 } = list;
  const [openId, setOpenId] = useState<string>();
  const opened = sessions?.find(({ id }) => id === openId);
  const now = useMinute();
  const waiting = useRemoteWaiting();
  return (
    <>
      <Answer onShow={(change) => setChosen({ ...ALL_OVERSEEN, ...change })} />
      <RemoteRequests isFirst />
      <ListCard
        title="Sessions"
        of="the remote sessions"
        list={list}
        hasRefresh
        filters={
          (isNarrowed(chosen) || (sessions && sessions.length > 0)) && <SessionFilters chosen={chosen} onChoose={setChosen} />
        }
        empty={
          isNarrowed(choice) ? (
            <NothingMatches
              title="No session matches"
              sentence="No session has this state, this end and these words in the name of one of its sides."
              all="Show all sessions"
              onAll={() => setChosen(ALL_OVERSEEN)}
            />
          ) : (
            <EmptyState
              icon={IconDeviceDesktop}
              drawing={<Drawing of="screen" />}
              title={waiting > 0 ? 'No technician has joined yet' : 'No sessions yet'}
              sentence="A session appears here once a technician asks to join it."
            />
          )
        }
      >
        {(rows) => (
          <>
            {total > 0 && (
              <p className="sub num" role="status">
                {plural(total, { one: '1 session', other: `${formatNumber(total)} sessions` })}
              </p>
            )}
            <Grid as="ul" className="overseen" aria-label="Sessions">
              {rows.map((session) => (
                <OverseenRow key={session.id} session={session} now={now} onOpen={() => setOpenId(session.id)} />
              ))}
            </Grid>
          </>
        )}
      </ListCard>
      {opened && <OverseenDialog session={opened} onClose={() => setOpenId(undefined)} />}
    </>
  );
}

interface SessionFiltersProps {
  chosen: OverseenChoice;
  onChoose: (choice: OverseenChoice) => void;
}

function SessionFilters({ chosen, onChoose }: SessionFiltersProps) {
  const choose = (change: Partial<OverseenChoice>) => onChoose({ ...chosen, ...change });
  return (
    <ListFilters>
      <StateFilter label="Which sessions" value={chosen.status} options={STATES} onChoose={(status) => choose({ status })} />
      <SearchFilter
        label="Search the sessions"
        placeholder="Customer or technician"
        value={chosen.search}
        onChange={(search) => choose({ search })}
      />
      <div className="list-filters__choices">
        <ChoiceFilter
          label="End"
          none="Any ending"
          options={REASONS}
          value={chosen.end_reason}
          onChoose={(end_reason) => choose({ end_reason })}
        />
        <ChoiceFilter
          label="Reports"
          none="Reported or not"
          options={REPORTED}
          value={chosen.reported}
          onChoose={(reported) => choose({ reported })}
        />
      </div>
    </ListFilters>
  );
}

/** Shows administrators whether a customer has reported a session, and whether a session is running. */
function Answer({ onShow }: { onShow: (change: Partial<OverseenChoice>) => void }) {
  const reported = useQuery(reportedQuery);
  const running = useQuery(runningQuery);
  // The list below shows the error.
  if (reported.error || running.error) return null;
  if (reported.data === undefined || running.data === undefined)
    return <LeadWaiting label="Reading whether a session was reported" />;
  const looking =
    running.data === 0
      ? 'No session runs right now.'
      : plural(running.data, {
          one: 'One session runs right now.',
          other: `${formatNumber(running.data)} sessions run right now.`,
        });
  if (reported.data > 0)
    return (
      <Lead
        tone="danger"
        icon={IconFlag}
        title={plural(reported.data, {
          one: 'A customer has reported a session.',
          other: `Customers have reported ${formatNumber(reported.data)} sessions.`,
        })}
        sentence={`Read what they wrote, and speak with the technician. ${looking}`}
        action={
          <Button variant="quiet" onClick={() => onShow({ reported: 'true' })}>
            {plural(reported.data, { one: 'Show it', other: 'Show them' })}
          </Button>
        }
      />
    );
  return (
    <Lead
      tone="good"
      icon={running.data > 0 ? IconEye : IconShieldCheck}
      title="No session was reported"
      sentence={looking}
      action={
        running.data > 0 && (
          <Button variant="quiet" onClick={() => onShow({ status: 'active' })}>
            Show what runs
          </Button>
        )
      }
    />
  );
}

function OverseenRow({ session, now, onOpen }: { session: OverseenSession; now: number; onOpen: () => void }) {
  const { customer, support_agent, started_at, joined_at, end_reason, phase, report } = session;
  const end = useEndOverseen();
  const lasted = lastedOf(session, now);
  const who = `${support_agent ?? 'a technician'} with ${customer}`;
  return (
    <Grid as="li" align="center" className="overseen__session pad-row span line-between">
      <Stack gap="1" className="shrink">
        <span className="medium break">
          <Sentence
            text="{technician} with {customer}"
            parts={{ technician: <bdi>{support_agent}</bdi>, customer: <bdi>{customer}</bdi> }}
          />
        </span>
        {end_reason !== null && <span className="muted small break">{END_REASONS[end_reason]}</span>}
        {report !== null && (
          <Row as="span" gap="2" rowGap="1" className="small red">
            <Badge tone="danger" icon={IconFlag}>
              Reported
            </Badge>{' '}
            {REPORTS[report.reason]}
          </Row>
        )}
      </Stack>
      <div>
        <SessionBadge status={session.status} />
      </div>
      <Grid as="dl" columns="lead" gap="2" rowGap="0" className="overseen__times small faint num">
        <div className="contents">
          <dt>Asked</dt>
          <dd className="muted">
            <Moment iso={joined_at ?? started_at} now={now} />
          </dd>
        </div>
        <div className="contents">
          <dt>Lasted</dt>
          <dd className="muted">{lasted ?? 'Not approved'}</dd>
        </div>
      </Grid>
      <Row wrap={false} phone="fill" gap="2" justify="end" className="overseen__actions">
        {phase !== 'ended' && (
          <Button
            variant="quiet"
            size="s"
            loading={end.isPending}
            aria-label={`End session of ${who}`}
            onClick={() => end.mutate(session)}
          >
            End session
          </Button>
        )}
        <Button variant="quiet" size="s" aria-haspopup="dialog" aria-label={`Details of ${who}`} onClick={onOpen}>
          Details
        </Button>
      </Row>
      {end.error && (
        <div className="span">
          <Refusal error={end.error} />
        </div>
      )}
    </Grid>
  );
}
