import type { Household, Profile } from '@palisade/contract/household';
import { formatNumber, plural } from '@palisade/contract/intl';
import type { WebProtection } from '@palisade/contract/web-protection';
import { IconAdjustments, IconClock, IconPlayerPause, IconPlayerPlay, IconSunrise } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { ProfileFace } from '#domain/household/profile-face.tsx';
import { LinkToPlans } from '#domain/plan/plans.tsx';
import { refusedWords } from '#domain/web-device/web-words.ts';
import { ActionsMenu } from '#ui/actions-menu.tsx';
import { Badge, type Tone } from '#ui/badge.tsx';
import { Button } from '#ui/button.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';
import { describeUntil, useMinute } from '#ui/moment.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { answerWords } from './ask-words.ts';
import { usePauseProfile } from './household.queries.ts';
import { ProfileDevices } from './profile-devices.tsx';
import { GivenNames, RefusedNames } from './profile-names.tsx';
import { AGES, listlessWords, sharedWords } from './rule-words.ts';
import { RulesList } from './rules-list.tsx';

const ProfileAddress = lazyPart(async () => (await import('./profile-address.tsx')).ProfileAddress);
const ProfileDialog = lazyPart(async () => (await import('./profile-dialog.tsx')).ProfileDialog);

function stateOf({ state, paused_until, devices }: Profile, now: number, isPart: boolean): { tone: Tone; words: string } {
  if (state === 'no_plan') return { tone: 'attention', words: 'No plan' };
  if (state === 'on')
    return devices.every(({ last_question_at }) => last_question_at === null)
      ? { tone: 'plain', words: devices.length === 0 ? 'No device yet' : 'Not connected yet' }
      : isPart
        ? { tone: 'attention', words: 'Some rules apply' }
        : { tone: 'safe', words: 'Rules apply' };
  return { tone: 'attention', words: paused_until === null ? 'Paused' : `Paused until ${describeUntil(paused_until, now)}` };
}

interface ProfileCardProps {
  profile: Profile;
  home: Household;
  web: Pick<WebProtection, 'categories' | 'services'>;
  /** Scrolls to the card; defined if the address names this profile. */
  reach: ((card: HTMLElement | null) => void) | undefined;
}

function ProfileHead({ profile, web, onEdit }: Pick<ProfileCardProps, 'profile' | 'web'> & { onEdit: () => void }) {
  const now = useMinute();
  const pause = usePauseProfile();
  const { id, name, picture, age_group, state, shared_by } = profile;
  const { tone, words } = stateOf(profile, now, listlessWords(profile.rules, web) !== undefined);
  const isPaused = state === 'paused';
  const pauses = [
    { label: 'For 15 minutes', icon: IconClock, onSelect: () => pause.mutate({ id, pause: '15' }) },
    { label: 'For an hour', icon: IconClock, onSelect: () => pause.mutate({ id, pause: '60' }) },
    { label: 'Until tomorrow', icon: IconSunrise, onSelect: () => pause.mutate({ id, pause: 'tomorrow' }) },
  ];
  return (
    <>
      <Row gap="3" justify="between">
        <Row gap="3" wrap={false} className="shrink">
          <ProfileFace picture={picture} size={36} />
          <Stack gap="0" className="shrink">
            <h2 className="title break">{name}</h2>
            <span className="sub">{shared_by.length > 0 ? 'Shared computer' : AGES[age_group].title}</span>
          </Stack>
        </Row>
        <Row gap="2">
          <Badge tone={tone}>{words}</Badge>
          {isPaused ? (
            <Button
              size="s"
              variant="quiet"
              icon={IconPlayerPlay}
              loading={pause.isPending}
              onClick={() => pause.mutate({ id, pause: 'end' })}
            >
              Resume
            </Button>
          ) : (
            state === 'on' && <ActionsMenu label="Pause" icon={IconPlayerPause} actions={pauses} loading={pause.isPending} />
          )}
          <Button variant="quiet" size="s" icon={IconAdjustments} aria-label={`Edit rules for ${name}`} onClick={onEdit}>
            Edit rules
          </Button>
        </Row>
      </Row>
      <Refusal error={pause.error} />
    </>
  );
}

/** Today's counts. Guardians see no more of people aged 16 or older. */
function Today({ profile: { today }, services }: { profile: Profile; services: WebProtection['services'] }) {
  const refused = today.refused.reduce((sum, { count }) => sum + count, 0);
  const all = today.answered + refused;
  return (
    <Stack gap="2">
      <h3>Today</h3>
      <p className="sub num">
        {plural(all, {
          one: `1 website request, ${formatNumber(refused)} refused.`,
          other: `${formatNumber(all)} website requests, ${formatNumber(refused)} refused.`,
        })}
      </p>
      {today.refused.length > 0 && (
        <Row as="ul" gap="2" aria-label="Refused today">
          {today.refused.map(({ category, count }) => (
            <li key={category}>
              <Badge tone={category === 'dangerous' ? 'danger' : 'plain'}>{refusedWords(category, count, services)}</Badge>
            </li>
          ))}
        </Row>
      )}
    </Stack>
  );
}

/** Explains that without a plan only dangerous names are refused. */
function NoPlan({ home }: { home: Household }) {
  return (
    <Row gap="3" justify="between" className="surface-amber pad-m">
      <span className="shrink">
        {home.has_plan
          ? 'Only dangerous websites are refused: your plan has no room for this profile.'
          : 'Only dangerous websites are refused: no plan.'}
      </span>
      <LinkToPlans variant="quiet" size="s" />
    </Row>
  );
}

/** A person of the home: state, rules as sentences, devices, refused names and requests. */
export function ProfileCard({ profile, home, web, reach }: ProfileCardProps) {
  const now = useMinute();
  const [isEdited, setIsEdited] = useState(false);
  const [isAddressShown, setIsAddressShown] = useState(false);
  const card = useRef<HTMLElement>(null);
  useEffect(() => reach?.(card.current), [reach]);
  const { name, refused, names, state, age_group } = profile;
  const shared = sharedWords(profile, home.profiles);
  const answered = home.asks.filter(({ profile_id, answer }) => profile_id === profile.id && answer !== 'wait');
  return (
    <section ref={card} tabIndex={-1} className="card" aria-label={name}>
      <Stack gap="4">
        <ProfileHead profile={profile} web={web} onEdit={() => setIsEdited(true)} />
        {state === 'no_plan' && <NoPlan home={home} />}
        <Grid columns="2" phone="stack" gap="5" align="start">
          <Stack gap="2">
            <h3>Rules</h3>
            <RulesList rules={profile.rules} web={web} />
            {shared !== undefined && <p className="sub">{shared}</p>}
          </Stack>
          <Stack gap="4">
            <ProfileDevices profile={profile} free={home.free_devices} />
            {profile.devices.length > 0 && <Today profile={profile} services={web.services} />}
          </Stack>
        </Grid>
        <Stack gap="2" className="line-above pad-line">
          {age_group === 'sixteen' ? (
            <p className="sub">16 and older: you see counts only.</p>
          ) : (
            refused.length > 0 && (
              <details>
                <summary>{`Refused websites (${formatNumber(refused.length)})`}</summary>
                <RefusedNames profile={profile} services={web.services} />
              </details>
            )
          )}
          {answered.length > 0 && (
            <details>
              <summary>{`Answers of the last day (${formatNumber(answered.length)})`}</summary>
              <Stack as="ul" gap="1" className="pad-line">
                {answered.map((ask) => (
                  <li key={ask.id}>{answerWords(ask, now)}</li>
                ))}
              </Stack>
            </details>
          )}
          <details>
            <summary>{`Allowed and blocked websites (${formatNumber(names.length)})`}</summary>
            <div className="pad-line">
              <GivenNames profile={profile} />
            </div>
          </details>
          <details onToggle={({ currentTarget: { open } }) => setIsAddressShown(open)}>
            <summary>{`${name}’s page`}</summary>
            <div className="pad-line">{isAddressShown && <ProfileAddress profile={profile} />}</div>
          </details>
        </Stack>
      </Stack>
      {isEdited && <ProfileDialog profile={profile} home={home} web={web} onClose={() => setIsEdited(false)} />}
    </section>
  );
}
