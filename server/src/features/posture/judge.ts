import type { Finding, PostureScan } from '@palisade/contract/anti-hacking';
import { type ScoreReason, SECURITY_SCORE_MAXIMUM } from '@palisade/contract/dashboard';
import { severitySchema } from '@palisade/contract/severity';
import type { StatusStep } from '@palisade/contract/status';
import type { Sentence } from '#platform/sentence.ts';
import type { Check, Group, Outcome } from './check.ts';
import { sentence } from './posture.phrases.ts';
import { CHECKS, CRITICAL_CHECK } from './posture-checks.ts';
import type { PostureFacts } from './posture-facts.ts';

/** Maximum deduction per group: a weight of this project. */
const GROUP_CAPS: Record<Group, number> = { account: 40, rules: 30, devices: 30, files: 40 };
/** A score with an open critical alert is at most this: a weight of this project. */
const SCORE_WITH_CRITICAL = 49;

type SaidOfScan = 'vulnerabilities_found' | 'recommendations' | 'recommendation_phrases' | 'coverage' | 'coverage_phrase';

export interface Judgement extends Pick<PostureScan, SaidOfScan> {
  findings: Finding[];
  security_score: number;
  score_breakdown: ScoreReason[];
  /** The failed checks as steps, the gravest first. */
  steps: StatusStep[];
  /** Number of checks that ran, and that could not. */
  checks: { ran: number; unknown: number };
}

/** A check with its outcome; a failed check with its own deduction. */
type Judged = Check & {
  outcome: Outcome | undefined;
  /** The reason why there is none. */
  undecided: Sentence;
};

const UNKNOWN = sentence('unknown');

/** Danger first, then by severity, then by maximum deduction; otherwise in the order of the checks. */
function byWeight(one: Check, other: Check): number {
  return (
    Number(other.is_danger ?? false) - Number(one.is_danger ?? false) ||
    severitySchema.options.indexOf(other.severity) - severitySchema.options.indexOf(one.severity) ||
    other.deduction - one.deduction
  );
}

function stepsOf(checks: readonly Judged[], findings: readonly Finding[]): StatusStep[] {
  const byId = new Map(findings.map((finding) => [finding.id, finding]));
  return checks.toSorted(byWeight).flatMap(({ id, severity, is_danger = false, outcome, action }) => {
    const finding = byId.get(id);
    if (finding?.state !== 'fail') return [];
    const title = outcome?.title ?? sentence(`${id}.fault`);
    const button = outcome?.fix?.action ?? action;
    return [
      {
        ...{ id, severity, is_danger, title: title.english, title_phrase: title.phrase },
        ...{ evidence: finding.evidence, evidence_phrase: outcome?.evidence.phrase ?? UNKNOWN.phrase },
        ...{ action: button.english, action_phrase: button.phrase, fix_route: finding.fix_route },
        ...{ deduction: finding.deduction, gain: finding.gain },
      },
    ];
  });
}

function judged(check: Check, facts: PostureFacts): Judged {
  const answer = check.run?.(facts);
  if (answer === undefined) return { ...check, outcome: undefined, undecided: UNKNOWN };
  if ('reason' in answer) return { ...check, outcome: undefined, undecided: answer.reason };
  return { ...check, outcome: answer, undecided: UNKNOWN };
}

/** The deduction of each failed check in order, each group up to its cap; and the remaining score. */
function deduct(checks: readonly Judged[], ceiling: number): { taken: Map<string, number>; score: number } {
  const left = { ...GROUP_CAPS };
  const taken = new Map<string, number>();
  let sum = 0;
  for (const { id, group, deduction, outcome } of checks) {
    if (outcome === undefined || outcome.times === 0) continue;
    const part = Math.min(left[group], (outcome.deduction ?? deduction) * outcome.times);
    left[group] -= part;
    sum += part;
    taken.set(id, part);
  }
  return { taken, score: Math.max(0, Math.min(ceiling, SECURITY_SCORE_MAXIMUM - sum)) };
}

/**
 * Runs every check. The score is 100 minus the deductions, each group up to its cap, at least 0; an unblocked critical alert caps it. A cap reduces the group's last
 * deductions, so that they add up to the score; `gain` is the increase of the score if only that fault were fixed.
 */
export function judge(facts: PostureFacts): Judgement {
  const checks = CHECKS.map((check) => judged(check, facts));
  const ceilingOf = (critical: number) => (critical > 0 ? SCORE_WITH_CRITICAL : SECURITY_SCORE_MAXIMUM);
  const { taken, score } = deduct(checks, ceilingOf(facts.alerts.critical.count));
  const without = (id: string) =>
    deduct(
      checks.filter((check) => check.id !== id),
      ceilingOf(id === CRITICAL_CHECK ? 0 : facts.alerts.critical.count),
    ).score - score;

  const findings = checks.map(({ id, severity, fix_route, outcome, undecided }): Finding => {
    const isFailed = outcome !== undefined && outcome.times > 0;
    const title = isFailed ? (outcome.title ?? sentence(`${id}.fault`)) : sentence(`${id}.goal`);
    const evidence = outcome?.evidence ?? undecided;
    return {
      ...{ id, title: title.english, title_phrase: title.phrase, severity },
      ...{ evidence: evidence.english, evidence_phrase: evidence.phrase },
      fix_route: outcome?.fix?.fix_route ?? fix_route,
      deduction: isFailed ? (taken.get(id) ?? 0) : 0,
      gain: isFailed ? without(id) : 0,
      state: isFailed ? 'fail' : outcome === undefined ? 'unknown' : 'pass',
    };
  });
  const failed = findings.filter((finding) => finding.state === 'fail');
  const known = findings.filter((finding) => finding.state !== 'unknown').length;
  const recommendations = checks
    .filter(({ outcome }) => outcome !== undefined && outcome.times > 0)
    .map(({ advice, outcome }) => outcome?.fix?.advice ?? advice);
  const coverage = sentence('coverage', { known, all: findings.length });
  return {
    findings,
    security_score: score,
    score_breakdown: failed.map(({ id, title, deduction, gain, fix_route }) => ({ id, title, deduction, gain, fix_route })),
    vulnerabilities_found: failed.map((finding) => `${finding.title}. ${finding.evidence}`),
    recommendations: recommendations.map(({ english }) => english),
    recommendation_phrases: recommendations.map(({ phrase }) => phrase),
    coverage: coverage.english,
    coverage_phrase: coverage.phrase,
    steps: stepsOf(checks, findings),
    checks: { ran: known, unknown: findings.length - known },
  };
}
