import type { Device } from '@palisade/contract/devices';
import type { WebDevice } from '@palisade/contract/web-protection';
import { IconDeviceDesktop } from '@tabler/icons-react';
import { DeviceRow } from '#domain/web-device/device-row.tsx';
import { KINDS, protectionOf } from '#domain/web-device/web-devices.ts';
import { Card } from '#ui/card.tsx';
import { Stack } from '#ui/layout.tsx';
import { describeMoment, useMinute } from '#ui/moment.tsx';
import { DEVICE_STATES } from './device-words.ts';

function lineOf({ kind, last_question_at }: WebDevice, now: number): string {
  const { label } = KINDS[kind];
  return last_question_at === null ? label : `${label} · last seen ${describeMoment(last_question_at, now)}`;
}

/** All devices, each with its protection and a link to its own part. Empty for a single device with the agent, which has its card below. */
export function DeviceList({ devices, webDevices }: { devices: readonly Device[]; webDevices: readonly WebDevice[] }) {
  const now = useMinute();
  const others = webDevices.filter(({ device_id }) => devices.every(({ id }) => id !== device_id));
  if (others.length === 0 && devices.length < 2) return null;
  const ofWeb = (device: WebDevice) => {
    const { tone, words } = protectionOf(device, now);
    const said = tone === 'safe' ? 'on' : `${words.charAt(0).toLowerCase()}${words.slice(1)}`;
    return { tone, words: `Web protection: ${said}` };
  };
  const rows = [
    ...devices.map(({ id, device_name: name, os, hostname, state }) => {
      const { tone, label } = DEVICE_STATES[state];
      const asking = webDevices.find(({ device_id }) => device_id === id);
      const states = [{ tone, words: `Agent: ${label.toLowerCase()}` }, ...(asking === undefined ? [] : [ofWeb(asking)])];
      return { id, name, icon: IconDeviceDesktop, line: os.name || hostname, to: `/devices?device=${id}`, states };
    }),
    ...others.map((device) => ({
      ...{ id: device.id, name: device.name, icon: KINDS[device.kind].icon, line: lineOf(device, now) },
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
      <p className="sub above-2">A computer or phone that isn’t listed here isn’t protected. Add each one.</p>
    </Card>
  );
}
