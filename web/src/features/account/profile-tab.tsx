import { TextInput } from '@mantine/core';
import type { Account } from '@palisade/contract/auth';
import { shownEmail } from '@palisade/contract/shown-email';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { sentenceOf } from '#api/call.ts';
import { messageAt } from '#api/field-messages.ts';
import { ROLE_LABELS } from '#domain/activity/activity-words.ts';
import { DialogPart } from '#ui/dialog-part.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { describeDate } from '#ui/moment.tsx';
import { ErrorNotice, LoadingRows } from '#ui/states.tsx';
import { accountQuery, useChangeUsername } from './account.queries.ts';
import { OwnData } from './own-data.tsx';

/** Name, facts and data of the person's own account. */
export function ProfileTab() {
  const { data: account, error, refetch } = useQuery(accountQuery);
  if (account) return <Profile account={account} />;
  if (!error) return <LoadingRows label="Loading your profile" />;
  return <ErrorNotice title="We couldn’t load your profile" sentence={sentenceOf(error)} onRetry={() => void refetch()} />;
}

function Profile({ account }: { account: Account }) {
  return (
    <>
      <DialogPart title="Profile">
        <UsernameForm username={account.username} />
      </DialogPart>
      <Stack as="dl" lines className="line-above">
        <Grid columns="term" phone="stack" gap="4" rowGap="0" className="pad-row base">
          <dt className="muted">Email</dt>
          <dd className="break">{shownEmail(account.email)}</dd>
        </Grid>
        <Grid columns="term" phone="stack" gap="4" rowGap="0" className="pad-row base">
          <dt className="muted">Role</dt>
          <dd className="break">{ROLE_LABELS[account.role]}</dd>
        </Grid>
        <Grid columns="term" phone="stack" gap="4" rowGap="0" className="pad-row base">
          <dt className="muted">Member since</dt>
          <dd className="break">
            <time dateTime={account.created_at}>{describeDate(account.created_at)}</time>
          </dd>
        </Grid>
      </Stack>
      <OwnData account={account} />
    </>
  );
}

function UsernameForm({ username }: { username: string }) {
  const [value, setValue] = useState(username);
  const change = useChangeUsername();
  const wanted = value.trim();

  function submit() {
    if (wanted !== '' && wanted !== username) change.mutate(wanted, { onSuccess: (account) => setValue(account.username) });
  }

  return (
    <Form gap="4" error={change.error} busy={change.isPending} onSubmit={submit} onEdit={change.reset}>
      <TextInput
        label="Username"
        autoComplete="nickname"
        size="md"
        required
        withAsterisk={false}
        value={value}
        onChange={(event) => setValue(event.currentTarget.value)}
        error={messageAt('username', change.error)}
      />
      <Row gap="4" rowGap="2" justify="end">
        <p role="status" className="grow shrink base medium accent off-empty">
          {change.isSuccess && 'Username changed.'}
        </p>
        <Submit disabled={wanted === '' || wanted === username}>Change Username</Submit>
      </Row>
    </Form>
  );
}
