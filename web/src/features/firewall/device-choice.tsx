import type { Device } from '@palisade/contract/devices';
import { formatNumber, plural } from '@palisade/contract/intl';
import { useId } from 'react';
import { Check } from '#ui/check.tsx';
import { Stack } from '#ui/layout.tsx';
import { Sentence } from '#ui/sentence.tsx';

interface DeviceChoiceProps {
  devices: readonly Device[];
  /** Ids of devices; empty means all devices. */
  chosen: readonly string[];
  onChange: (device_ids: string[]) => void;
}

/** The devices that a rule applies to: all, including devices added later, or a selection. */
export function DeviceChoice({ devices, chosen, onChange }: DeviceChoiceProps) {
  const id = useId();
  const gone = chosen.filter((device_id) => !devices.some((device) => device.id === device_id)).length;
  const isEvery = chosen.length === 0;
  return (
    <Stack as="fieldset" gap="2" aria-labelledby={id}>
      <legend id={id} className="base medium">
        Devices
      </legend>
      <Check label="All devices, including new ones" checked={isEvery} disabled={isEvery} onChange={() => onChange([])} />
      {devices.map((device) => (
        <Check
          key={device.id}
          label={<Sentence text="Only on {device}" parts={{ device: <bdi>{device.device_name}</bdi> }} />}
          checked={chosen.includes(device.id)}
          onChange={(event) => {
            const others = chosen.filter((other) => other !== device.id);
            onChange(event.currentTarget.checked ? [...others, device.id] : others);
          }}
        />
      ))}
      {gone > 0 && (
        <p className="sub">
          {plural(gone, { one: 'Also on 1 deleted device.', other: `Also on ${formatNumber(gone)} deleted devices.` })}
        </p>
      )}
    </Stack>
  );
}
