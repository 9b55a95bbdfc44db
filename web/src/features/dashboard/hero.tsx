import { type DashboardStatus, type ScoreReason, SECURITY_SCORE_MAXIMUM } from '@palisade/contract/dashboard';
import { formatNumber, formatPercent } from '@palisade/contract/intl';
import { useId, useState } from 'react';
import { Link } from 'react-router';
import { describeEngines } from '#domain/scan/scan-summary.ts';
import { ScreenLink } from '#ui/button-link.tsx';
import { describeAge, useMinute } from '#ui/moment.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { answerOf, isScored } from './answer.ts';

/** Lowest scores of the teal and the amber ring; below, it is red. */
const SCORE_LEVELS = { good: 80, fair: 50 } as const;
const RADIUS = 50;
const CIRCUMFERENCE = 2 * Math.PI * RADIUS;

/** The answer, then the actions. */
export function Hero({ status, isUnknown }: { status: DashboardStatus | undefined; isUnknown: boolean }) {
  const now = useMinute();
  const answer = answerOf(status, isUnknown);
  const latest = status?.recent_scans[0];
  const engines = latest && describeEngines(latest);
  return (
    <section className="card hero" data-tone={answer.tone} aria-labelledby="hero-answer">
      <ScoreRing
        score={status?.security_score}
        isScored={status !== undefined && isScored(status)}
        hasReasons={status !== undefined && status.score_breakdown.length > 0}
      />
      <div className="hero__words" aria-busy={!status && !isUnknown}>
        <h2 id="hero-answer">{answer.sentence}</h2>
        <p className="sub">
          {status && !isScored(status) && `${formatNumber(status.security_score)}% for now. Nothing checked yet. `}
          {answer.detail}
          {latest && ' '}
          {latest &&
            (engines ? (
              <Sentence
                text="The last file was scanned {when} by {engines}."
                parts={{
                  when: describeAge(latest.scanned_at, now),
                  engines: <span className="hero__engines">{engines}</span>,
                }}
              />
            ) : (
              `The last file was scanned ${describeAge(latest.scanned_at, now)}.`
            ))}
        </p>
      </div>
      {status && <Reasons reasons={status.score_breakdown} />}
      <div className="hero__action">
        <ScreenLink to="/antivirus" size="l">
          Scan a file
        </ScreenLink>
      </div>
    </section>
  );
}

/** Teal means that no record needs the person, so a high score alone is not enough. */
function levelOf(score: number, hasReasons: boolean): 'good' | 'fair' | 'poor' {
  if (score >= SCORE_LEVELS.good && !hasReasons) return 'good';
  return score >= SCORE_LEVELS.fair ? 'fair' : 'poor';
}

interface ScoreRingProps {
  score: number | undefined;
  isScored: boolean;
  hasReasons: boolean;
}

function ScoreRing({ score, isScored, hasReasons }: ScoreRingProps) {
  const share = (score ?? 0) / SECURITY_SCORE_MAXIMUM;
  return (
    <div className="score-ring" data-level={score === undefined || !isScored ? 'unknown' : levelOf(score, hasReasons)}>
      <svg viewBox="0 0 116 116" aria-hidden="true">
        <circle cx="58" cy="58" r={RADIUS} />
        {score !== undefined && isScored && (
          <circle
            className="score-ring__share"
            cx="58"
            cy="58"
            r={RADIUS}
            strokeDasharray={`${share * CIRCUMFERENCE} ${CIRCUMFERENCE}`}
          />
        )}
      </svg>
      <p>
        <b className="num">{score === undefined ? '–' : formatPercent(score / 100)}</b>
        <span>score</span>
      </p>
    </div>
  );
}

/** Number of items on a phone before "show all", so that the rest of the page stays in view. */
const SHOWN_ON_A_PHONE = 3;

/** Reasons why the score is below 100: the points that each costs, the screen that fixes it, and the points gained. */
function Reasons({ reasons }: { reasons: readonly ScoreReason[] }) {
  const [isWhole, setIsWhole] = useState(false);
  const id = useId();
  if (reasons.length === 0) return null;
  return (
    <div className="hero__reasons" data-whole={isWhole}>
      <ul id={id} aria-label="What would raise the score">
        {reasons.map((reason, place) => (
          <li key={reason.id} data-later={place >= SHOWN_ON_A_PHONE}>
            <Link to={reason.fix_route}>
              {reason.deduction > 0 && (
                <em className="num">
                  <bdi>−{reason.deduction}</bdi>
                </em>
              )}{' '}
              <span>{reason.title}</span> {reason.gain > 0 && <small className="num">{`+${reason.gain} if fixed`}</small>}{' '}
              <b className="hero__fix">Fix</b>
            </Link>
          </li>
        ))}
      </ul>
      {reasons.length > SHOWN_ON_A_PHONE && (
        <button type="button" aria-expanded={isWhole} aria-controls={id} onClick={() => setIsWhole(!isWhole)}>
          {isWhole ? `Show ${SHOWN_ON_A_PHONE}` : `Show all ${reasons.length}`}
        </button>
      )}
    </div>
  );
}
