import { TextInput } from '@mantine/core';
import type { Profile, ProfileRefusal } from '@palisade/contract/household';
import { formatNumber } from '@palisade/contract/intl';
import type { WebProtection } from '@palisade/contract/web-protection';
import { useState } from 'react';
import { reasonOf } from '#domain/web-device/web-words.ts';
import { Badge } from '#ui/badge.tsx';
import { Button } from '#ui/button.tsx';
import { Choice } from '#ui/choice.tsx';
import { FocusKept } from '#ui/focus-kept.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { describeUntil, Moment, useMinute } from '#ui/moment.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { useAddProfileName, useRemoveProfileName } from './household.queries.ts';

function RefusedLine({ refused, profileId, services }: RefusedLineProps) {
  const now = useMinute();
  const allow = useAddProfileName();
  const { name, category, count, device_name, last_at } = refused;
  const send = (for_an_hour: boolean) => allow.mutate({ id: profileId, name, verdict: 'allow', for_an_hour });
  return (
    <Stack as="li" gap="1" className="pad-line">
      <Grid columns="tail" phone="stack" gap="3" rowGap="2" align="center">
        <Stack gap="1" className="shrink">
          <bdi className="medium break">{name}</bdi>
          <Row gap="2" rowGap="1">
            <Badge tone={category === 'dangerous' ? 'danger' : 'plain'}>{reasonOf(category, services)}</Badge>
            <span className="sub">{device_name}</span>
            <span className="sub">
              <Moment iso={last_at} now={now} />
            </span>
            {count > 1 && <span className="sub">{`${formatNumber(count)} times`}</span>}
          </Row>
        </Stack>
        {category !== 'dangerous' && (
          <Row gap="2">
            <Button
              variant="quiet"
              size="s"
              aria-label={`Allow ${name} for an hour`}
              disabled={allow.isPending}
              onClick={() => send(true)}
            >
              For an hour
            </Button>
            <Button
              variant="quiet"
              size="s"
              aria-label={`Allow ${name} always`}
              disabled={allow.isPending}
              onClick={() => send(false)}
            >
              Always
            </Button>
          </Row>
        )}
      </Grid>
      <Refusal error={allow.error} />
    </Stack>
  );
}

interface RefusedLineProps {
  refused: ProfileRefusal;
  profileId: string;
  services: WebProtection['services'];
}

/** Names that were refused on the devices of a profile. */
export function RefusedNames({ profile, services }: { profile: Profile; services: WebProtection['services'] }) {
  return (
    <FocusKept>
      <Stack as="ul" lines>
        {profile.refused.map((refused) => (
          <RefusedLine key={refused.id} refused={refused} profileId={profile.id} services={services} />
        ))}
      </Stack>
    </FocusKept>
  );
}

const VERDICTS = [
  { value: 'block', label: 'Block' },
  { value: 'hour', label: 'Allow for an hour' },
  { value: 'allow', label: 'Allow always' },
];

/** Names that guardians allowed or blocked. */
export function GivenNames({ profile: { id, names } }: { profile: Profile }) {
  const now = useMinute();
  const [typed, setTyped] = useState('');
  const [verdict, setVerdict] = useState('block');
  const add = useAddProfileName();
  const remove = useRemoveProfileName();
  function submit() {
    const body = { name: typed, verdict: verdict === 'block' ? 'block' : 'allow', for_an_hour: verdict === 'hour' } as const;
    add.mutate({ id, ...body }, { onSuccess: () => setTyped('') });
  }
  return (
    <Stack gap="3">
      {names.length > 0 && (
        <FocusKept>
          <Stack as="ul" lines>
            {names.map((one) => (
              <Row as="li" key={one.id} justify="between" gap="3" className="pad-line">
                <Stack gap="0" className="shrink">
                  <bdi className="break">{one.name}</bdi>
                  <span className="sub">
                    {one.verdict === 'block'
                      ? 'Blocked'
                      : one.until === null
                        ? 'Allowed'
                        : `Allowed until ${describeUntil(one.until, now)}`}
                  </span>
                </Stack>
                <Button
                  variant="text"
                  size="s"
                  aria-label={`Remove ${one.name}`}
                  disabled={remove.isPending}
                  onClick={() => remove.mutate(one.id)}
                >
                  Remove
                </Button>
              </Row>
            ))}
          </Stack>
        </FocusKept>
      )}
      <Form gap="2" error={add.error} busy={add.isPending} onEdit={add.reset} onSubmit={submit}>
        <Grid columns="fit-m" gap="2">
          <TextInput
            aria-label="Website"
            placeholder="example.com"
            autoCapitalize="none"
            autoComplete="off"
            spellCheck={false}
            required
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
          />
          <Choice
            aria-label="Block or allow"
            value={verdict}
            data={VERDICTS}
            onChange={(event) => setVerdict(event.currentTarget.value)}
          />
        </Grid>
        <Row>
          <Submit variant="quiet" size="s">
            Save website
          </Submit>
        </Row>
      </Form>
      <Refusal error={add.error ?? remove.error} />
    </Stack>
  );
}
