import { type Role, roleSchema } from '@palisade/contract/auth';
import { formatNumber, plural } from '@palisade/contract/intl';
import { shownEmail } from '@palisade/contract/shown-email';
import type { AdminUser } from '@palisade/contract/users';
import { IconClipboardList, IconUserCog } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';
import { useSession } from '#api/session.ts';
import { ROLE_LABELS } from '#domain/activity/activity-words.ts';
import { PersonRecord } from '#domain/person/person-record.tsx';
import { Badge } from '#ui/badge.tsx';
import { Button } from '#ui/button.tsx';
import { Choice } from '#ui/choice.tsx';
import { DialogPart } from '#ui/dialog-part.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';
import { Listed } from '#ui/listed.tsx';
import { ModalWindow } from '#ui/modal-window.tsx';
import { describeAge, Moment, useMinute } from '#ui/moment.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { SideTabs } from '#ui/side-tabs.tsx';
import { LoadingRows } from '#ui/states.tsx';
import { TwoLines } from '#ui/two-lines.tsx';
import { StateBadge } from './user-table.tsx';
import { useChangeUser, useDeleteUnproven, useEndUserSessions, userSessionsQuery } from './users.queries.ts';

// Loaded on demand, because few administrators open it.
const DeleteUser = lazyPart(async () => (await import('./delete-user.tsx')).DeleteUser);

/** Permissions of a role, in a sentence. */
const ROLE_SENTENCES: Record<Role, string> = {
  customer: 'Manages only their own account.',
  support: 'Also answers chats and joins remote sessions by code.',
  admin: 'Also assigns plans, manages people, and reads the audit log.',
};

/** Confirmation after a role is given: when it applies, and where the person finds it. */
const DONE: Record<Role, string> = {
  customer: 'Done. From now on they are a customer.',
  support: 'Done. From now on the Support Desk is in their menu, without signing in again.',
  admin: 'Done. From now on they administer this installation, without signing in again.',
};

interface UserDialogProps {
  user: AdminUser;
  onChanged: (user: AdminUser) => void;
  onClose: () => void;
}

const TABS = [
  { name: 'record', label: 'Record', icon: IconClipboardList },
  { name: 'account', label: 'Account', icon: IconUserCog },
] as const;

/** In px: room for the tabs and a record of two columns. */
const WIDTH = 920;

/** A person's record, with the actions of an administrator. */
export function UserDialog({ user, onChanged, onClose }: UserDialogProps) {
  const isSelf = useSession().session?.user_info.id === user.id;
  const [tab, setTab] = useState<(typeof TABS)[number]['name']>('record');
  return (
    <ModalWindow title={user.username} size={WIDTH} onClose={onClose}>
      <Row as="p" gap="3" rowGap="1" className="base muted break">
        <bdi>{shownEmail(user.email)}</bdi>
        <StateBadge user={user} />
        <Link to={`/admin/audit?person=${encodeURIComponent(user.email)}`}>Activity in the audit log</Link>
      </Row>
      <SideTabs label="Record" tabs={TABS} chosen={tab} onChoose={setTab} isFirst>
        {tab === 'account' && (
          <>
            <RolePart user={user} isSelf={isSelf} onChanged={onChanged} />
            <AccessPart user={user} isSelf={isSelf} onChanged={onChanged} />
            <SessionsPart user={user} />
            {user.email_unproven && !isSelf && <UnprovenPart user={user} onDeleted={onClose} />}
            {!user.email_unproven && !isSelf && <EndPart user={user} onDeleted={onClose} />}
          </>
        )}
        {tab === 'record' && <PersonRecord user_id={user.id} />}
      </SideTabs>
    </ModalWindow>
  );
}

interface PartProps extends Pick<UserDialogProps, 'user' | 'onChanged'> {
  isSelf: boolean;
}

function RolePart({ user, isSelf, onChanged }: PartProps) {
  const [chosen, setChosen] = useState<Role>();
  const role = chosen ?? user.role;
  const change = useChangeUser(user);
  return (
    <div className="dialog-part">
      <Choice
        label="Role"
        size="md"
        description={ROLE_SENTENCES[role]}
        data={roleSchema.options.map((value) => ({ value, label: ROLE_LABELS[value] }))}
        value={role}
        onChange={(event) => {
          setChosen(roleSchema.catch(user.role).parse(event.currentTarget.value));
          change.reset();
        }}
      />
      {isSelf && role !== user.role && (
        <p className="base amber">This is your own account. You’ll stop being an administrator at once.</p>
      )}
      <Refusal error={change.error} />
      <p role="status" className="sub">
        {change.isSuccess && role === user.role && DONE[role]}
      </p>
      {role !== user.role && (
        <div className="modal-window__actions">
          <Button variant="quiet" onClick={() => setChosen(undefined)}>
            Cancel
          </Button>
          <Button
            loading={change.isPending}
            onClick={() =>
              change.mutate(
                { role },
                {
                  onSuccess(changed) {
                    setChosen(undefined);
                    onChanged(changed);
                  },
                },
              )
            }
          >{`Make ${ROLE_LABELS[role]}`}</Button>
        </div>
      )}
    </div>
  );
}

function AccessPart({ user, isSelf, onChanged }: PartProps) {
  const [isAsking, setIsAsking] = useState(false);
  const change = useChangeUser(user);
  const isDisabled = user.disabled_at !== null;
  const email = <bdi>{shownEmail(user.email)}</bdi>;
  return (
    <DialogPart
      title="Sign-in"
      action={
        isDisabled ? (
          <Button
            size="s"
            loading={change.isPending}
            onClick={() => change.mutate({ disabled: false }, { onSuccess: onChanged })}
          >
            Enable account
          </Button>
        ) : (
          !isAsking && (
            <Button variant="quiet" size="s" onClick={() => setIsAsking(true)}>
              Disable account
            </Button>
          )
        )
      }
    >
      <p className="sub">
        {isDisabled
          ? 'They can’t sign in. They’ll read whom to ask.'
          : 'They can sign in. Disabling the account signs them out everywhere and deletes nothing.'}
      </p>
      {isAsking && !isDisabled && (
        <Stack gap="3" className="surface-sunken pad-m base break">
          <p>
            <Sentence
              text={plural(user.sessions, {
                one: 'Disable {email} and end 1 session?',
                other: 'Disable {email} and end {count} sessions?',
              })}
              parts={{ email, count: formatNumber(user.sessions) }}
            />
            {isSelf && ' This is your own account.'}
          </p>
          <div className="modal-window__actions">
            <Button variant="quiet" size="s" onClick={() => setIsAsking(false)}>
              Keep it
            </Button>
            <Button
              size="s"
              loading={change.isPending}
              onClick={() =>
                change.mutate(
                  { disabled: true },
                  {
                    onSuccess(changed) {
                      setIsAsking(false);
                      onChanged(changed);
                    },
                  },
                )
              }
            >
              Disable and sign out
            </Button>
          </div>
        </Stack>
      )}
      <Refusal error={change.error} />
    </DialogPart>
  );
}

/** Deletes an account with an unconfirmed address. Such an account blocks its address and username for their real owners. */
function UnprovenPart({ user, onDeleted }: { user: AdminUser; onDeleted: () => void }) {
  const [isAsking, setIsAsking] = useState(false);
  const remove = useDeleteUnproven(user);
  return (
    <DialogPart
      title="Unconfirmed address"
      action={
        !isAsking && (
          <Button variant="quiet" size="s" onClick={() => setIsAsking(true)}>
            Delete account
          </Button>
        )
      }
    >
      <p className="sub">No one has confirmed this address. Delete the account to free its address and username.</p>
      {isAsking && (
        <Stack gap="3" className="surface-sunken pad-m base break">
          <p>
            <Sentence
              text="Delete {email} with everything in it? This cannot be undone."
              parts={{ email: <bdi>{shownEmail(user.email)}</bdi> }}
            />
          </p>
          <div className="modal-window__actions">
            <Button variant="quiet" size="s" onClick={() => setIsAsking(false)}>
              Keep it
            </Button>
            <Button size="s" loading={remove.isPending} onClick={() => remove.mutate(undefined, { onSuccess: onDeleted })}>
              Delete for good
            </Button>
          </div>
        </Stack>
      )}
      <Refusal error={remove.error} />
    </DialogPart>
  );
}

/** Deletes an account. */
function EndPart({ user, onDeleted }: { user: AdminUser; onDeleted: () => void }) {
  const [isAsking, setIsAsking] = useState(false);
  return (
    <DialogPart
      title="Account and data"
      action={
        !isAsking && (
          <Button variant="quiet" size="s" onClick={() => setIsAsking(true)}>
            Delete account
          </Button>
        )
      }
    >
      {isAsking ? (
        <DeleteUser
          meanwhile={<LoadingRows label="Loading the form" />}
          user={user}
          onDeleted={onDeleted}
          onKeep={() => setIsAsking(false)}
        />
      ) : (
        <p className="sub">Delete the account with its files and plan. You’ll confirm with your password.</p>
      )}
    </DialogPart>
  );
}

function SessionsPart({ user }: { user: AdminUser }) {
  const { data: sessions, error, refetch } = useQuery(userSessionsQuery(user.id));
  const end = useEndUserSessions(user.id);
  const now = useMinute();
  return (
    <DialogPart
      title="Signed-in sessions"
      action={
        sessions &&
        sessions.length > 1 && (
          <Button
            variant="quiet"
            size="s"
            loading={end.isPending && end.variables === undefined}
            onClick={() => end.mutate(undefined)}
          >
            Sign out everywhere
          </Button>
        )
      }
    >
      <Refusal error={end.error} />
      <Listed of="the sessions" list={{ rows: sessions, error, refetch }} empty={<p className="sub">Not signed in anywhere.</p>}>
        {(rows) => (
          <Stack as="ul" lines>
            {rows.map(({ id, client, source, created_at, last_used_at, current }) => (
              <Grid as="li" columns="tail" gap="3" align="center" className="pad-row" key={id}>
                <TwoLines
                  name={
                    <>
                      {client}
                      {current && <Badge tone="plain">This session</Badge>}
                    </>
                  }
                  line={
                    source ? (
                      <Sentence
                        text="{source}, signed in {when}, last used {used}"
                        parts={{
                          source: <span className="num">{source}</span>,
                          when: <Moment iso={created_at} now={now} />,
                          used: describeAge(last_used_at, now),
                        }}
                      />
                    ) : (
                      <Sentence
                        text="signed in {when}, last used {used}"
                        parts={{ when: <Moment iso={created_at} now={now} />, used: describeAge(last_used_at, now) }}
                      />
                    )
                  }
                />
                <Button
                  variant="quiet"
                  size="s"
                  loading={end.isPending && end.variables === id}
                  aria-label={`Sign out ${client}`}
                  onClick={() => end.mutate(id)}
                >
                  Sign out
                </Button>
              </Grid>
            ))}
          </Stack>
        )}
      </Listed>
    </DialogPart>
  );
}
