import { TextInput } from '@mantine/core';
import type { ProfileRules } from '@palisade/contract/household';
import type { WebProtection } from '@palisade/contract/web-protection';
import { useState } from 'react';
import { WebsiteField } from '#domain/web-device/website-field.tsx';
import { Choice } from '#ui/choice.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { Grid, Row } from '#ui/layout.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { useTryProfile } from './household.queries.ts';
import { DAY_NAMES, triedWords } from './rule-words.ts';

interface TryFieldProps {
  profileId: string;
  /** The edited rules, possibly unsaved. */
  rules: ProfileRules;
  services: WebProtection['services'];
}

/** Shows whether the edited rules would refuse a website on a day at a time. */
export function TryField({ profileId, rules, services }: TryFieldProps) {
  const [name, setName] = useState('');
  const [day, setDay] = useState(1);
  const [clock, setClock] = useState('20:00');
  const attempt = useTryProfile();
  const { reset } = attempt;
  const sent = attempt.variables;
  const isCurrent = sent !== undefined && sent.rules === rules;
  return (
    <Form
      gap="3"
      error={attempt.error}
      busy={attempt.isPending}
      onEdit={reset}
      onSubmit={() => attempt.mutate({ id: profileId, name, day, clock, rules })}
    >
      <Grid columns="fit-s" gap="3" align="end">
        <WebsiteField label="Website" value={name} onChange={setName} />
        <Choice
          label="Day"
          value={String(day)}
          data={DAY_NAMES.map((label, index) => ({ label, value: String(index + 1) }))}
          onChange={(event) => setDay(Number(event.currentTarget.value))}
        />
        <TextInput
          label="Time"
          type="time"
          required
          withAsterisk={false}
          value={clock}
          onChange={(event) => setClock(event.currentTarget.value)}
        />
      </Grid>
      <Row gap="3">
        <Submit variant="quiet" size="s">
          Test
        </Submit>
        <b role="status">{attempt.data && isCurrent && triedWords(attempt.data, rules, sent, services)}</b>
      </Row>
      <Refusal error={attempt.error} />
    </Form>
  );
}
