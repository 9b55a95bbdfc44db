import type { Device } from '@palisade/contract/devices';
import { listRules } from '@palisade/contract/firewall';
import { IconDeviceDesktop, IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSearchParams } from 'react-router';
import { call, sentenceOf } from '#api/call.ts';
import { useMayAdministrate } from '#api/policies.ts';
import { devicesQuery } from '#domain/device/devices.ts';
import { webProtectionQuery } from '#domain/web-device/web-devices.ts';
import { Button } from '#ui/button.tsx';
import { Lead } from '#ui/lead.tsx';
import { Listed } from '#ui/listed.tsx';
import { Page } from '#ui/page.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { useAsked } from '#ui/use-asked.ts';
import { AddDevice } from './add-device.tsx';
import { DeviceCard } from './device-card.tsx';
import { DeviceList } from './device-list.tsx';
import { byNeed } from './device-problems.ts';
import { FindingsCard } from './findings-card.tsx';
import { WishesCard } from './wishes-card.tsx';
import './devices.css';

/** The person's devices: those of the agent, and those of web protection. */
export function DevicesPage() {
  const { data: devices, error, refetch } = useQuery(devicesQuery);
  const { data: web, error: webError } = useQuery(webProtectionQuery);
  const hasErrors = devices?.some(({ enforcement }) => enforcement.errors.length > 0) ?? false;
  // Devices report a refused rule by id; the list of rules has its name.
  const { data: rules } = useQuery({
    queryKey: ['devices', 'rule-names'],
    queryFn: ({ signal }) => call(listRules, { query: { limit: 500 }, signal }),
    enabled: hasErrors,
  });
  const ruleNames = new Map(rules?.map(({ id, rule_name }) => [id, rule_name]));
  const [missing, setMissing] = useState<Device>();
  const [search, setSearch] = useSearchParams();
  const isAdding = search.has('add');
  const first = search.get('add') === 'linux' ? 'linux' : undefined;
  const setIsAdding = (isOpen: boolean) => setSearch(isOpen ? { add: '' } : {}, { replace: true, preventScrollReset: true });
  const asked = useAsked('device');
  const isGone = asked.id !== null && devices?.every(({ id }) => id !== asked.id);
  const isAdministrator = useMayAdministrate();
  const isWebRead = web !== undefined || webError !== null;
  const isEmpty = isWebRead && devices?.length === 0 && (web?.devices ?? []).length === 0;
  const isRemoved = missing && devices && !devices.some(({ id }) => id === missing.id);
  return (
    <Page
      title="Devices"
      sentence="Your computers, phones, and everything else, and what protects them."
      aside={
        devices &&
        isWebRead &&
        !isEmpty &&
        !isAdding && (
          <Button icon={IconPlus} stroke={2} onClick={() => setIsAdding(true)}>
            Add a device
          </Button>
        )
      }
    >
      {/* The device's card would show this, but it is gone. */}
      {isRemoved && <Refusal error>{`“${missing.device_name}” was deleted in another window.`}</Refusal>}
      <Refusal error={isGone}>The device of this link was removed.</Refusal>
      {isEmpty && (
        <Lead
          tone="unknown"
          icon={IconDeviceDesktop}
          title="No device is connected."
          sentence="Choose your device below. You see what we can do on it."
        />
      )}
      {(devices ? isEmpty || isAdding : error) && (
        <AddDevice
          key={first}
          first={first}
          devices={devices ?? []}
          onBegin={() => isAdding || setIsAdding(true)}
          onClose={isEmpty ? undefined : () => setIsAdding(false)}
        />
      )}
      {webError && !web && <Refusal error>{`We couldn’t load the devices of web protection. ${sentenceOf(webError)}`}</Refusal>}
      {devices && <DeviceList devices={devices} webDevices={web?.devices ?? []} />}
      <Listed of="your devices" list={{ rows: devices, error, refetch }} empty={null}>
        {(rows) =>
          byNeed(rows, Date.now()).map((device) => (
            <DeviceCard
              key={device.id}
              device={device}
              ruleNames={ruleNames}
              isWebWanted={web?.devices.some(({ device_id }) => device_id === device.id)}
              reach={device.id === asked.id ? asked.reach : undefined}
              onMissing={setMissing}
            />
          ))
        }
      </Listed>
      <FindingsCard devices={new Map(devices?.map((device) => [device.id, device]))} />
      {isAdministrator && <WishesCard />}
    </Page>
  );
}
