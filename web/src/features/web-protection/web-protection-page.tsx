import { formatNumber, listFirst, plural } from '@palisade/contract/intl';
import { type WebDevice, type WebProtection, webDeviceKindSchema } from '@palisade/contract/web-protection';
import {
  IconAdjustments,
  IconHelpCircle,
  IconPlus,
  IconShieldX,
  IconWorldCheck,
  IconWorldExclamation,
} from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearchParams } from 'react-router';
import { sentenceOf } from '#api/call.ts';
import { useMayAdministrate } from '#api/policies.ts';
import { householdQuery } from '#domain/household/household.ts';
import { webProtectionQuery } from '#domain/web-device/web-devices.ts';
import { Button } from '#ui/button.tsx';
import { Grid } from '#ui/layout.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';
import { Lead, LeadWaiting } from '#ui/lead.tsx';
import { Page } from '#ui/page.tsx';
import { ErrorNotice } from '#ui/states.tsx';
import { AddWebDevice } from './add-web-device.tsx';
import { DomainListsCard } from './domain-lists-card.tsx';

function refusedOf(devices: readonly WebDevice[]): string {
  const count = devices.flatMap(({ refused }) => refused).reduce((sum, one) => sum + one.count, 0);
  return plural(count, {
    one: '1 website request was refused in 24 hours.',
    other: `${formatNumber(count)} website requests were refused in 24 hours.`,
  });
}

/** Loaded when there is a device. */
const ProtectedDevices = lazyPart(async () => (await import('./protected-devices.tsx')).ProtectedDevices);

/** The page's main message. A device is protected only while its DNS queries arrive. */
function answerOf({ devices, has_dangerous }: Pick<WebProtection, 'devices' | 'has_dangerous'>) {
  if (devices.length === 0)
    return {
      tone: 'unknown',
      title: 'No device is protected yet.',
      sentence: 'Choose a device, and follow two or three steps on it. You don’t install anything.',
    } as const;
  const silent = devices.filter(({ is_silent, last_question_at }) => is_silent || last_question_at === null);
  if (silent.length === 0 && !has_dangerous)
    return {
      tone: 'unknown',
      title: plural(devices.length, {
        one: `${devices[0]?.name} is connected.`,
        other: `All ${formatNumber(devices.length)} devices are connected.`,
      }),
      sentence: `${refusedOf(devices)} This server knows few dangerous websites: it has only its provider’s own list so far.`,
    } as const;
  if (silent.length === 0)
    return {
      tone: 'good',
      title: plural(devices.length, {
        one: `${devices[0]?.name} is protected.`,
        other: `All ${formatNumber(devices.length)} devices are protected.`,
      }),
      sentence: `${refusedOf(devices)} Dangerous websites don’t open there.`,
    } as const;
  const seen = devices.length - silent.length;
  const names = listFirst(silent.map(({ name }) => name));
  if (seen === 0 && silent.every(({ last_question_at }) => last_question_at === null))
    return {
      tone: 'attention',
      title: `Finish the steps on ${names}.`,
      sentence: 'Protection begins with the first website that opens there.',
    } as const;
  return {
    tone: 'attention',
    title:
      seen === 0
        ? 'No device is protected now.'
        : `${formatNumber(seen)} of ${formatNumber(devices.length)} devices are protected.`,
    sentence: `We see no website requests from ${names}. Check the steps there.`,
  } as const;
}

const KNOWN = {
  lists: 'Phishing and malware, from the lists of this server.',
  few: 'Those that this server knows: only its provider’s own list so far.',
} as const;

const REST = [
  { icon: IconAdjustments, title: 'You choose the rest', sentence: 'Ads, services, and safe search, for all your devices.' },
  { icon: IconHelpCircle, title: 'You see why', sentence: 'Each refused website has its reason, and you can allow it.' },
] as const;

/** An explanation below the choice of a device, shown without any device. */
function WhatItDoes({ has_dangerous }: Pick<WebProtection, 'has_dangerous'>) {
  const sentence = has_dangerous ? KNOWN.lists : KNOWN.few;
  const parts = [{ icon: IconShieldX, title: 'Dangerous websites don’t open', sentence }, ...REST];
  return (
    <Grid as="ul" columns="fit-l" gap="4">
      {parts.map(({ icon: Icon, title, sentence: line }) => (
        <Grid key={title} as="li" columns="lead" gap="3" align="start" className="surface-plain pad-l">
          <Icon size={24} stroke={1.7} className="accent" aria-hidden="true" />
          <div>
            <b>{title}</b>
            <p className="sub">{line}</p>
          </div>
        </Grid>
      ))}
    </Grid>
  );
}

/** The profile that the address names for a new device, and a link back to it. */
function useProfileOfAddress(id: string | null) {
  const { data, isPending } = useQuery({ ...householdQuery, enabled: id !== null });
  const navigate = useNavigate();
  return {
    profile: data?.profiles.find((one) => one.id === id),
    isProfileRead: id === null || !isPending,
    toHousehold: () => void navigate(`/household?profile=${id}`),
  };
}

/** Devices that use this server for DNS, and the names that it refuses. */
export function WebProtectionPage() {
  const { data: web, error, refetch } = useQuery(webProtectionQuery);
  const [search, setSearch] = useSearchParams();
  const isAdding = search.has('add');
  const first = webDeviceKindSchema.safeParse(search.get('add')).data;
  const setIsAdding = (isOpen: boolean) => setSearch(isOpen ? { add: '' } : {}, { replace: true, preventScrollReset: true });
  const { profile, isProfileRead, toHousehold } = useProfileOfAddress(search.get('for'));
  const isAdministrator = useMayAdministrate();
  const isEmpty = web?.devices.length === 0;
  const arePartsReady = ProtectedDevices.useIsReady(web !== undefined && !isEmpty);
  const answer = web && isProfileRead && (arePartsReady || isAdding) ? answerOf(web) : undefined;
  return (
    <Page title="Web protection" sentence="Dangerous and unwanted websites don’t open on the devices that you connect.">
      {error && !web && (
        <ErrorNotice title="We couldn’t load web protection" sentence={sentenceOf(error)} onRetry={() => void refetch()} />
      )}
      {!answer && !error && <LeadWaiting label="Loading web protection" />}
      {web && answer && (
        <>
          <Lead
            {...answer}
            icon={answer.tone === 'good' ? IconWorldCheck : IconWorldExclamation}
            action={
              !isEmpty &&
              !isAdding &&
              answer.tone !== 'attention' && (
                <Button icon={IconPlus} stroke={2} onClick={() => setIsAdding(true)}>
                  Add a device
                </Button>
              )
            }
          />
          {(isEmpty || isAdding) && (
            <AddWebDevice
              key={first}
              web={web}
              first={first}
              profile={profile}
              onBegin={() => isAdding || setIsAdding(true)}
              onClose={profile ? toHousehold : isEmpty ? undefined : () => setIsAdding(false)}
            />
          )}
          {isEmpty && !isAdding && <WhatItDoes {...web} />}
          {!isEmpty && (
            <ProtectedDevices web={web} onAdd={answer.tone === 'attention' && !isAdding ? () => setIsAdding(true) : undefined} />
          )}
          {isAdministrator && <DomainListsCard />}
        </>
      )}
    </Page>
  );
}
