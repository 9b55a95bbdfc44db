import type { RemoteSession, SessionStatus } from '@palisade/contract/remote';
import { sessionStatusSchema } from '@palisade/contract/remote-record';
import type { ReactNode } from 'react';
import { Grid } from '#ui/layout.tsx';
import { ListFilters, needsFilters, SearchFilter, StateFilter } from '#ui/list-filters.tsx';
import { Listed } from '#ui/listed.tsx';
import type { SearchedPages } from '#ui/searched-pages.tsx';
import { NothingMatches } from '#ui/states.tsx';
import { EVERY_SESSION, type SessionChoice } from './remote.queries.ts';
import { BADGES } from './session-badge.tsx';

const STATES: readonly { value: SessionStatus | undefined; label: string }[] = [
  { value: undefined, label: 'All' },
  ...sessionStatusSchema.options.map((value) => ({ value, label: BADGES[value].label })),
];

function isNarrowed({ status, search }: SessionChoice): boolean {
  return status !== EVERY_SESSION.status || search !== EVERY_SESSION.search;
}

interface SearchedSessionsProps<Session> {
  pages: SearchedPages<SessionChoice, Session>;
  /** Name of the list within a sentence: "the session history". */
  of: string;
  /** Searchable fields. */
  placeholder: string;
  onRetry: () => unknown;
  /** Content before the first session. */
  empty: ReactNode;
  /** Renders one session as a list item. */
  children: (session: Session) => ReactNode;
}

/** A paged list of sessions with filters. */
export function SearchedSessions<Session extends RemoteSession>({
  pages,
  of,
  placeholder,
  onRetry,
  empty,
  children,
}: SearchedSessionsProps<Session>) {
  const { chosen, setChosen, choice, rows = [], total = rows.length, more } = pages;
  return (
    <>
      {needsFilters(total, isNarrowed(chosen)) && (
        <ListFilters>
          <StateFilter
            label="Which sessions"
            value={chosen.status}
            options={STATES}
            onChoose={(status) => setChosen({ ...chosen, status })}
          />
          <SearchFilter
            label="Search the sessions"
            placeholder={placeholder}
            value={chosen.search}
            onChange={(search) => setChosen({ ...chosen, search })}
          />
        </ListFilters>
      )}
      <Listed
        of={of}
        list={{ ...pages, refetch: onRetry }}
        empty={isNarrowed(choice) ? <NoSessionMatches onAll={() => setChosen(EVERY_SESSION)} /> : empty}
      >
        {(shown) => (
          <Grid as="ul" className="remote-sessions">
            {shown.map(children)}
          </Grid>
        )}
      </Listed>
      {more}
    </>
  );
}

function NoSessionMatches({ onAll }: { onAll: () => void }) {
  return (
    <NothingMatches
      title="No session matches"
      sentence="No session has this state and these words in its code or its name."
      all="Show all sessions"
      onAll={onAll}
    />
  );
}
