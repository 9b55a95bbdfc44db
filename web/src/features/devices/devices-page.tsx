import type { Device } from '@palisade/contract/devices';
import { listRules } from '@palisade/contract/firewall';
import { IconDeviceDesktop, IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '#api/call.ts';
import { useMayAdministrate } from '#api/policies.ts';
import { devicesQuery } from '#domain/device/devices.ts';
import { Button } from '#ui/button.tsx';
import { Lead } from '#ui/lead.tsx';
import { Listed } from '#ui/listed.tsx';
import { Page } from '#ui/page.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { AddDevice } from './add-device.tsx';
import { DeviceCard } from './device-card.tsx';
import { FindingsCard } from './findings-card.tsx';
import { WishesCard } from './wishes-card.tsx';
import './devices.css';

/** The person's computers. */
export function DevicesPage() {
  const { data: devices, error, refetch } = useQuery(devicesQuery);
  const hasErrors = devices?.some(({ enforcement }) => enforcement.errors.length > 0) ?? false;
  // Devices report a refused rule by id; the list of rules has its name.
  const { data: rules } = useQuery({
    queryKey: ['devices', 'rule-names'],
    queryFn: ({ signal }) => call(listRules, { query: { limit: 500 }, signal }),
    enabled: hasErrors,
  });
  const ruleNames = new Map(rules?.map(({ id, rule_name }) => [id, rule_name]));
  const [missing, setMissing] = useState<Device>();
  const [isAdding, setIsAdding] = useState(false);
  const isAdministrator = useMayAdministrate();
  const isEmpty = devices?.length === 0;
  const isRemoved = missing && devices && !devices.some(({ id }) => id === missing.id);
  return (
    <Page
      title="Devices"
      sentence="Devices apply your firewall rules and scan their own files."
      aside={
        devices &&
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
      {isEmpty && (
        <Lead
          tone="unknown"
          icon={IconDeviceDesktop}
          title="No device is connected."
          sentence="Connect a device to apply firewall rules and scan its files."
        />
      )}
      {(isEmpty || isAdding || (error && !devices)) && (
        <AddDevice
          devices={devices ?? []}
          onBegin={() => setIsAdding(true)}
          onClose={isEmpty ? undefined : () => setIsAdding(false)}
        />
      )}
      <Listed of="your devices" list={{ rows: devices, error, refetch }} empty={null}>
        {(rows) =>
          rows.map((device) => <DeviceCard key={device.id} device={device} ruleNames={ruleNames} onMissing={setMissing} />)
        }
      </Listed>
      <FindingsCard devices={new Map(devices?.map((device) => [device.id, device]))} />
      {isAdministrator && <WishesCard />}
    </Page>
  );
}
