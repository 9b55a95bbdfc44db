import { listRules } from '@palisade/contract/firewall';
import { IconDeviceDesktop } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { call } from '#api/call.ts';
import { devicesQuery } from '#domain/device/devices.ts';
import { Lead } from '#ui/lead.tsx';
import { Listed } from '#ui/listed.tsx';
import { Page } from '#ui/page.tsx';
import { AddDevice } from './add-device.tsx';
import { DeviceCard } from './device-card.tsx';
import { FindingsCard } from './findings-card.tsx';
import './devices.css';

/** The person's computers. */
export function DevicesPage() {
  const { data: devices, error, refetch } = useQuery(devicesQuery);
  const hasErrors = devices?.some(({ enforcement }) => enforcement.errors.length > 0) ?? false;
  // A refused rule is named; which one it is stands in the list of rules.
  const { data: rules } = useQuery({
    queryKey: ['devices', 'rule-names'],
    queryFn: ({ signal }) => call(listRules, { query: { limit: 500 }, signal }),
    enabled: hasErrors,
  });
  const ruleNames = new Map(rules?.map(({ id, rule_name }) => [id, rule_name]));
  const names = new Map(devices?.map(({ id, device_name }) => [id, device_name]));
  return (
    <Page title="Devices" sentence="Computers that apply your rules and scan their own files.">
      <Listed
        what="your devices"
        rows={devices}
        error={error}
        onRetry={refetch}
        empty={
          <Lead
            tone="unknown"
            icon={<IconDeviceDesktop size={28} stroke={1.7} />}
            title="No device is connected."
            sentence="Until one is, nothing applies your firewall rules, and only files that you upload are scanned."
          />
        }
      >
        {(rows) => rows.map((device) => <DeviceCard key={device.id} device={device} ruleNames={ruleNames} />)}
      </Listed>
      <FindingsCard names={names} />
      {(devices || error) && <AddDevice />}
    </Page>
  );
}
