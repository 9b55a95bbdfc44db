import type { Device } from '@palisade/contract/devices';
import { listFirst } from '@palisade/contract/intl';
import { IconAlertTriangle, IconClock, IconCloudOff, IconPlus, IconShieldCheck, IconWall } from '@tabler/icons-react';
import type { RefObject } from 'react';
import { Button } from '#ui/button.tsx';
import { ScreenLink } from '#ui/button-link.tsx';
import { Row } from '#ui/layout.tsx';
import { Lead, type LeadTone, LeadWaiting } from '#ui/lead.tsx';
import { describeAge, describeMoment, useMinute } from '#ui/moment.tsx';

interface Answer {
  tone: LeadTone;
  icon: typeof IconWall;
  title: string;
  sentence: string;
  /** The action to take before adding a rule. */
  fix?: { label: string; to: string };
}

const openDevice = ({ id }: Device) => ({ label: 'Open the device', to: `/devices?device=${id}` });
const named = (devices: readonly Device[]) => listFirst(devices.map(({ device_name }) => device_name));
const NOWHERE = 'No device applies these rules yet.';
/** A device that has been silent for longer than this, in ms, may no longer apply its rules: the same limit as in the security check. */
const SILENT_MS = 86_400_000;
const ADD_DEVICE = { label: 'Add a device', to: '/devices?add' };

/** True if no device of these can apply rules. */
export const isAppliedNowhere = (devices: readonly Device[]) =>
  devices.every(({ capabilities }) => capabilities?.firewall === 'unavailable');

/** Whether and where the rules are in force. Teal only if every device confirms it. */
export function answerOf(devices: readonly Device[], now: number): Answer {
  if (devices.length === 0) {
    return {
      tone: 'unknown',
      icon: IconWall,
      title: NOWHERE,
      sentence:
        'We save them. Linux computers with our program apply them; on Windows and Mac, export them to the system’s own firewall.',
      fix: ADD_DEVICE,
    };
  }
  const state = (device: Device) => (device.capabilities?.firewall === 'unavailable' ? 'unavailable' : device.enforcement.state);
  const refused = devices.filter((device) => ['rejected', 'rolled_back'].includes(state(device)));
  const [worst] = refused;
  if (worst !== undefined) {
    const [error] = worst.enforcement.errors;
    const said = error === undefined ? 'See Devices for details.' : error.message.replace(/(?<![.!?])$/u, '.');
    const why = state(worst) === 'rolled_back' ? 'They disconnected it from this server.' : said;
    return {
      tone: 'danger',
      icon: IconAlertTriangle,
      title: `${named(refused)} couldn’t apply your rules.`,
      sentence: `${why} Your previous rules still apply there.`,
      fix: openDevice(worst),
    };
  }
  const pending = devices.filter((device) => ['pending', 'trial'].includes(state(device)));
  const since = pending.flatMap(({ enforcement }) => enforcement.pending_since ?? []).sort()[0];
  if (pending.length > 0) {
    return {
      tone: 'attention',
      icon: IconClock,
      title: `Your rules are pending on ${named(pending)}.`,
      sentence:
        since === undefined
          ? 'Your previous rules apply until the device responds.'
          : `You changed them ${describeAge(since, now)}. Your previous rules apply until the device responds.`,
    };
  }
  const off = devices.filter((device) => state(device) === 'unavailable');
  if (off.length === devices.length) {
    return {
      tone: 'attention',
      icon: IconAlertTriangle,
      title: NOWHERE,
      sentence: off[0]?.capabilities?.firewall_reason ?? 'Your devices have no supported firewall.',
      fix: ADD_DEVICE,
    };
  }
  const [silent] = devices.filter(
    (device) => device.state === 'offline' && device.last_seen_at !== null && now - Date.parse(device.last_seen_at) > SILENT_MS,
  );
  if (silent?.last_seen_at) {
    return {
      tone: 'attention',
      icon: IconClock,
      title: `${silent.device_name} hasn’t reported since ${describeMoment(silent.last_seen_at, now)}.`,
      sentence: 'It had your rules then. Check that it is on and connected.',
      fix: openDevice(silent),
    };
  }
  return {
    tone: off.length > 0 ? 'attention' : 'good',
    icon: off.length > 0 ? IconAlertTriangle : IconShieldCheck,
    title: `Your rules are applied on ${named(devices.filter((device) => !off.includes(device)))}.`,
    sentence: off.length > 0 ? `${named(off)} can’t apply them.` : 'A block always wins over an allow.',
  };
}

const UNREAD: Answer = {
  tone: 'unknown',
  icon: IconCloudOff,
  title: 'We couldn’t check your rules.',
  sentence: 'We couldn’t load your devices. Your rules are saved; reload the page.',
};

interface SummaryProps {
  /** Undefined while loading. */
  devices: readonly Device[] | undefined;
  isUnknown: boolean;
  addButton: RefObject<HTMLButtonElement | null>;
  onAdd: () => void;
}

/** The answer, then the actions. Waits for the devices, so that its text does not change while the person reads it. */
export function Summary({ devices, isUnknown, addButton, onAdd }: SummaryProps) {
  const now = useMinute();
  if (!devices && !isUnknown) return <LeadWaiting label="Checking your rules" />;
  const { fix, ...answer } = devices ? answerOf(devices, now) : UNREAD;
  return (
    <Lead
      {...answer}
      action={
        <Row phone="fill" gap="2" className="firewall-actions nowrap">
          {fix && (
            <ScreenLink to={fix.to} size="l">
              {fix.label}
            </ScreenLink>
          )}
          <Button ref={addButton} variant={fix ? 'quiet' : 'primary'} size="l" icon={IconPlus} stroke={2} onClick={onAdd}>
            Add Rule
          </Button>
          {!fix && (
            <ScreenLink to="/devices" variant="quiet" size="l">
              Devices
            </ScreenLink>
          )}
        </Row>
      }
    />
  );
}
