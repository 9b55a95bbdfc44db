import type { Device } from '@palisade/contract/devices';
import { Badge, type Tone } from '#ui/badge.tsx';
import { Stack } from '#ui/layout.tsx';
import { Toggle } from '#ui/toggle.tsx';

type State = 'off' | 'waiting' | 'on' | 'open' | 'failed';

const STATES: Record<State, { label: string; tone: Tone; sentence: string }> = {
  off: { label: 'Off', tone: 'plain', sentence: 'Turn it on to refuse dangerous websites on this computer.' },
  waiting: {
    label: 'Waiting',
    tone: 'note',
    sentence: 'The agent turns it on when it is next connected. Update the agent if this stays.',
  },
  on: { label: 'On', tone: 'safe', sentence: 'Dangerous websites are refused on this computer.' },
  open: {
    label: 'Server away',
    tone: 'attention',
    sentence: 'This server doesn’t answer the agent. Websites open, and none is refused until it does.',
  },
  failed: { label: 'Not on', tone: 'attention', sentence: 'This computer asks for names as before.' },
};

/** The state of web protection on a device: off, or the last report of its agent. */
function stateOf({ web_protection }: Pick<Device, 'web_protection'>, isWanted: boolean): State {
  if (!isWanted) return 'off';
  return web_protection?.state ?? 'waiting';
}

interface WebProtectionPartProps {
  device: Device;
  isWanted: boolean;
  onSwitch: (isOn: boolean) => void;
}

/** The switch of web protection for a computer with the agent. */
export function WebProtectionPart({ device, isWanted, onSwitch }: WebProtectionPartProps) {
  const state = stateOf(device, isWanted);
  const { label, tone, sentence } = STATES[state];
  const isPast = device.state !== 'online' && (state === 'on' || state === 'open');
  return (
    <Stack gap="2" className="top shrink base">
      <h3>Web protection</h3>
      <p>
        <Badge tone={isPast ? 'plain' : tone}>{label}</Badge>
      </p>
      <p className="sub">{isPast ? 'This was its state when it last reported.' : sentence}</p>
      {state === 'failed' && <p className="sub break">{device.web_protection?.reason}</p>}
      <Toggle label="Refuse dangerous websites" isOn={isWanted} onChange={onSwitch} />
    </Stack>
  );
}
