import { type DashboardStatus, SECURITY_SCORE_MAXIMUM } from '@palisade/contract/dashboard';
import { formatPercent } from '@palisade/contract/intl';
import type { Status, StatusState, StatusStep } from '@palisade/contract/status';
import { useId, useState } from 'react';
import { Link } from 'react-router';
import { describeEngines } from '#domain/scan/scan-summary.ts';
import { describeLookedAt } from '#domain/status/looked-at.ts';
import { ScreenLink } from '#ui/button-link.tsx';
import { Grid, Stack } from '#ui/layout.tsx';
import { describeAge, useMinute } from '#ui/moment.tsx';
import { Sentence } from '#ui/sentence.tsx';

const RADIUS = 50;
const CIRCUMFERENCE = 2 * Math.PI * RADIUS;

/** The one status of the person, then its steps. */
export function Hero({ status: answer, isUnknown }: { status: DashboardStatus | undefined; isUnknown: boolean }) {
  const now = useMinute();
  const status = answer?.status;
  const latest = answer?.recent_scans[0];
  const engines = latest && describeEngines(latest);
  const lookedAt = status ? describeLookedAt(status.looked_at) : '';
  const { sentence, detail } = status ?? (isUnknown ? NOT_READ : READING);
  return (
    <Grid as="section" align="center" className="card hero" data-tone={status?.state ?? 'unknown'} aria-labelledby="hero-answer">
      <ScoreRing score={answer?.security_score} status={status} />
      <div className="hero__words" aria-busy={!status && !isUnknown}>
        <h2 id="hero-answer">{sentence}</h2>
        <p className="sub">{detail}</p>
        {(latest || lookedAt !== '') && (
          <p className="sub">
            {lookedAt !== '' && `${lookedAt}. `}
            {latest &&
              (engines ? (
                <Sentence
                  text="The last file was scanned {when} by {engines}."
                  parts={{
                    when: describeAge(latest.scanned_at, now),
                    engines: <span className="nowrap">{engines}</span>,
                  }}
                />
              ) : (
                `The last file was scanned ${describeAge(latest.scanned_at, now)}.`
              ))}
          </p>
        )}
      </div>
      {status && <Steps steps={status.others} />}
      <Stack gap="1" className="hero__action centered">
        <ScreenLink to={status?.next?.fix_route ?? '/antivirus'} size="l">
          {status?.next?.action ?? 'Scan a file'}
        </ScreenLink>
        {status?.next && status.next.gain > 0 && <small className="num">{`+${status.next.gain} if fixed`}</small>}
      </Stack>
    </Grid>
  );
}

const READING = { sentence: 'Reading your security status…', detail: '' };
const NOT_READ = { sentence: 'Your security status could not be read.', detail: 'It appears when the server answers.' };

const LEVELS: Record<StatusState, 'good' | 'fair' | 'poor' | 'unknown'> = {
  good: 'good',
  attention: 'fair',
  danger: 'poor',
  unknown: 'unknown',
};

/** The score. Its color is that of the status, so that a high score never looks well beside a danger. */
function ScoreRing({ score, status }: { score: number | undefined; status: Status | undefined }) {
  const isScored = status?.is_scored ?? false;
  const share = (score ?? 0) / SECURITY_SCORE_MAXIMUM;
  return (
    <div className="score-ring center" data-level={status && isScored ? LEVELS[status.state] : 'unknown'}>
      <svg className="full" viewBox="0 0 116 116" aria-hidden="true">
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
      <Stack as="p" align="center">
        <b className="num bold">{score === undefined ? '–' : formatPercent(score / 100)}</b>
        <span className="tiny muted">score</span>
      </Stack>
    </div>
  );
}

/** Number of items on a phone before "show all", so that the rest of the page stays in view. */
const SHOWN_ON_A_PHONE = 3;

/** The open steps after the next one: the points that each costs, the screen that fixes it, and the points gained. */
function Steps({ steps: reasons }: { steps: readonly StatusStep[] }) {
  const [isWhole, setIsWhole] = useState(false);
  const id = useId();
  if (reasons.length === 0) return null;
  return (
    <div className="hero__reasons above-3" data-whole={isWhole}>
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
              <b className="hero__fix push rounded-s accent bold">{reason.id === 'ask_waiting' ? 'Answer' : 'Fix'}</b>
            </Link>
          </li>
        ))}
      </ul>
      {reasons.length > SHOWN_ON_A_PHONE && (
        <button
          className="full above-1 accent small medium pointer"
          type="button"
          aria-expanded={isWhole}
          aria-controls={id}
          onClick={() => setIsWhole(!isWhole)}
        >
          {isWhole ? `Show ${SHOWN_ON_A_PHONE}` : `Show all ${reasons.length}`}
        </button>
      )}
    </div>
  );
}
