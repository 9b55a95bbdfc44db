import { TextInput } from '@mantine/core';
import type { Household } from '@palisade/contract/household';
import { formatNumber, plural } from '@palisade/contract/intl';
import { useState } from 'react';
import { Button } from '#ui/button.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { describeAge, useMinute } from '#ui/moment.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { type HouseholdAsk, useAnswerAsk } from './household.ts';
import { ProfileFace } from './profile-face.tsx';
import { answerEffect } from './times.ts';

const ANSWERS = [
  { given: 'hour', label: 'For one hour' },
  { given: 'always', label: 'Always' },
  { given: 'no', label: 'No' },
] as const;

interface AskCardProps {
  ask: HouseholdAsk;
  profile: Household['profiles'][number];
  time_zone: string;
}

/** A waiting “May I?” request with buttons for the answers. */
export function AskCard({ ask, profile, time_zone }: AskCardProps) {
  const now = useMinute();
  const [line, setLine] = useState('');
  const answer = useAnswerAsk();
  const effect = answerEffect(profile, time_zone, now);
  const { id, name, count, asked_at, device_name } = ask;
  return (
    <Grid columns="lead" gap="3" align="start" className="surface-amber pad-m">
      <ProfileFace picture={profile.picture} />
      <Stack gap="3" className="shrink">
        <Stack gap="0">
          <span className="break">
            <Sentence text="**{who}** asks for **{name}**" parts={{ who: <bdi>{profile.name}</bdi>, name: <bdi>{name}</bdi> }} />
          </span>
          <span className="sub num">
            {plural(count, {
              one: `${device_name}, ${describeAge(asked_at, now)}`,
              other: `${device_name}, ${describeAge(asked_at, now)}, asked ${formatNumber(count)} times`,
            })}
          </span>
        </Stack>
        {effect !== undefined && <p className="small">{effect}</p>}
        <TextInput
          size="sm"
          aria-label={`Your words to ${profile.name}`}
          placeholder="Add a line (optional)"
          maxLength={200}
          value={line}
          onChange={(event) => setLine(event.currentTarget.value)}
        />
        <Row gap="2">
          {ANSWERS.map(({ label, given }) => (
            <Button
              key={given}
              size="s"
              variant="quiet"
              disabled={answer.isPending}
              onClick={() => answer.mutate({ id, answer: given, line })}
            >
              {label}
            </Button>
          ))}
        </Row>
        <Refusal error={answer.error} />
      </Stack>
    </Grid>
  );
}

/** The waiting requests of a home, newest first. */
export function waitingAsks({ asks, profiles, time_zone }: Pick<Household, 'asks' | 'profiles' | 'time_zone'>): AskCardProps[] {
  return asks.flatMap((ask) => {
    const profile = profiles.find(({ id }) => id === ask.profile_id);
    return ask.answer === 'wait' && profile !== undefined ? [{ ask, profile, time_zone }] : [];
  });
}
