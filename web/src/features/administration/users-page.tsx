import { roleSchema } from '@palisade/contract/auth';
import { LATELY_DAYS } from '@palisade/contract/home';
import { formatNumber, plural } from '@palisade/contract/intl';
import type { AdminUser, UserState } from '@palisade/contract/users';
import { IconMailPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSearchParams } from 'react-router';
import { ROLE_LABELS } from '#domain/activity/activity-words.ts';
import { Button } from '#ui/button.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';
import { TableCard } from '#ui/list-card.tsx';
import { ChoiceFilter, ListFilters, SearchFilter } from '#ui/list-filters.tsx';
import { Page } from '#ui/page.tsx';
import { useSearchedPages } from '#ui/searched-pages.tsx';
import { NothingMatches } from '#ui/states.tsx';
import { Invitations } from './invitations.tsx';
import { userColumns } from './user-table.tsx';
import { EVERYBODY, invitationsQuery, type UserChoice, usersQuery } from './users.queries.ts';
import './administration.css';

/** Dialogs import Mantine's dialog, so it is loaded when it opens. */
const UserDialog = lazyPart(async () => (await import('./user-dialog.tsx')).UserDialog);
const InviteDialog = lazyPart(async () => (await import('./invite-dialog.tsx')).InviteDialog);

export function UsersPage() {
  return (
    <Page title="Users" sentence="Manage people, roles and access.">
      <People />
    </Page>
  );
}

const ROLES = roleSchema.options.map((role) => [role, ROLE_LABELS[role]] as const);
const STATES = [
  ['new', `New in ${LATELY_DAYS} days`],
  ['active', `Active in ${LATELY_DAYS} days`],
  ['at_risk', 'In danger'],
  ['unchecked', 'Not checked'],
  ['serious_alert', 'Serious alert'],
  ['silent_device', 'Silent device'],
  ['disabled', 'Disabled'],
  ['unproven', 'Address not confirmed'],
] as const satisfies readonly (readonly [UserState, string])[];
const SORTS = [
  ['newest', 'Newest first'],
  ['oldest', 'Oldest first'],
  ['name', 'By username'],
] as const satisfies readonly (readonly [UserChoice['sort'], string])[];

/** Filter from the address, because the palette and the dashboard link to some people, or to the record of one. */
function useAddressed(): UserChoice {
  const [address] = useSearchParams();
  const state = STATES.find(([known]) => known === address.get('state'))?.[0];
  return { ...EVERYBODY, search: address.get('search') ?? '', state };
}

/** A button that invites a person. */
function Invite({ onSent }: { onSent: (email: string) => void }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button size="s" icon={IconMailPlus} aria-haspopup="dialog" onClick={() => setIsOpen(true)}>
        Invite someone
      </Button>
      {isOpen && (
        <InviteDialog
          onClose={() => setIsOpen(false)}
          onSent={(email) => {
            setIsOpen(false);
            onSent(email);
          }}
        />
      )}
    </>
  );
}

function People() {
  const [opened, setOpened] = useState<AdminUser>();
  const [sent, setSent] = useState<string>();
  const { data: invitations = [] } = useQuery(invitationsQuery);
  const list = useSearchedPages(useAddressed(), usersQuery);
  const { chosen, setChosen, rows: users } = list;
  // The dialog stays open if its person is deleted or no longer matches the filter.
  const [address, setAddress] = useSearchParams();
  const asked = opened?.id ?? address.get('person');
  const open = users?.find(({ id }) => id === asked) ?? opened;
  const total = list.total ?? users?.length ?? 0;
  const close = () => {
    setOpened(undefined);
    if (address.has('person')) setAddress({}, { replace: true });
  };
  return (
    <>
      <TableCard
        title="People"
        action={<Invite onSent={setSent} />}
        of="the people"
        list={list}
        counted={plural(total, { one: '1 person', other: `${formatNumber(total)} people` })}
        filters={
          <>
            <Invitations invitations={invitations} sent={sent} />
            <ListFilters>
              <PeopleFilters chosen={chosen} onChoose={setChosen} />
            </ListFilters>
          </>
        }
        empty={
          <NothingMatches
            title="No matches"
            sentence="No one with this role and state has these words in their email or username."
            all="Show everyone"
            onAll={() => setChosen(EVERYBODY)}
          />
        }
        columns={userColumns(setOpened)}
      />
      {open && <UserDialog user={open} onChanged={setOpened} onClose={close} />}
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
    <>
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
          none="Most urgent first"
          value={SORTS.find(([sort]) => sort === chosen.sort)?.[0]}
          options={SORTS}
          onChoose={(sort) => choose({ sort: sort ?? EVERYBODY.sort })}
        />
      </div>
    </>
  );
}
