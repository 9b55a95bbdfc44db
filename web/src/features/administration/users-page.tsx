import { roleSchema } from '@palisade/contract/auth';
import { formatNumber, plural } from '@palisade/contract/intl';
import { shownEmail } from '@palisade/contract/shown-email';
import type { AdminUser, UserState } from '@palisade/contract/users';
import { useState } from 'react';
import { useSearchParams } from 'react-router';
import { ROLE_LABELS } from '#domain/activity/activity-words.ts';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';
import { TableCard } from '#ui/list-card.tsx';
import { ChoiceFilter, ListFilters, SearchFilter } from '#ui/list-filters.tsx';
import { Page } from '#ui/page.tsx';
import { useSearchedPages } from '#ui/searched-pages.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { NothingMatches } from '#ui/states.tsx';
import { Invitations } from './invitations.tsx';
import { USER_COLUMNS } from './user-table.tsx';
import { EVERYBODY, type UserChoice, usersQuery } from './users.queries.ts';
import './administration.css';

/** Dialogs import Mantine's, so it is loaded when it opens. */
const UserDialog = lazyPart(async () => (await import('./user-dialog.tsx')).UserDialog);

export function UsersPage() {
  return (
    <Page title="Users" sentence="Manage people, roles and access.">
      <People />
    </Page>
  );
}

/** Explains how people get an account and become staff; no other part of this screen does. */
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

/** Filter from the address: the palette and the dashboard link to some people. */
function useAddressed(): UserChoice {
  const [address] = useSearchParams();
  const state = STATES.find(([known]) => known === address.get('state'))?.[0];
  return { ...EVERYBODY, search: address.get('search') ?? '', state };
}

function People() {
  const [opened, setOpened] = useState<AdminUser>();
  const list = useSearchedPages(useAddressed(), usersQuery);
  const { chosen, setChosen, rows: users, error } = list;
  // The dialog stays open if its person is deleted or no longer matches the filter.
  const open = users?.find(({ id }) => id === opened?.id) ?? opened;
  const total = list.total ?? users?.length ?? 0;
  return (
    <>
      <TableCard
        title="People"
        of="the people"
        list={list}
        counted={plural(total, { one: '1 person', other: `${formatNumber(total)} people` })}
        filters={<PeopleFilters chosen={chosen} onChoose={setChosen} />}
        empty={
          <NothingMatches
            title="No matches"
            sentence="No one with this role and state has these words in their email or username."
            all="Show everyone"
            onAll={() => setChosen(EVERYBODY)}
          />
        }
        columns={USER_COLUMNS}
        rowAction={(user) => (
          <Button variant="quiet" size="s" aria-label={`Manage ${shownEmail(user.email)}`} onClick={() => setOpened(user)}>
            Manage
          </Button>
        )}
      />
      {open && <UserDialog user={open} onChanged={setOpened} onClose={() => setOpened(undefined)} />}
      {/* Rendered after the list, which would push it down. */}
      {(users || error) && <Invitations />}
      {(users || error) && <SomebodyNew />}
    </>
  );
}

interface PeopleFiltersProps {
  chosen: UserChoice;
  onChoose: (choice: UserChoice) => void;
}

function PeopleFilters({ chosen, onChoose }: PeopleFiltersProps) {
  const choose = (change: Partial<UserChoice>) => onChoose({ ...chosen, ...change });
  return (
    <ListFilters>
      <SearchFilter
        label="Search the people"
        placeholder="Email or username"
        value={chosen.search}
        onChange={(search) => choose({ search })}
      />
      <div className="list-filters__choices">
        <ChoiceFilter label="Role" value={chosen.role} options={ROLES} onChoose={(role) => choose({ role })} />
        <ChoiceFilter label="State" value={chosen.state} options={STATES} onChoose={(state) => choose({ state })} />
        <ChoiceFilter
          label="Order"
          none="Newest first"
          value={SORTS.find(([sort]) => sort === chosen.sort)?.[0]}
          options={SORTS}
          onChoose={(sort) => choose({ sort: sort ?? EVERYBODY.sort })}
        />
      </div>
    </ListFilters>
  );
}
