import type { Device } from '@palisade/contract/devices';
import { listFirst } from '@palisade/contract/intl';
import { IconAlertTriangle, IconClock, IconCloudOff, IconShieldCheck, IconWall } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Lead, type LeadTone, LeadWaiting } from '#ui/lead.tsx';
import { describeAge, useMinute } from '#ui/moment.tsx';

interface Answer {
  tone: LeadTone;
  icon: typeof IconWall;
  title: string;
  sentence: string;
}

const named = (devices: readonly Device[]) => listFirst(devices.map(({ device_name }) => device_name));

/** Whether and where the rules are in force. Teal only if every device confirms it. */
export function answerOf(devices: readonly Device[], now: number): Answer {
  if (devices.length === 0) {
    return {
      tone: 'unknown',
      icon: IconWall,
      title: 'Your rules aren’t active.',
      sentence: 'Connect a device to use them.',
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
      title: 'No device can apply your rules.',
      sentence: off[0]?.capabilities?.firewall_reason ?? 'Your devices have no supported firewall.',
    };
  }
  return {
    tone: off.length > 0 ? 'attention' : 'good',
    icon: off.length > 0 ? IconAlertTriangle : IconShieldCheck,
    title: `Your rules are applied on ${named(devices.filter((device) => !off.includes(device)))}.`,
    sentence: off.length > 0 ? `${named(off)} can’t apply them.` : 'A block always wins over an allow.',
  };
}

interface SummaryProps {
  /** Undefined while loading. */
  devices: readonly Device[] | undefined;
  isUnknown: boolean;
  children: ReactNode;
}

/** The answer, then the actions. Waits for the devices, so that its text does not change while the person reads it. */
export function Summary({ devices, isUnknown, children }: SummaryProps) {
  const now = useMinute();
  if (!devices && !isUnknown) return <LeadWaiting label="Checking your rules" />;
  const answer = devices
    ? answerOf(devices, now)
    : {
        tone: 'unknown' as const,
        icon: IconCloudOff,
        title: 'We couldn’t check your rules.',
        sentence: 'We couldn’t load your devices. Your rules are saved; reload the page.',
      };
  return <Lead tone={answer.tone} icon={answer.icon} title={answer.title} sentence={answer.sentence} action={children} />;
}
