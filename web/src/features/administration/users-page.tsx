import { roleSchema } from '@palisade/contract/auth';
import { formatNumber, plural } from '@palisade/contract/intl';
import type { AdminUser, UserState } from '@palisade/contract/users';
import { IconSearch } from '@tabler/icons-react';
import { useState } from 'react';
import { useSearchParams } from 'react-router';
import { ROLE_LABELS } from '#domain/activity/activity-words.ts';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { FocusKept } from '#ui/focus-kept.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';
import { ChoiceFilter, ListFilters, SearchFilter } from '#ui/list-filters.tsx';
import { Listed } from '#ui/listed.tsx';
import { Page } from '#ui/page.tsx';
import { useSearchedPages } from '#ui/searched-pages.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { EmptyState } from '#ui/states.tsx';
import { Invitations } from './invitations.tsx';
import { UserTable } from './user-table.tsx';
import { EVERYBODY, type UserChoice, usersQuery } from './users.queries.ts';
import './administration.css';

/** Dialogs bring the kit's along, so it comes when it is opened. */
const UserDialog = lazyPart(async () => (await import('./user-dialog.tsx')).UserDialog);

export function UsersPage() {
  return (
    <Page title="Users" sentence="Manage people, roles and access.">
      <People />
    </Page>
  );
}

/** The way here, and to the desk: no other part of this screen names it. */
function SomebodyNew() {
  return (
    <Card title="Add people">
      <p className="sub">
        <Sentence
          text="People register at {address}. To let someone answer customers, press Manage next to their name and choose the role Support."
          parts={{ address: <code>{`${window.location.origin}/?mode=register`}</code> }}
        />
      </p>
    </Card>
  );
}

const ROLES = roleSchema.options.map((role) => [role, ROLE_LABELS[role]] as const);
const STATES = [
  ['disabled', 'Disabled'],
  ['unproven', 'Address not confirmed'],
] as const satisfies readonly (readonly [UserState, string])[];
const SORTS = [
  ['oldest', 'Oldest first'],
  ['name', 'By username'],
] as const satisfies readonly (readonly [UserChoice['sort'], string])[];

/** The people that the address names: the palette and the owner's home lead to some of them. */
function useAddressed(): UserChoice {
  const [address] = useSearchParams();
  const state = STATES.find(([known]) => known === address.get('state'))?.[0];
  return { ...EVERYBODY, search: address.get('search') ?? '', state };
}

function People() {
  const [opened, setOpened] = useState<AdminUser>();
  const {
    chosen,
    setChosen,
    rows: users,
    isOutdated,
    total: counted,
    error,
    refetch,
    more,
  } = useSearchedPages(useAddressed(), usersQuery);
  // A removed or unmatched person closes neither the window nor its answer.
  const open = users?.find(({ id }) => id === opened?.id) ?? opened;
  const total = counted ?? users?.length ?? 0;
  return (
    <>
      <Card title="People">
        <ListFilters>
          <SearchFilter
            label="Search the people"
            placeholder="Email or username"
            value={chosen.search}
            onChange={(search) => setChosen({ ...chosen, search })}
          />
          <div className="list-filters__choices">
            <ChoiceFilter label="Role" value={chosen.role} options={ROLES} onChoose={(role) => setChosen({ ...chosen, role })} />
            <ChoiceFilter
              label="State"
              value={chosen.state}
              options={STATES}
              onChoose={(state) => setChosen({ ...chosen, state })}
            />
            <ChoiceFilter
              label="Order"
              none="Newest first"
              value={SORTS.find(([sort]) => sort === chosen.sort)?.[0]}
              options={SORTS}
              onChoose={(sort) => setChosen({ ...chosen, sort: sort ?? EVERYBODY.sort })}
            />
          </div>
        </ListFilters>
        <Listed
          loading="Loading the people"
          failed="We couldn’t load the people"
          rows={users}
          isOutdated={isOutdated}
          error={error}
          onRetry={refetch}
          empty={
            <EmptyState
              icon={<IconSearch size={28} stroke={1.7} />}
              title="No matches"
              sentence="No one with this role and state has these words in their email or username."
              action={
                <Button variant="quiet" onClick={() => setChosen(EVERYBODY)}>
                  Show everyone
                </Button>
              }
            />
          }
        >
          {(rows) => (
            <>
              <p className="sub num" role="status">
                {plural(total, { one: '1 person', other: `${formatNumber(total)} people` })}
              </p>
              {/* The button that opened the dialog goes with the deleted person. */}
              <FocusKept>
                <UserTable users={rows} onOpen={setOpened} />
              </FocusKept>
            </>
          )}
        </Listed>
        {more}
        {open && <UserDialog user={open} onChanged={setOpened} onClose={() => setOpened(undefined)} />}
      </Card>
      {/* Below a list that is on its way it would be pushed out of sight. */}
      {(users || error) && <Invitations />}
      {(users || error) && <SomebodyNew />}
    </>
  );
}
