import type { Ask } from '@palisade/contract/household';
import { describeUntil } from '#ui/moment.tsx';

/** An answered ask in one line: "roblox.com: yes, until 16:05." */
export function answerWords({ name, answer, until, line }: Pick<Ask, 'name' | 'answer' | 'until' | 'line'>, now: number): string {
  const said = line === '' ? '' : ` “${line}”`;
  if (answer === 'no') return `${name}: no.${said}`;
  if (answer === 'hour' && until !== null)
    return Date.parse(until) > now
      ? `${name}: yes, until ${describeUntil(until, now)}.${said}`
      : `${name}: yes, for an hour.${said}`;
  return `${name}: yes, always.${said}`;
}
