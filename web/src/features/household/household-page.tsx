import type { Household } from '@palisade/contract/household';
import { formatNumber, listFirst, plural } from '@palisade/contract/intl';
import { IconEyeOff, IconHeartHandshake, IconHome, IconMoon, IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { sentenceOf } from '#api/call.ts';
import { waitingAsks } from '#domain/household/ask-card.tsx';
import { householdQuery } from '#domain/household/household.ts';
import { LinkToPlans } from '#domain/plan/plans.tsx';
import { webProtectionQuery } from '#domain/web-device/web-devices.ts';
import { Button } from '#ui/button.tsx';
import { ScreenLink } from '#ui/button-link.tsx';
import { Grid } from '#ui/layout.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';
import { Lead, LeadWaiting } from '#ui/lead.tsx';
import { Page } from '#ui/page.tsx';
import { ErrorNotice } from '#ui/states.tsx';
import { useAsked } from '#ui/use-asked.ts';
import { AddProfile } from './add-profile.tsx';
import { type Lists, listlessWords } from './rule-words.ts';
import { WaitingAsks } from './waiting-asks.tsx';

/** Loaded when the home has people. */
const People = lazyPart(async () => (await import('./people.tsx')).People);

/** Whether no person can be added without a plan. A link to the plans then replaces the form. */
const needsPlan = ({ profiles, profiles_maximum }: Household) => profiles.length === 0 && profiles_maximum === 0;

/** The page's main message, unless a request replaces it. */
function answerOf(home: Household, lists: Lists) {
  const { profiles } = home;
  if (profiles.length === 0)
    return {
      tone: 'unknown',
      title: needsPlan(home) ? 'Household needs a plan.' : 'Add the people of your home.',
      sentence: needsPlan(home)
        ? 'Then you choose what opens on your family’s devices, and when.'
        : 'Choose what opens on their devices, and when.',
    } as const;
  const without = profiles.filter(({ state }) => state === 'no_plan');
  if (without.length > 0)
    return {
      tone: 'attention',
      title: `Rules are off for ${listFirst(without.map(({ name }) => name))}.`,
      sentence: 'They apply again with a plan.',
    } as const;
  const devices = profiles.flatMap((profile) => profile.devices);
  const silent = devices.filter(({ is_silent }) => is_silent);
  if (silent.length > 0)
    return {
      tone: 'attention',
      title: `No rules apply on ${listFirst(silent.map(({ name }) => name))} now.`,
      sentence: 'It doesn’t use web protection any more. Check its settings.',
    } as const;
  if (devices.length === 0)
    return {
      tone: 'unknown',
      title: 'Give your people their devices.',
      sentence: 'Rules apply once a device is connected.',
      next: { label: 'Add a device', to: `/web-protection?add=&for=${profiles[0]?.id}` },
    } as const;
  const [waiting] = devices;
  if (waiting && devices.every(({ last_question_at }) => last_question_at === null))
    return {
      tone: 'attention',
      title: `Finish the steps on ${listFirst(devices.map(({ name }) => name))}.`,
      sentence: 'Rules apply from the first website that opens there.',
      next: { label: 'Show steps', to: `/web-protection?device=${waiting.id}` },
    } as const;
  const partly = profiles.filter(({ rules }) => listlessWords(rules, lists) !== undefined);
  if (partly.length > 0)
    return {
      tone: 'attention',
      title: `Not every rule applies for ${listFirst(partly.map(({ name }) => name))}.`,
      sentence: 'This server lacks lists of websites. Support can add them.',
      // Only the provider can give the server a list.
      next: { label: 'Ask support', to: '/chat' },
    } as const;
  return {
    tone: 'good',
    title: plural(devices.length, {
      one: 'The rules apply on 1 device.',
      other: `The rules apply on ${formatNumber(devices.length)} devices.`,
    }),
    sentence: 'No “May I?” waits for you.',
  } as const;
}

const WHAT_IT_DOES = [
  { icon: IconMoon, title: 'Bedtime and school', sentence: 'Rules by age to start with. You change every part.' },
  { icon: IconHeartHandshake, title: '“May I?”', sentence: 'They ask from their own page. You answer for an hour or always.' },
  {
    icon: IconEyeOff,
    title: 'No secret watching',
    sentence: 'Their own page shows them what you see. From 16, you see counts only.',
  },
] as const;

function WhatItDoes() {
  return (
    <Grid as="ul" columns="fit-l" gap="4">
      {WHAT_IT_DOES.map(({ icon: Icon, title, sentence }) => (
        <Grid key={title} as="li" columns="lead" gap="3" align="start" className="surface-plain pad-l">
          <Icon size={24} stroke={1.7} className="accent" aria-hidden="true" />
          <div>
            <b>{title}</b>
            <p className="sub">{sentence}</p>
          </div>
        </Grid>
      ))}
    </Grid>
  );
}

/** The people of a home with their rules, devices and requests. */
export function HouseholdPage() {
  const { data: home, error, refetch } = useQuery(householdQuery);
  const web = useQuery(webProtectionQuery);
  const [isAdding, setIsAdding] = useState(false);
  const asked = useAsked('profile');
  const isEmpty = home?.profiles.length === 0 && home.guardians.length === 0;
  const arePeopleReady = People.useIsReady(home !== undefined && !isEmpty);
  const failure = (home ? null : error) ?? (web.data ? null : web.error);
  // The form stays mounted while the file for the first added person loads, so that it can close itself.
  const isReady = home !== undefined && web.data !== undefined && (arePeopleReady || isAdding);
  const answer = isReady ? answerOf(home, web.data) : undefined;
  const isWaitedFor = isReady && waitingAsks(home).length > 0;
  const next = answer && 'next' in answer ? answer.next : undefined;
  const add =
    isReady && needsPlan(home) ? (
      <LinkToPlans />
    ) : (
      <Button
        variant={isWaitedFor || next || answer?.tone === 'attention' ? 'quiet' : 'primary'}
        icon={IconPlus}
        stroke={2}
        onClick={() => setIsAdding(true)}
      >
        Add a person
      </Button>
    );
  return (
    <Page
      title="Household"
      sentence="Rules for the people of your home, on their devices."
      aside={(isWaitedFor || next) && !isAdding && add}
    >
      {failure && (
        <ErrorNotice
          title="We couldn’t load your household"
          sentence={sentenceOf(failure)}
          onRetry={() => void Promise.all([refetch(), web.refetch()])}
        />
      )}
      {!isReady && !failure && <LeadWaiting label="Loading your household" />}
      {isReady && answer && (
        <>
          {isWaitedFor ? (
            <WaitingAsks />
          ) : (
            <Lead
              tone={answer.tone}
              title={answer.title}
              sentence={answer.sentence}
              icon={IconHome}
              action={next ? <ScreenLink to={next.to}>{next.label}</ScreenLink> : !isAdding && add}
            />
          )}
          {isAdding && <AddProfile home={home} web={web.data} onClose={() => setIsAdding(false)} />}
          {isEmpty && !isAdding && <WhatItDoes />}
          {!isEmpty && <People home={home} web={web.data} asked={asked} />}
        </>
      )}
    </Page>
  );
}
