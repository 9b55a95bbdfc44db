import type { WebName, WebProtection } from '@palisade/contract/web-protection';
import { useState } from 'react';
import { Link } from 'react-router';
import { RuleChoices } from '#domain/web-device/rule-choices.tsx';
import { useAddName } from '#domain/web-device/web-devices.ts';
import { RemoveWebsite, WebsiteField } from '#domain/web-device/website-field.tsx';
import { Button } from '#ui/button.tsx';
import { ScreenLink } from '#ui/button-link.tsx';
import { Card } from '#ui/card.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { describeMoment, useMinute } from '#ui/moment.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { usePause, useRemoveName, useSetPolicy } from './web-protection.queries.ts';

/** Dangerous websites: blocked, unless paused for an hour. */
function Dangerous({ web: { devices, paused_until } }: { web: WebProtection }) {
  const now = useMinute();
  const pause = usePause();
  const isAsked = devices.some(({ last_question_at }) => last_question_at !== null);
  const refused = isAsked ? 'Refused on your connected devices.' : 'Will be refused once a device is connected.';
  return (
    <>
      <Grid columns="tail" phone="stack" gap="3" rowGap="2" align="center">
        <Stack gap="0" className="shrink">
          <b>Dangerous websites</b>
          <span className="sub">{paused_until === null ? refused : `Paused until ${describeMoment(paused_until, now)}.`}</span>
        </Stack>
        {(isAsked || paused_until !== null) && (
          <Button variant="quiet" size="s" loading={pause.isPending} onClick={() => pause.mutate(paused_until === null)}>
            {paused_until === null ? 'Pause for an hour' : 'Resume protection'}
          </Button>
        )}
      </Grid>
      <Refusal error={pause.error} />
    </>
  );
}

/** Choices for all devices of the person, except those of household profiles. A change takes effect within a minute. */
export function ChoicesCard({ web }: { web: WebProtection }) {
  const change = useSetPolicy();
  const policy = change.isPending ? change.variables : web.policy;
  return (
    <Card title="What to block">
      <Stack gap="4">
        <p className="sub">
          <Sentence
            text="For your own devices. People in {household} have their own rules. Changes take effect within a minute."
            parts={{ household: <Link to="/household">Household</Link> }}
          />
        </p>
        <Dangerous web={web} />
        <RuleChoices web={web} policy={policy} onChange={change.mutate} />
        <Refusal error={change.error} />
      </Stack>
    </Card>
  );
}

/** Replaces the choices if all devices belong to household profiles. */
export function OfHouseholdCard() {
  return (
    <Card title="What to block">
      <Stack gap="3">
        <p className="sub">All these devices belong to people of your household. Each person has their own rules.</p>
        <Row>
          <ScreenLink to="/household" variant="quiet">
            Edit rules in Household
          </ScreenLink>
        </Row>
      </Stack>
    </Card>
  );
}

/** Websites that the person blocks or allows. */
export function NamesCard({ names }: { names: readonly WebName[] }) {
  const [typed, setTyped] = useState('');
  const add = useAddName();
  const remove = useRemoveName();
  return (
    <Card title="Your own websites">
      <Stack gap="3">
        <p className="sub">A website counts with all its subdomains. Dangerous ones stay blocked.</p>
        {names.length > 0 && (
          <Stack as="ul" lines>
            {names.map(({ id, name, verdict }) => (
              <Row as="li" key={id} justify="between" gap="3" className="pad-row">
                <span className="shrink break">
                  <bdi>{name}</bdi> <span className="muted">{verdict === 'allow' ? 'allowed' : 'blocked'}</span>
                </span>
                <RemoveWebsite name={name} disabled={remove.isPending} onRemove={() => remove.mutate(id)} />
              </Row>
            ))}
          </Stack>
        )}
        <Form
          gap="2"
          error={add.error}
          busy={add.isPending}
          onEdit={add.reset}
          onSubmit={() => add.mutate({ name: typed, verdict: 'block' }, { onSuccess: () => setTyped('') })}
        >
          <WebsiteField label="Website" value={typed} onChange={setTyped} />
          <Row>
            <Submit variant="quiet">Block website</Submit>
          </Row>
        </Form>
        <Refusal error={add.error ?? remove.error} />
      </Stack>
    </Card>
  );
}
