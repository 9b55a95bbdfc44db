import { TextInput } from '@mantine/core';
import { timeZones } from '@palisade/contract/day';
import { GUARDIANS_MAXIMUM, type Household } from '@palisade/contract/household';
import { useId, useState } from 'react';
import { Address } from '#ui/address.tsx';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { CopyButton } from '#ui/copy-button.tsx';
import { EmailField } from '#ui/email-field.tsx';
import { EmailNeeded, useIsUnproven } from '#ui/email-needed.tsx';
import { Face } from '#ui/face.tsx';
import { FocusKept } from '#ui/focus-kept.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { describeComing } from '#ui/moment.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { useInviteGuardian, useLeaveHome, useSetHomeTimeZone, useWithdrawInvite } from './household.queries.ts';

function Invites({ invites }: Pick<Household, 'invites'>) {
  const withdraw = useWithdrawInvite();
  if (invites.length === 0) return null;
  return (
    <FocusKept>
      <Stack as="ul" lines>
        {invites.map(({ id, email, expires_at }) => (
          <Row as="li" key={id} justify="between" gap="3" className="pad-line">
            <Stack gap="0" className="shrink">
              <Address text={email} />
              <span className="sub">{`Invited. The link works until ${describeComing(expires_at)}.`}</span>
            </Stack>
            <Button
              variant="text"
              size="s"
              aria-label={`Withdraw the invitation to ${email}`}
              disabled={withdraw.isPending}
              onClick={() => withdraw.mutate(id)}
            >
              Withdraw
            </Button>
          </Row>
        ))}
      </Stack>
      <Refusal error={withdraw.error} />
    </FocusKept>
  );
}

function InviteForm() {
  const [email, setEmail] = useState('');
  const invite = useInviteGuardian();
  const isUnproven = useIsUnproven();
  // A server without a public address returns only the path.
  const link = invite.data && new URL(invite.data.link, window.location.origin).href;
  return (
    <Form
      gap="2"
      error={invite.error}
      busy={invite.isPending}
      onEdit={invite.reset}
      onSubmit={() => invite.mutate(email, { onSuccess: () => setEmail('') })}
    >
      <h3>Invite another guardian</h3>
      <p className="sub">They can change the same rules and devices as you.</p>
      <EmailField label="Their email" required value={email} onChange={(event) => setEmail(event.currentTarget.value)} />
      <EmailNeeded sentence="Confirm your email address first." />
      <Refusal error={invite.error} />
      <Row>
        <Submit variant="quiet" disabled={isUnproven}>
          Invite guardian
        </Submit>
      </Row>
      {link !== undefined && (
        <Stack gap="2" className="surface-accent pad-m" role="status">
          <p>We email this link if email is set up. You can also hand it over:</p>
          <code className="ink break">
            <Address text={link} />
          </code>
          <Row>
            <CopyButton size="s" text={link} copied="The link was copied." label="Copy link" />
          </Row>
        </Stack>
      )}
    </Form>
  );
}

function TimeZoneForm({ time_zone }: Pick<Household, 'time_zone'>) {
  const zones = useId();
  const [typed, setTyped] = useState(time_zone);
  const save = useSetHomeTimeZone();
  return (
    <Form gap="2" error={save.error} busy={save.isPending} onEdit={save.reset} onSubmit={() => save.mutate(typed)}>
      <TextInput
        label="Time zone of your home"
        description="Bedtimes and other times are on its clock."
        size="md"
        required
        withAsterisk={false}
        list={zones}
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
      <datalist id={zones}>
        {timeZones().map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
      <Refusal error={save.error} />
      <Row>
        <Submit variant="quiet" disabled={typed === time_zone}>
          Save time zone
        </Submit>
      </Row>
    </Form>
  );
}

/** The guardians of a home, and its time zone. */
export function HomeCard({ home }: { home: Household }) {
  const { guardians, invites, profiles, time_zone } = home;
  const isOnlyGuardian = guardians.length === 1;
  const leave = useLeaveHome();
  return (
    <Card title="Your home">
      <Grid columns="2" tablet="stack" gap="5" align="start">
        <Stack gap="3">
          <h3>Guardians</h3>
          <Stack as="ul" lines>
            {guardians.map(({ id, name, is_me }) => (
              <Row as="li" key={id} justify="between" gap="3" className="pad-line">
                <Row gap="3" wrap={false} className="shrink">
                  <Face name={name} />
                  <span className="break">{is_me ? `${name} (you)` : name}</span>
                </Row>
                {is_me && (!isOnlyGuardian || profiles.length === 0) && (
                  <Button
                    variant="text"
                    size="s"
                    loading={leave.isPending}
                    onClick={() => {
                      const question = isOnlyGuardian
                        ? 'Leave this home?'
                        : 'Leave this home? Its profiles stay with the other guardians.';
                      if (window.confirm(question)) leave.mutate();
                    }}
                  >
                    Leave home
                  </Button>
                )}
              </Row>
            ))}
          </Stack>
          <Refusal error={leave.error} />
          <Invites invites={invites} />
          {guardians.length + invites.length < GUARDIANS_MAXIMUM && <InviteForm />}
        </Stack>
        <TimeZoneForm key={time_zone} time_zone={time_zone} />
      </Grid>
    </Card>
  );
}

const LIMITS = [
  { what: 'Mobile data and other networks', result: 'Away from your home’s Wi-Fi, these rules may not apply.' },
  { what: 'Another setting in a browser', result: 'A browser can use its own DNS setting. Change it there too.' },
  {
    what: 'A changed setting',
    result: 'People can change settings of their device. You see here when it stops asking.',
  },
];

/** Ways to get around the rules that the server cannot block. */
export function LimitsCard() {
  return (
    <Card title="What can get around these rules" level="sunken">
      <Grid as="ul" columns="fit-l" gap="4">
        {LIMITS.map(({ what, result }) => (
          <li key={what}>
            <b>{what}</b>
            <p className="sub">{result}</p>
          </li>
        ))}
      </Grid>
    </Card>
  );
}
