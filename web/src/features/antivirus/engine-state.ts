import { type EngineStatus, SIGNATURES_OLD_MS } from '@palisade/contract/engine';
import { describeDate } from '#ui/moment.tsx';

/** Meaning of the scanner's state for a person. */
export interface EngineState {
  tone: 'good' | 'wait' | 'warn' | 'danger';
  title: string;
  sentence: string;
}

const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;
const number = new Intl.NumberFormat('en');
const names = new Intl.ListFormat('en');

function count(amount: number, one: string, many: string): string {
  return `${number.format(amount)} ${amount === 1 ? one : many}`;
}

/** "3 hours old", from two days on in days. */
export function describeOld(age_ms: number): string {
  const hours = Math.floor(age_ms / HOUR_MS);
  if (hours < 1) return 'less than an hour old';
  if (hours < 2 * DAY_HOURS) return `${count(hours, 'hour', 'hours')} old`;
  return `${count(Math.floor(hours / DAY_HOURS), 'day', 'days')} old`;
}

/** "139 rules and 5 known bad files" */
export function describeSignatures({ rules, hashes }: EngineStatus['signatures']): string {
  const rulesOf = count(rules, 'rule', 'rules');
  return hashes === 0 ? rulesOf : `${rulesOf} and ${count(hashes, 'known bad file', 'known bad files')}`;
}

/** Of signatures that nobody can call the newest: when they came. */
function describeOrigin({ built_at, last_update_at }: EngineStatus['signatures']): string {
  if (built_at === null) return '';
  const day = describeDate(built_at);
  return last_update_at === null ? `It knows the threats that were known on ${day}.` : `The newest threats were added on ${day}.`;
}

/** `now` in ms. The gravest thing speaks. */
export function engineState({ engines, signatures }: EngineStatus, now: number): EngineState {
  const silent = engines.filter(({ state }) => state !== 'ready');
  if (silent.length === engines.length) {
    return engines.some(({ state }) => state === 'starting')
      ? { tone: 'wait', title: 'The scanning engine is starting', sentence: 'Files that you upload wait a moment for it.' }
      : {
          tone: 'danger',
          title: 'No scanning engine answers',
          sentence: 'Files that you upload are kept, and scanned as soon as it is back. None is called clean before.',
        };
  }
  const down = silent.filter(({ state }) => state === 'down').map(({ name }) => name);
  if (down.length > 0) {
    return {
      tone: 'warn',
      title: `${names.format(down)} ${down.length === 1 ? 'does' : 'do'} not answer`,
      sentence: 'What the other engine finds is told at once. Other files stay pending until both have read them.',
    };
  }
  const ready = 'Ready to scan';
  if (signatures.as_of === null) {
    if (signatures.failed_sources > 0) {
      return { tone: 'warn', title: 'The list of known threats could not be updated', sentence: signatures.last_outcome ?? '' };
    }
    return { tone: 'good', title: ready, sentence: describeOrigin(signatures) };
  }
  const age_ms = now - Date.parse(signatures.as_of);
  if (age_ms > SIGNATURES_OLD_MS) {
    const failed = signatures.failed_sources > 0 ? ` ${signatures.last_outcome ?? ''}` : '';
    return {
      tone: 'warn',
      title: `The list of known threats is ${describeOld(age_ms)}`,
      sentence: `Files are scanned all the same, but the newest threats may be missed.${failed}`,
    };
  }
  return { tone: 'good', title: ready, sentence: `The list of known threats is ${describeOld(age_ms)}.` };
}
