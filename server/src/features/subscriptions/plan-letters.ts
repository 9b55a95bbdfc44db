import { describeEnd } from '@palisade/contract/day';
import { UNLIMITED_DEVICES } from '@palisade/contract/subscription';

/** The page with a person's plan; undefined in a letter of an installation that does not know its own address. */
const pageOf = (public_url: string | undefined) =>
  public_url === undefined ? [] : [new URL('/subscription-manager', public_url).href];

/** The letter to a person who was given a plan by an administrator. */
export function assignedLetter(plan: {
  plan_name: string;
  expires_at: string | null;
  max_devices: number;
  is_premium: boolean;
  was_asked: boolean;
  public_url: string | undefined;
}) {
  const { plan_name, expires_at, max_devices, is_premium, was_asked, public_url } = plan;
  const devices =
    max_devices >= UNLIMITED_DEVICES ? 'any number of devices' : max_devices === 1 ? '1 device' : `${max_devices} devices`;
  return {
    subject: was_asked ? 'you have the plan that you asked for' : 'you have a new plan',
    lines: [
      'Hello,',
      was_asked
        ? `you asked for the plan “${plan_name}”, and you have it now.`
        : `an administrator has given you the plan “${plan_name}”. You have it now.`,
      `It is for ${devices}${is_premium ? ', has the Anti-Hacking tools' : ''} and ${expires_at === null ? 'does not end' : `lasts until ${describeEnd(expires_at, { time_zone: 'UTC', is_mail: true })}`}. A plan that you had before has ended with it.`,
      ...pageOf(public_url),
    ],
  };
}

/** The letter to a person whose request for a plan was declined. */
export function declinedLetter({ plan_name, public_url }: { plan_name: string; public_url: string | undefined }) {
  return {
    subject: 'about the plan that you asked for',
    lines: [
      'Hello,',
      `you asked for the plan “${plan_name}”. An administrator has declined this.`,
      'Nothing has changed for you: what you have stays as it is. If you want to know why, ask support.',
      ...pageOf(public_url),
    ],
  };
}
