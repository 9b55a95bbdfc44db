import type { Device } from '@palisade/contract/devices';
import type { WebDeviceKind } from '@palisade/contract/web-protection';
import {
  IconBrandApple,
  IconBrandWindows,
  IconDeviceMobile,
  IconRouter,
  IconTerminal2,
  type TablerIcon,
} from '@tabler/icons-react';
import { useState } from 'react';
import { KINDS } from '#domain/web-device/web-devices.ts';
import { Button } from '#ui/button.tsx';
import { ScreenLink } from '#ui/button-link.tsx';
import { Card } from '#ui/card.tsx';
import { EmailNeeded, useIsUnproven } from '#ui/email-needed.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { PressCard } from '#ui/press-card.tsx';
import { AddLinux } from './add-linux.tsx';
import { OtherSystem } from './other-system.tsx';

const WITHOUT_PROGRAM = 'Blocks dangerous websites. Scan files in the browser.';

const SYSTEMS = [
  {
    system: 'windows',
    title: 'Windows',
    sentence: WITHOUT_PROGRAM,
    icon: IconBrandWindows,
    kinds: ['windows', 'browser'],
  },
  {
    system: 'macos',
    title: 'macOS',
    sentence: WITHOUT_PROGRAM,
    icon: IconBrandApple,
    kinds: ['apple'],
  },
  {
    system: 'phone',
    title: 'Phone or tablet',
    sentence: WITHOUT_PROGRAM,
    icon: IconDeviceMobile,
    kinds: ['apple', 'android'],
  },
  {
    system: 'home',
    title: 'Router, TV, or browser',
    sentence: 'Blocks dangerous websites.',
    icon: IconRouter,
    kinds: ['router', 'other', 'browser'],
  },
  {
    system: 'linux',
    title: 'Linux',
    sentence: 'Scans files, applies firewall rules, and blocks dangerous websites.',
    icon: IconTerminal2,
    kinds: ['linux'],
  },
] as const satisfies readonly {
  system: string;
  title: string;
  sentence: string;
  icon: TablerIcon;
  /** Kinds of web protection devices with this system. */
  kinds: readonly WebDeviceKind[];
}[];

type System = (typeof SYSTEMS)[number]['system'];

interface AddDeviceProps {
  /** The initially chosen system. */
  first: System | undefined;
  /** Present devices, to tell which one is new. */
  devices: readonly Device[];
  /** Undefined if there is no other content to return to. */
  onClose?: (() => void) | undefined;
  /** Called when the person has chosen a system. */
  onBegin: () => void;
}

/** Adds a device of one of these kinds to web protection. */
function WebWays({ kinds }: { kinds: readonly WebDeviceKind[] }) {
  return (
    <Stack gap="3" className="pad-row line-above above-4">
      <Stack gap="0">
        <h3>Web protection</h3>
        <p className="sub">Dangerous websites don’t open. You don’t install anything.</p>
      </Stack>
      <Row gap="2">
        {kinds.map((kind) => (
          <ScreenLink key={kind} to={`/web-protection?add=${kind}`} variant="quiet">
            {`Protect ${KINDS[kind].label}`}
          </ScreenLink>
        ))}
      </Row>
    </Stack>
  );
}

/** Adds a device: choice of the system, then its instructions. */
export function AddDevice({ first, devices, onClose, onBegin }: AddDeviceProps) {
  const [system, setSystem] = useState(first);
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
      <p className="sub">Which device is it?</p>
      <Grid as="fieldset" columns="fit-s" phone="stack" gap="3" className="above-3" aria-label="System of the device">
        {SYSTEMS.map(({ system: value, kinds: _, ...words }) => (
          <PressCard
            key={value}
            {...words}
            isOn={system === value}
            onPress={() => {
              onBegin();
              setSystem(value);
            }}
          />
        ))}
      </Grid>
      {system === 'linux' &&
        (isUnproven ? (
          <EmailNeeded sentence="You can add devices after you confirm your email address." />
        ) : (
          <AddLinux devices={devices} onDone={onClose} />
        ))}
      {system !== undefined && <WebWays kinds={SYSTEMS.find((one) => one.system === system)?.kinds ?? []} />}
      {system !== undefined && system !== 'linux' && system !== 'home' && <OtherSystem key={system} system={system} />}
    </Card>
  );
}
