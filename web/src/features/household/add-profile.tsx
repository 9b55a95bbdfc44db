import { TextInput } from '@mantine/core';
import { DEVICE_NAME_MAXIMUM } from '@palisade/contract/device-name';
import { AGE_GROUPS, type AgeGroup, type Household, PROFILE_PICTURES } from '@palisade/contract/household';
import { formatNumber, plural } from '@palisade/contract/intl';
import type { WebProtection } from '@palisade/contract/web-protection';
import { useId, useState } from 'react';
import { LinkToPlans } from '#domain/plan/plans.tsx';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { ZONE } from '#ui/place.ts';
import { PressCard } from '#ui/press-card.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { useAddProfile } from './household.queries.ts';
import { AGES } from './rule-words.ts';
import { RulesList } from './rules-list.tsx';
import { SharedBy } from './shared-by.tsx';

/** The first picture that no other profile has; `computer` for a shared computer. */
function freePicture(profiles: Household['profiles'], isShared: boolean) {
  if (isShared) return 'computer';
  return PROFILE_PICTURES.find((one) => one !== 'computer' && profiles.every(({ picture }) => picture !== one)) ?? 'star';
}

/** The youngest age group among the people who share a computer. */
function youngest(profiles: Household['profiles'], ids: readonly string[]): AgeGroup | undefined {
  return AGE_GROUPS.find((age) => profiles.some(({ id, age_group }) => ids.includes(id) && age_group === age));
}

interface AddProfileProps {
  home: Household;
  web: Pick<WebProtection, 'categories' | 'services'>;
  onClose: () => void;
}

/** Adds a person by name and age. The preset of the age group sets everything else. */
export function AddProfile({ home, web, onClose }: AddProfileProps) {
  const [name, setName] = useState('');
  const [age, setAge] = useState<AgeGroup>();
  const [shared_by, setSharedBy] = useState<string[]>([]);
  const [isAgeMissing, setIsAgeMissing] = useState(false);
  const add = useAddProfile();
  const question = useId();
  const { profiles, profiles_maximum } = home;
  const isShared = shared_by.length > 0;
  const age_group = youngest(profiles, shared_by) ?? age;
  const preset = home.presets.find((one) => one.age_group === age_group);

  function submit() {
    setIsAgeMissing(age_group === undefined);
    if (age_group === undefined) return;
    const picture = freePicture(profiles, isShared);
    add.mutate({ name, picture, age_group, shared_by, time_zone: ZONE.name }, { onSuccess: onClose });
  }

  if (profiles.length >= profiles_maximum)
    return (
      <Card title="Add a person">
        <Stack gap="3">
          <p>
            {profiles_maximum === 0
              ? 'Profiles need a plan. Request one to add a person.'
              : plural(profiles_maximum, {
                  one: 'Your plan has room for 1 profile. Remove it first, or request a larger plan.',
                  other: `Your plan has room for ${formatNumber(profiles_maximum)} profiles. Remove one first, or request a larger plan.`,
                })}
          </p>
          <Row>
            <LinkToPlans variant="quiet" />
          </Row>
        </Stack>
      </Card>
    );
  return (
    <Card
      title="Add a person"
      action={
        <Button variant="quiet" size="s" onClick={onClose}>
          Close
        </Button>
      }
    >
      <Form gap="4" error={add.error} busy={add.isPending} onEdit={add.reset} onSubmit={submit}>
        <TextInput
          label="Name"
          size="md"
          required
          withAsterisk={false}
          autoFocus
          autoComplete="off"
          maxLength={DEVICE_NAME_MAXIMUM}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        {!isShared && (
          <Stack gap="2">
            <b id={question}>{name.trim() === '' ? 'How old are they?' : `How old is ${name.trim()}?`}</b>
            <Grid as="fieldset" columns="fit-m" gap="3" className="shrink bare" aria-labelledby={question}>
              {AGE_GROUPS.map((one) => (
                <PressCard
                  key={one}
                  {...AGES[one]}
                  isOn={one === age}
                  onPress={() => {
                    setAge(one);
                    setIsAgeMissing(false);
                  }}
                />
              ))}
            </Grid>
          </Stack>
        )}
        <SharedBy profiles={profiles} chosen={shared_by} onChange={setSharedBy} />
        {preset && (
          <div role="status" className="surface-sunken pad-m sub">
            <RulesList rules={preset.rules} web={web} />
            <p className="above-2">You can change all of it.</p>
          </div>
        )}
        <Refusal error={add.error ?? isAgeMissing}>{isAgeMissing ? 'Choose an age.' : undefined}</Refusal>
        <Row>
          <Submit>Add</Submit>
        </Row>
      </Form>
    </Card>
  );
}
