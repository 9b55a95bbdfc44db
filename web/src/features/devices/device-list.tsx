import type { Device } from '@palisade/contract/devices';
import type { WebDevice } from '@palisade/contract/web-protection';
import { IconDeviceDesktop } from '@tabler/icons-react';
import { DeviceRow } from '#domain/web-device/device-row.tsx';
import { KINDS, protectionOf } from '#domain/web-device/web-devices.ts';
import { Card } from '#ui/card.tsx';
import { Stack } from '#ui/layout.tsx';
import { useMinute } from '#ui/moment.tsx';
import { DEVICE_STATES } from './device-words.ts';

/** The devices of the agent and of web protection, each with what protects it and a link to its own part. A single device of the agent has its card below. */
export function DeviceList({ devices, webDevices }: { devices: readonly Device[]; webDevices: readonly WebDevice[] }) {
  const now = useMinute();
  const others = webDevices.filter(({ device_id }) => devices.every(({ id }) => id !== device_id));
  if (others.length === 0 && devices.length < 2) return null;
  const ofWeb = (device: WebDevice) => {
    const { tone, words } = protectionOf(device, now);
    return { tone, words: `Web protection: ${words.charAt(0).toLowerCase()}${words.slice(1)}` };
  };
  const rows = [
    ...devices.map(({ id, device_name: name, os, hostname, state }) => {
      const { tone, label } = DEVICE_STATES[state];
      const asking = webDevices.find(({ device_id }) => device_id === id);
      const states = [{ tone, words: `Agent: ${label.toLowerCase()}` }, ...(asking === undefined ? [] : [ofWeb(asking)])];
      return { id, name, icon: IconDeviceDesktop, line: os.name || hostname, to: `/devices?device=${id}`, states };
    }),
    ...others.map((device) => ({
      ...{ id: device.id, name: device.name, icon: KINDS[device.kind].icon, line: KINDS[device.kind].label },
      ...{ to: `/web-protection?device=${device.id}`, states: [ofWeb(device)] },
    })),
  ];
  return (
    <Card title="All devices">
      <Stack as="ul" lines>
        {rows.map(({ id, ...row }) => (
          <li key={id} className="pad-row">
            <DeviceRow {...row} />
          </li>
        ))}
      </Stack>
    </Card>
  );
}
