import { describeEnd } from '@palisade/contract/day';
import { UNLIMITED_DEVICES } from '@palisade/contract/subscription';

/** The page with a person's plan; undefined in a letter of an installation that does not know its own address. */
const pageOf = (public_url: string | undefined) =>
  public_url === undefined ? [] : [new URL('/subscription-manager', public_url).href];

const countOf = (devices: number) => (devices >= UNLIMITED_DEVICES ? 'Unlimited' : `${devices}`);

/** The letter to a person who was given a plan by an administrator. */
export function assignedLetter(plan: {
  plan_name: string;
  expires_at: string | null;
  max_devices: number;
  max_web_devices: number;
  max_profiles: number;
  is_premium: boolean;
  was_asked: boolean;
  public_url: string | undefined;
}) {
  const { plan_name, expires_at, max_devices, max_web_devices, max_profiles, is_premium, was_asked, public_url } = plan;
  const end = expires_at === null ? 'Never' : describeEnd(expires_at, { time_zone: 'UTC', is_mail: true });
  return {
    subject: was_asked ? 'Your requested plan is active' : 'You have a new plan',
    lines: [
      'Hello,',
      was_asked
        ? `You now have the plan “${plan_name}” that you requested.`
        : `An administrator gave you the plan “${plan_name}”.`,
      [
        `Devices: ${countOf(max_devices)}`,
        `Devices with web protection: ${countOf(max_web_devices)}`,
        `Profiles for people at home: ${countOf(max_profiles)}`,
        ...(is_premium ? ['Anti-Hacking tools: included'] : []),
        `Ends: ${end}`,
      ].join('\n'),
      'This plan replaces any earlier plan.',
      ...pageOf(public_url),
    ],
  };
}

/** The letter to a person whose request for a plan was declined. */
export function declinedLetter({ plan_name, public_url }: { plan_name: string; public_url: string | undefined }) {
  return {
    subject: 'Your plan request was declined',
    lines: [
      'Hello,',
      `An administrator declined your request for the plan “${plan_name}”.`,
      'Your current plan stays the same. If you want to know why, contact support.',
      ...pageOf(public_url),
    ],
  };
}
