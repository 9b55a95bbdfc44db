import { endReasonSchema, sessionStatusSchema } from '@palisade/contract/remote-record';
import type { OverseenSession } from '@palisade/contract/remote-staff';
import { IconDeviceDesktop, IconFlag, IconSearch } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import { useMayAdministrate } from '#api/policies.ts';
import { AdministratorsOnly } from '#ui/administrators-only.tsx';
import { Badge } from '#ui/badge.tsx';
import { Button } from '#ui/button.tsx';
import { FocusKept } from '#ui/focus-kept.tsx';
import { ChoiceFilter, ListFilters, SearchFilter, StateFilter } from '#ui/list-filters.tsx';
import { Listed } from '#ui/listed.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import { Page } from '#ui/page.tsx';
import { RefreshedCard } from '#ui/refreshed-card.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { useSearchedPages } from '#ui/searched-pages.tsx';
import { EmptyState } from '#ui/states.tsx';
import { lastedOf } from './lasted.ts';
import { ALL_OVERSEEN, type OverseenChoice, overseenQuery, useEndOverseen } from './overseen.queries.ts';
import { REPORTS } from './report-words.ts';
import { BADGES, END_REASONS, SessionBadge } from './session-badge.tsx';
import './session-list.css';
import './overseen-page.css';

/** Dialogs bring the kit's along, so it comes when it is opened. */
const OverseenDialog = lazy(async () => ({ default: (await import('./overseen-dialog.tsx')).OverseenDialog }));

const STATES = [
  { value: undefined, label: 'All' },
  ...sessionStatusSchema.options.map((value) => ({ value, label: BADGES[value].label })),
];
const REASONS = endReasonSchema.options.map((value) => [value, END_REASONS[value]] as const);
const REPORTED = [
  ['true', 'Reported'],
  ['false', 'Not reported'],
] as const;

/** For administrators: who looked at whose screen, and how it ended. */
export function OverseenPage() {
  const isAdmin = useMayAdministrate();
  return (
    <Page
      title="Remote sessions"
      sentence="Who of the staff looked at whose screen, when, for how long, and how it ended. Reported sessions stand first."
    >
      {isAdmin ? (
        <Sessions />
      ) : (
        <AdministratorsOnly sentence="The list says who was helped by whom, so only administrators see it. Your own sessions are under Remote Access." />
      )}
    </Page>
  );
}

function isNarrowed({ status, end_reason, reported, search }: OverseenChoice): boolean {
  return status !== undefined || end_reason !== undefined || reported !== undefined || search !== '';
}

function Sessions() {
  const {
    chosen,
    setChosen,
    choice,
    rows: sessions,
    isOutdated,
    total,
    error,
    refetch,
    more,
  } = useSearchedPages(ALL_OVERSEEN, overseenQuery);
  const [openId, setOpenId] = useState<string>();
  const opened = sessions?.find(({ id }) => id === openId);
  const now = useMinute();
  const show = (change: Partial<OverseenChoice>) => setChosen({ ...chosen, ...change });
  return (
    <RefreshedCard title="Sessions" onRefresh={refetch}>
      {(refresh) => (
        <FocusKept>
          {(isNarrowed(chosen) || (sessions && sessions.length > 0)) && (
            <ListFilters>
              <StateFilter
                label="Which sessions"
                value={chosen.status}
                options={STATES}
                onChoose={(status) => show({ status })}
              />
              <ChoiceFilter
                label="End"
                options={REASONS}
                value={chosen.end_reason}
                onChoose={(end_reason) => show({ end_reason })}
              />
              <ChoiceFilter
                label="Reports"
                none="Reported or not"
                options={REPORTED}
                value={chosen.reported}
                onChoose={(reported) => show({ reported })}
              />
              <SearchFilter
                label="Search the sessions"
                placeholder="Customer or technician"
                value={chosen.search}
                onChange={(search) => show({ search })}
              />
            </ListFilters>
          )}
          <Listed
            what="the remote sessions"
            rows={sessions}
            isOutdated={isOutdated}
            error={error}
            onRetry={refresh}
            empty={
              isNarrowed(choice) ? (
                <EmptyState
                  icon={<IconSearch size={28} stroke={1.7} />}
                  title="No session matches"
                  sentence="No session has this state, this end and these words in the name of one of its sides."
                  action={
                    <Button variant="quiet" onClick={() => setChosen(ALL_OVERSEEN)}>
                      Show all sessions
                    </Button>
                  }
                />
              ) : (
                <EmptyState
                  icon={<IconDeviceDesktop size={28} stroke={1.7} />}
                  title="No sessions yet"
                  sentence="A session is listed here once somebody of the staff has asked to join it."
                />
              )
            }
          >
            {(rows) => (
              <ul className="remote-sessions" aria-label="Sessions">
                {rows.map((session) => (
                  <OverseenRow key={session.id} session={session} now={now} onOpen={() => setOpenId(session.id)} />
                ))}
              </ul>
            )}
          </Listed>
          {total !== undefined && total > 0 && (
            <p className="sub overseen__total num" role="status">
              {total === 1 ? '1 session' : `${total} sessions`}
            </p>
          )}
          {more}
          {opened && (
            <Suspense>
              <OverseenDialog session={opened} onClose={() => setOpenId(undefined)} />
            </Suspense>
          )}
        </FocusKept>
      )}
    </RefreshedCard>
  );
}

function OverseenRow({ session, now, onOpen }: { session: OverseenSession; now: number; onOpen: () => void }) {
  const { customer, support_agent, started_at, joined_at, end_reason, phase, report } = session;
  const end = useEndOverseen();
  const lasted = lastedOf(session, now);
  const who = `${support_agent ?? 'a technician'} with ${customer}`;
  return (
    <li className="remote-session" data-reported={report !== null}>
      <div className="remote-session__what">
        <span className="overseen__who">
          <bdi>{support_agent}</bdi> with <bdi>{customer}</bdi>
        </span>
        {end_reason !== null && <span className="remote-session__line">{END_REASONS[end_reason]}</span>}
        {report !== null && (
          <span className="overseen__report">
            <Badge tone="danger" icon={IconFlag}>
              Reported
            </Badge>{' '}
            {REPORTS[report.reason]}
          </span>
        )}
        <Refusal error={end.error} />
      </div>
      <dl className="remote-session__times">
        <div>
          <dt>Asked</dt>
          <dd>
            <Moment iso={joined_at ?? started_at} now={now} />
          </dd>
        </div>
        <div>
          <dt>Lasted</dt>
          <dd>{lasted ?? 'Not approved'}</dd>
        </div>
      </dl>
      <div className="remote-session__status">
        <SessionBadge status={session.status} />
        {phase !== 'ended' && (
          <Button size="s" loading={end.isPending} aria-label={`End the session of ${who}`} onClick={() => end.mutate(session)}>
            End
          </Button>
        )}
        <Button variant="quiet" size="s" aria-haspopup="dialog" aria-label={`Details of ${who}`} onClick={onOpen}>
          Details
        </Button>
      </div>
    </li>
  );
}
