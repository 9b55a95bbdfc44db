import { type EngineStatus, SIGNATURES_OLD_MS } from '@palisade/contract/engine';
import { formatList, formatNumber, formatSpan, plural } from '@palisade/contract/intl';
import { describeDate } from '#ui/moment.tsx';

export interface EngineState {
  tone: 'good' | 'note' | 'attention' | 'danger';
  title: string;
  sentence: string;
}

const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;

/** "3 hours old"; in days from two days on. */
export function describeOld(age_ms: number): string {
  const hours = Math.floor(age_ms / HOUR_MS);
  if (hours < 1) return 'less than an hour old';
  if (hours < 2 * DAY_HOURS) return `${formatSpan(hours, 'hour')} old`;
  return `${formatSpan(Math.floor(hours / DAY_HOURS), 'day')} old`;
}

/** "139 rules and 5 known dangerous files" */
export function describeSignatures({ rules, hashes }: EngineStatus['signatures']): string {
  const ofRules = plural(rules, { one: '1 rule', other: `${formatNumber(rules)} rules` });
  if (hashes === 0) return ofRules;
  return formatList([
    ofRules,
    plural(hashes, { one: '1 known dangerous file', other: `${formatNumber(hashes)} known dangerous files` }),
  ]);
}

/** The date of the threat definitions, as a sentence. */
function describeOrigin({ built_at, last_update_at }: EngineStatus['signatures']): string {
  if (built_at === null) return '';
  const day = describeDate(built_at);
  return last_update_at === null ? `Threat definitions from ${day}.` : `Threat definitions updated on ${day}.`;
}

/** Describes the most serious state. `now` is in ms. */
export function engineState({ engines, signatures }: EngineStatus, now: number): EngineState {
  const silent = engines.filter(({ state }) => state !== 'ready');
  if (silent.length === engines.length) {
    return engines.some(({ state }) => state === 'starting')
      ? { tone: 'note', title: 'The scanner is starting', sentence: 'Your files will wait a moment.' }
      : {
          tone: 'danger',
          title: 'The scanner isn’t responding',
          sentence: 'We’ll keep your files and scan them when it’s back. They stay pending until then.',
        };
  }
  const down = silent.filter(({ state }) => state === 'down').map(({ name }) => name);
  if (down.length > 0) {
    return {
      tone: 'attention',
      title: plural(down.length, {
        one: `${formatList(down)} isn’t responding`,
        other: `${formatList(down)} aren’t responding`,
      }),
      sentence: 'We’ll show threats as soon as one scanner finds them. Other files stay pending until both have checked them.',
    };
  }
  const ready = 'Ready to scan';
  if (signatures.as_of === null) {
    if (signatures.failed_sources > 0) {
      return { tone: 'attention', title: 'We couldn’t update threat definitions', sentence: signatures.last_outcome ?? '' };
    }
    return { tone: 'good', title: ready, sentence: describeOrigin(signatures) };
  }
  const age_ms = now - Date.parse(signatures.as_of);
  if (age_ms > SIGNATURES_OLD_MS) {
    const failed = signatures.failed_sources > 0 ? ` ${signatures.last_outcome ?? ''}` : '';
    return {
      tone: 'attention',
      title: `Threat definitions are ${describeOld(age_ms)}`,
      sentence: `We still scan files, but may miss the newest threats.${failed}`,
    };
  }
  return { tone: 'good', title: ready, sentence: `Threat definitions are ${describeOld(age_ms)}.` };
}
