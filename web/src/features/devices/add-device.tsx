import type { Device } from '@palisade/contract/devices';
import { IconBrandApple, IconBrandWindows, IconDeviceMobile, IconTerminal2, type TablerIcon } from '@tabler/icons-react';
import { useState } from 'react';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { EmailNeeded, useIsUnproven } from '#ui/email-needed.tsx';
import { AddLinux } from './add-linux.tsx';
import { OtherSystem } from './other-system.tsx';
import './add-device.css';

const SYSTEMS = [
  { system: 'linux', name: 'Linux', note: 'Full protection', icon: IconTerminal2 },
  { system: 'windows', name: 'Windows', note: 'Scans and exports', icon: IconBrandWindows },
  { system: 'macos', name: 'macOS', note: 'Scans and exports', icon: IconBrandApple },
  { system: 'phone', name: 'Phone or tablet', note: 'Scans and alerts', icon: IconDeviceMobile },
] as const satisfies readonly { system: string; name: string; note: string; icon: TablerIcon }[];

type System = (typeof SYSTEMS)[number]['system'];

interface AddDeviceProps {
  /** Present devices, to recognise the new one. */
  devices: readonly Device[];
  /** Undefined if there is no other content to return to. */
  onClose?: (() => void) | undefined;
  /** Called when the person has chosen a system. */
  onBegin: () => void;
}

/** Adds a device: choice of the system, then the instructions for it. */
export function AddDevice({ devices, onClose, onBegin }: AddDeviceProps) {
  const [system, setSystem] = useState<System>();
  const isUnproven = useIsUnproven();
  return (
    <Card
      title="Add a device"
      action={
        onClose && (
          <Button variant="quiet" size="s" onClick={onClose}>
            Close
          </Button>
        )
      }
    >
      <p className="sub">Which system does the device use?</p>
      <fieldset className="add-systems" aria-label="System of the device">
        {SYSTEMS.map(({ system: value, name, note, icon: Icon }) => (
          <button
            key={value}
            type="button"
            className="add-system"
            aria-pressed={system === value}
            onClick={() => {
              onBegin();
              setSystem(value);
            }}
          >
            <Icon size={24} stroke={1.6} aria-hidden="true" />
            <span>
              {name}
              <span className="sub">{note}</span>
            </span>
          </button>
        ))}
      </fieldset>
      {system === 'linux' &&
        (isUnproven ? (
          <EmailNeeded sentence="You can add devices after you confirm your email address." />
        ) : (
          <AddLinux devices={devices} onDone={onClose} />
        ))}
      {system !== undefined && system !== 'linux' && <OtherSystem key={system} system={system} />}
    </Card>
  );
}
