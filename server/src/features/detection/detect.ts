import type { AlertPhrase } from '@palisade/contract/alert-phrases';
import { may } from '@palisade/contract/may';
import type { Severity } from '@palisade/contract/severity';
import { isOutOfReach } from './infected-file.ts';
import {
  AFTER_FAILURES,
  AFTER_SPRAY,
  fromAddress,
  inWords,
  pairKey,
  type Reading,
  RULES,
  type Rule,
  type Sighting,
} from './rules.ts';
import {
  addSample,
  type Counting,
  EMPTY,
  expiryOf,
  forgive,
  pour,
  type Sample,
  sampleOf,
  type Window,
  withValue,
} from './windows.ts';

/** Identifies a window: a rule's id and a key. */
export interface Place {
  rule: string;
  key: string;
}
/** A stored window, and its expiry, in ms since 1970. */
export interface Kept extends Place {
  window: Window;
  expires_at: number;
}
/** Stored windows, by `nameOf` of their place. */
export type Windows = ReadonlyMap<string, Kept>;

/** The target and source of a sign-in attempt. `user_id` is null where no account is known. */
interface Attempt {
  source: string;
  account: string;
  user_id: string | null;
}

/** A rule's finding. */
export interface Finding extends Pick<Rule, 'threat_type' | 'threshold' | 'audience'> {
  /** The rule's id, as alerts carry it. */
  rule: string;
  key: string;
  severity: Severity;
  phrase: AlertPhrase;
  /** Attempts that must have been refused for the outcome `blocked`; empty if a refusal would prove nothing. */
  tried: readonly Attempt[];
  samples: readonly Sample[];
  /** Part of it may still succeed. */
  is_open: boolean;
}

/** Maximum number of stored windows: beyond it those that would expire first are dropped. */
export const WINDOWS_MAXIMUM = 50_000;
const TEXT_MAXIMUM = 200;
/** Maximum number of remembered sources that guess at one account. */
const SOURCES_MAXIMUM = 50;

export const nameOf = ({ rule, key }: Place) => `${rule} ${key}`;
const cut = (text: string) => text.slice(0, TEXT_MAXIMUM);

/** A rule that counts, with its reading of an event. */
interface Count {
  rule: Rule;
  measure: Counting;
  reading: Reading;
}

function countsOf(sighting: Sighting): { counts: Count[]; found: { rule: Rule; reading: Reading }[] } {
  const counts: Count[] = [];
  const found: { rule: Rule; reading: Reading }[] = [];
  for (const rule of RULES) {
    const reading = rule.read(sighting);
    if (reading === undefined) continue;
    if (rule.measure.kind === 'each') found.push({ rule, reading });
    else counts.push({ rule, measure: rule.measure, reading: { ...reading, key: cut(reading.key), value: cut(reading.value) } });
  }
  return { counts, found };
}

/** The places where guessing is recorded, so that a later sign-in from there is suspicious. */
function armsOf(sighting: Sighting): Record<NonNullable<Rule['arms']>, Place> | undefined {
  if (sighting.kind !== 'login_failed' && sighting.kind !== 'login_succeeded') return undefined;
  if (sighting.source === null) return undefined;
  const { id } = AFTER_FAILURES;
  return {
    pair: { rule: id, key: cut(pairKey(sighting)) },
    source: { rule: id, key: cut(sighting.source) },
    account: { rule: id, key: cut(sighting.data.account) },
  };
}

/** The places of guessing that a person has declared harmless: of an account from a source, or of a source (`account` null). */
export function vouchedFor({ source, account }: { source: string; account: string | null }): Place[] {
  if (account === null) return [{ rule: AFTER_FAILURES.id, key: cut(source) }];
  const key = cut(`${source} ${account}`);
  return [AFTER_FAILURES.id, 'brute_force.pair'].map((rule) => ({ rule, key }));
}

/** The window of account and source, which a success empties: a person who knows the password had only mistyped it. */
function forgivenBy(sighting: Sighting): Place[] {
  return sighting.kind === 'login_succeeded' ? [{ rule: 'brute_force.pair', key: cut(pairKey(sighting)) }] : [];
}

/** The windows of a source from which a success removes the failures of its account. */
function easedBy(sighting: Sighting): { place: Place; measure: Counting; account: string }[] {
  if (sighting.kind !== 'login_succeeded' || sighting.source === null) return [];
  const key = cut(sighting.source);
  const account = cut(sighting.data.account);
  return RULES.flatMap(({ id, arms, measure }) =>
    arms === 'source' && measure.kind !== 'each' ? [{ place: { rule: id, key }, measure, account }] : [],
  );
}

function placesOfOne(sighting: Sighting): Place[] {
  const counted = countsOf(sighting).counts.map(({ rule, reading }) => ({ rule: rule.id, key: reading.key }));
  const arms = armsOf(sighting);
  return [
    ...counted,
    ...forgivenBy(sighting),
    ...easedBy(sighting).map(({ place }) => place),
    ...(arms === undefined ? [] : Object.values(arms)),
  ];
}

/** The places of all windows that `detect` reads or writes for some events, in an order in which servers can lock them without a deadlock. */
export function placesOf(sightings: readonly Sighting[]): Place[] {
  const places = sightings.flatMap(placesOfOne);
  const byName = new Map(places.map((place) => [nameOf(place), place]));
  return [...byName.keys()].sort().flatMap((name) => byName.get(name) ?? []);
}

function bounded(windows: Map<string, Kept>, at: number): void {
  if (windows.size <= WINDOWS_MAXIMUM) return;
  for (const [name, { expires_at }] of windows) if (expires_at <= at) windows.delete(name);
  const soonest = [...windows].sort(([, a], [, b]) => a.expires_at - b.expires_at);
  for (const [name] of soonest.slice(0, Math.max(0, windows.size - WINDOWS_MAXIMUM))) windows.delete(name);
}

/**
 * Applies the rules to one event, as a pure function: it needs only the windows of `placesOf(sighting)`, and does not change `windows`. A rule that has found something
 * starts with an empty window.
 */
export function detect(windows: Windows, sighting: Sighting): { windows: Windows; findings: Finding[] } {
  const next = new Map(windows);
  const findings: Finding[] = [];
  const at = Date.parse(sighting.at);
  // A file is identified by its content, wherever it came from.
  const source = sighting.kind === 'scan_finished' ? `sha256:${sighting.data.sha256}` : sighting.source;
  const sample = sampleOf(inWords(sighting), { at: sighting.at, source });
  const is_blocked = isBlocked(sighting);
  const aliveAt = (place: Place): Window | undefined => {
    const kept = next.get(nameOf(place));
    return kept === undefined || kept.expires_at <= at ? undefined : kept.window;
  };

  const { counts, found } = countsOf(sighting);
  for (const { rule, reading } of found)
    findings.push(findingOf(rule, reading, { tried: [], samples: [sample], is_open: !is_blocked }));

  const arms = armsOf(sighting);
  const armed: { place: Place; window: Window }[] = [];
  for (const { rule, measure, reading } of counts) {
    const place = { rule: rule.id, key: reading.key };
    const drop = { at, value: reading.value, user_id: sighting.user_id, sample, is_blocked };
    const { window, is_full } = pour(aliveAt(place) ?? EMPTY, measure, drop);
    if (!is_full) {
      next.set(nameOf(place), { ...place, window, expires_at: expiryOf(window, measure) });
      continue;
    }
    next.delete(nameOf(place));
    findings.push(
      findingOf(rule, reading, {
        tried: triedIn(rule, sighting, window),
        samples: window.samples,
        is_open: window.open_at !== null,
      }),
    );
    if (rule.arms !== undefined && arms !== undefined) armed.push({ place: arms[rule.arms], window });
  }

  // A passkey cannot be guessed.
  if (arms !== undefined && sighting.kind === 'login_succeeded' && sighting.data.with_password) {
    const of_account = aliveAt(arms.account);
    const takes_part = of_account?.values.some((entry) => entry.value === source && at < entry.at + AFTER_FAILURES.within_ms);
    const guessing = [arms.pair].flatMap((place) => aliveAt(place) ?? []);
    if (of_account !== undefined && takes_part && sighting.browser?.knows_source === false) guessing.push(of_account);
    // The source stays armed: the attacker may sign in to their own account first.
    next.delete(nameOf(arms.pair));
    const [first] = guessing;
    const spray = aliveAt(arms.source);
    if (first !== undefined) findings.push(afterFailures(sighting, arms.pair.key, addSample(first.samples, sample)));
    else if (spray !== undefined) findings.push(afterSpray(sighting, arms.source.key, addSample(spray.samples, sample)));
  }
  if (arms !== undefined && sighting.kind === 'login_failed') {
    for (const place of Object.values(arms)) {
      const before = aliveAt(place);
      const found = armed.find((arm) => arm.place === place)?.window;
      const samples = found?.samples ?? (before && addSample(before.samples, sample));
      if (samples === undefined) continue;
      const entry = { at, value: sighting.source ?? '', user_id: sighting.user_id };
      const values =
        place === arms.account ? withValue(found?.values ?? before?.values ?? [], entry).slice(-SOURCES_MAXIMUM) : [];
      // Continued guessing keeps it armed.
      const window = { ...EMPTY, at: Math.max(at, before?.at ?? at), samples, values };
      next.set(nameOf(place), { ...place, window, expires_at: window.at + AFTER_FAILURES.within_ms });
    }
  }
  for (const place of forgivenBy(sighting)) next.delete(nameOf(place));
  for (const { place, measure, account } of easedBy(sighting)) {
    const before = aliveAt(place);
    if (before === undefined) continue;
    const window = forgive(before, account);
    if (window === undefined) next.delete(nameOf(place));
    else next.set(nameOf(place), { ...place, window, expires_at: expiryOf(window, measure) });
  }
  bounded(next, at);
  return { windows: next, findings };
}

function triedIn({ refusal }: Rule, sighting: Sighting, { values }: Window): Attempt[] {
  if (refusal === undefined || sighting.kind !== 'login_failed' || sighting.source === null) return [];
  const { source, user_id } = sighting;
  if (refusal === 'account') return [{ source, account: sighting.data.account, user_id }];
  return values.map((entry) => ({ source, account: entry.value, user_id: entry.user_id }));
}

/** Whether a sign-in was refused is known only later. */
function isBlocked({ kind, data }: Sighting): boolean {
  if (kind === 'scan_finished') return isOutOfReach(data.copy);
  return kind !== 'request_refused' || data.was_refused;
}

function afterFailures(
  sighting: Extract<Sighting, { kind: 'login_succeeded' }>,
  key: string,
  samples: readonly Sample[],
): Finding {
  const { id, threat_type, threshold, audience } = AFTER_FAILURES;
  return {
    rule: id,
    key,
    threat_type,
    threshold,
    audience,
    severity: may.administrate(sighting.data) ? 'critical' : 'high',
    phrase: fromAddress('suspicious_login.after_failures', sighting),
    tried: [],
    samples,
    is_open: true,
  };
}

function afterSpray(sighting: Extract<Sighting, { kind: 'login_succeeded' }>, key: string, samples: readonly Sample[]): Finding {
  return {
    ...afterFailures(sighting, key, samples),
    ...AFTER_SPRAY,
    phrase: fromAddress('suspicious_login.after_spray', sighting),
  };
}

function findingOf(
  rule: Rule,
  { key, severity, phrase }: Reading,
  counted: Pick<Finding, 'tried' | 'samples' | 'is_open'>,
): Finding {
  const { threat_type, threshold, audience, told_as = rule.id } = rule;
  return { rule: told_as, key, threat_type, threshold, audience, severity, phrase, ...counted };
}
