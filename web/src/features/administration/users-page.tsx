import { TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import type { AdminUser } from '@palisade/contract/users';
import { IconSearch } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSession } from '#api/session.ts';
import { AdministratorsOnly } from '#ui/administrators-only.tsx';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { Listed } from '#ui/listed.tsx';
import { Page } from '#ui/page.tsx';
import { ShowMore } from '#ui/show-more.tsx';
import { EmptyState } from '#ui/states.tsx';
import { UserDialog } from './user-dialog.tsx';
import { UserTable } from './user-table.tsx';
import { usersQuery } from './users.queries.ts';
import './administration.css';

/** While somebody types, the server is asked when they pause. */
const TYPING_PAUSE_MS = 250;

export function UsersPage() {
  const isAdmin = useSession().session?.user_info.role === 'admin';
  return (
    <Page
      title="Users"
      sentence="Everybody with an account here: what they may do, where they are signed in, and the way to let them in or keep them out."
    >
      {isAdmin ? <People /> : <AdministratorsOnly sentence="The list names other people, so only administrators see it." />}
    </Page>
  );
}

function People() {
  const [words, setWords] = useState('');
  const [search] = useDebouncedValue(words.trim(), TYPING_PAUSE_MS);
  const [openId, setOpenId] = useState<string>();
  const { data, isPlaceholderData, error, refetch, fetchNextPage, hasNextPage, isFetchingNextPage } = useInfiniteQuery(
    usersQuery(search),
  );
  const users = data?.pages.flat();
  const open = users?.find(({ id }) => id === openId);
  return (
    <Card title="People">
      <div className="admin-tools">
        <TextInput
          label="Search"
          type="search"
          placeholder="Email or username"
          leftSection={<IconSearch size={16} stroke={1.7} aria-hidden="true" />}
          value={words}
          onChange={(event) => setWords(event.currentTarget.value)}
        />
      </div>
      <Listed
        what="the people"
        rows={users}
        isOutdated={isPlaceholderData}
        error={error}
        onRetry={refetch}
        empty={
          <EmptyState
            icon={<IconSearch size={28} stroke={1.7} />}
            title="Nobody matches"
            sentence="No email and no username has these words in it."
            action={
              <Button variant="quiet" onClick={() => setWords('')}>
                Show everybody
              </Button>
            }
          />
        }
      >
        {(rows) => <Shown users={rows} isAll={!hasNextPage} onOpen={({ id }) => setOpenId(id)} />}
      </Listed>
      {hasNextPage && <ShowMore loading={isFetchingNextPage} onMore={fetchNextPage} />}
      {open && <UserDialog user={open} onClose={() => setOpenId(undefined)} />}
    </Card>
  );
}

function Shown({ users, isAll, onOpen }: { users: readonly AdminUser[]; isAll: boolean; onOpen: (user: AdminUser) => void }) {
  return (
    <>
      <p className="sub num" role="status">
        {isAll ? (users.length === 1 ? '1 person' : `${users.length} people`) : `The newest ${users.length} people`}
      </p>
      <UserTable users={users} onOpen={onOpen} />
    </>
  );
}
