import type { Protector, Status, StatusState, StatusStep } from '@palisade/contract/status';
import type { Judgement } from './judge.ts';
import { sentence } from './posture.phrases.ts';
import type { PostureFacts } from './posture-facts.ts';

/** Files scanned within this many ms count as protection. */
const SCANS_PROTECT_MS = 30 * 86_400_000;
/** A device whose DNS query web protection answered within this many ms is protected. */
const QUESTIONS_PROTECT_MS = 86_400_000;

function stateOf(steps: readonly StatusStep[], is_looked_at: boolean): StatusState {
  if (steps.some(({ is_danger }) => is_danger)) return 'danger';
  if (steps.length > 0) return 'attention';
  return is_looked_at ? 'good' : 'unknown';
}

function protectorsOf({ devices, web, scans }: PostureFacts, now: number): Protector[] {
  const is_heard = devices !== undefined && devices.count > devices.silent.length;
  const { last_finished_at } = scans;
  const is_scanned = last_finished_at !== null && now - Date.parse(last_finished_at) < SCANS_PROTECT_MS;
  return [
    ...(is_heard ? (['device'] as const) : []),
    ...((web?.question_age_ms ?? Number.POSITIVE_INFINITY) < QUESTIONS_PROTECT_MS ? (['web_protection'] as const) : []),
    ...(is_scanned ? (['scans'] as const) : []),
  ];
}

type Words = Pick<Status, 'sentence' | 'sentence_phrase' | 'detail' | 'detail_phrase'>;

function wordsOfStep({ title, title_phrase, evidence, evidence_phrase }: StatusStep): Words {
  return { sentence: title, sentence_phrase: title_phrase, detail: evidence, detail_phrase: evidence_phrase };
}

function wordsOf(state: StatusState, ran: number): Words {
  const isGood = state === 'good';
  const said = sentence(isGood ? 'status.good' : 'status.unknown');
  const detail = isGood ? sentence('status.good.detail', { ran }) : sentence('status.unknown.detail');
  return {
    ...{ sentence: said.english, sentence_phrase: said.phrase },
    ...{ detail: detail.english, detail_phrase: detail.phrase },
  };
}

/** The state, sentence and next step of a person. Every display of a state uses this function; no other code computes one. `now` is in ms. */
export function statusOf(facts: PostureFacts, judgement: Pick<Judgement, 'steps' | 'checks'>, now: number): Status {
  const { steps, checks } = judgement;
  const { scans, devices, rule_count: rules } = facts;
  const looked_at: Status['looked_at'] = {
    ...{ checks_run: checks.ran, checks_unknown: checks.unknown, rules, devices: devices?.count ?? 0 },
    ...{ files_read: scans.clean + scans.infected, files_unread: scans.pending, last_file_at: scans.last_finished_at },
  };
  const protected_by = protectorsOf(facts, now);
  const is_looked_at = looked_at.files_read + looked_at.files_unread + rules + looked_at.devices + protected_by.length > 0;
  const state = stateOf(steps, is_looked_at);
  const [next = null, ...others] = steps;
  const words = next === null ? wordsOf(state, checks.ran) : wordsOfStep(next);
  return {
    state,
    ...words,
    ...{ next, others, looked_at, protected_by },
    is_scored: steps.length === 0 ? is_looked_at : steps.some(({ deduction }) => deduction > 0),
  };
}
