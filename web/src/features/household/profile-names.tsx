import type { Profile, ProfileRefusal } from '@palisade/contract/household';
import type { WebProtection } from '@palisade/contract/web-protection';
import { useState } from 'react';
import { RefusedWebsite } from '#domain/web-device/refused-website.tsx';
import { RemoveWebsite, WebsiteField } from '#domain/web-device/website-field.tsx';
import { Button } from '#ui/button.tsx';
import { Choice } from '#ui/choice.tsx';
import { FocusKept } from '#ui/focus-kept.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { describeUntil, useMinute } from '#ui/moment.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { useAddProfileName, useRemoveProfileName } from './household.queries.ts';

interface RefusedLineProps {
  refused: ProfileRefusal;
  profileId: string;
  services: WebProtection['services'];
}

function RefusedLine({ refused, profileId, services }: RefusedLineProps) {
  const allow = useAddProfileName();
  const { name, category, device_name } = refused;
  const choices = [
    { label: 'For an hour', words: `Allow ${name} for an hour`, for_an_hour: true },
    { label: 'Always', words: `Allow ${name} always`, for_an_hour: false },
  ];
  return (
    <Stack as="li" gap="1" className="pad-line">
      <Grid columns="tail" phone="stack" gap="3" rowGap="2" align="center">
        <RefusedWebsite refused={refused} device={device_name} services={services} />
        {category !== 'dangerous' && (
          <Row gap="2">
            {choices.map(({ label, words, for_an_hour }) => (
              <Button
                key={label}
                variant="quiet"
                size="s"
                aria-label={words}
                disabled={allow.isPending}
                onClick={() => allow.mutate({ id: profileId, name, verdict: 'allow', for_an_hour })}
              >
                {label}
              </Button>
            ))}
          </Row>
        )}
      </Grid>
      <Refusal error={allow.error} />
    </Stack>
  );
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
                <RemoveWebsite name={one.name} disabled={remove.isPending} onRemove={() => remove.mutate(one.id)} />
              </Row>
            ))}
          </Stack>
        </FocusKept>
      )}
      <Form gap="2" error={add.error} busy={add.isPending} onEdit={add.reset} onSubmit={submit}>
        <Grid columns="fit-m" gap="2">
          <WebsiteField aria-label="Website" value={typed} onChange={setTyped} />
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
