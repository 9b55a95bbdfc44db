import { type DashboardStatus, SECURITY_SCORE_MAXIMUM } from '@palisade/contract/dashboard';
import { formatPercent } from '@palisade/contract/intl';
import type { Status, StatusStep } from '@palisade/contract/status';
import { useId, useState } from 'react';
import { Link } from 'react-router';
import { describeEngines } from '#domain/scan/scan-summary.ts';
import { describeLookedAt } from '#domain/status/looked-at.ts';
import { Badge } from '#ui/badge.tsx';
import { ScreenLink } from '#ui/button-link.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { describeAge, useMinute } from '#ui/moment.tsx';
import { Sentence } from '#ui/sentence.tsx';

const RADIUS = 50;
const CIRCUMFERENCE = 2 * Math.PI * RADIUS;

interface HeroProps {
  status: DashboardStatus | undefined;
  isUnknown: boolean;
  /** Steps that have a card elsewhere on the page. */
  elsewhere: readonly string[];
}

/** The person's status, then its steps. */
export function Hero({ status: answer, isUnknown, elsewhere }: HeroProps) {
  const now = useMinute();
  const status = answer?.status;
  const latest = answer?.recent_scans[0];
  // With a single scanner, the usual case, its name is omitted.
  const engines = latest && latest.engines.length > 1 ? describeEngines(latest) : '';
  const lookedAt = status ? describeLookedAt(status.looked_at) : '';
  const { sentence, detail } = status ?? (isUnknown ? NOT_READ : READING);
  return (
    <Grid
      as="section"
      columns="both"
      gap="5"
      rowGap="2"
      align="center"
      className="card hero glow"
      data-tone={status?.state ?? 'unknown'}
      aria-labelledby="hero-answer"
    >
      <ScoreRing score={answer?.security_score} status={status} />
      <div aria-busy={!status && !isUnknown}>
        <h2 id="hero-answer" className="title below-1">
          {sentence}
        </h2>
        <p className="sub">{detail}</p>
        {status?.state !== 'danger' && (latest || lookedAt !== '') && (
          <p className="sub">
            {lookedAt !== '' && `So far: ${lookedAt}. `}
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
      <Stack gap="1" className="hero__action centered">
        <ScreenLink to={status?.next?.fix_route ?? '/antivirus'} size="l">
          {status?.next?.action ?? 'Scan a file'}
        </ScreenLink>
        {status?.next && status.next.gain > 0 && <small className="num">{`Adds ${status.next.gain} to your score`}</small>}
      </Stack>
      {status && <Steps steps={status.others.filter(({ id }) => !elsewhere.includes(id))} />}
    </Grid>
  );
}

const READING = { sentence: 'Reading your security status…', detail: '' };
const NOT_READ = { sentence: 'Your security status could not be read.', detail: 'It appears when the server answers.' };

/** The score in the color of the status, so that a high score does not look good next to a danger. The ring is empty until enough has been checked for a score. */
function ScoreRing({ score, status }: { score: number | undefined; status: Status | undefined }) {
  const known = status?.is_scored ? score : undefined;
  return (
    <div className="score-ring center" data-tone={known === undefined ? 'unknown' : status?.state}>
      <svg className="full" viewBox="0 0 116 116" aria-hidden="true">
        <circle cx="58" cy="58" r={RADIUS} />
        {known !== undefined && (
          <circle
            className="score-ring__share"
            cx="58"
            cy="58"
            r={RADIUS}
            strokeDasharray={`${(known / SECURITY_SCORE_MAXIMUM) * CIRCUMFERENCE} ${CIRCUMFERENCE}`}
          />
        )}
      </svg>
      <Stack as="p" align="center">
        <b className="num bold">{known === undefined ? '–' : formatPercent(known / 100)}</b>
        <span className="tiny muted">{status?.is_scored === false ? 'no score' : 'score'}</span>
      </Stack>
    </div>
  );
}

/** Number of items on a phone before "show all", so that the rest of the page stays in view. */
const SHOWN_ON_A_PHONE = 3;

/** The open steps after the next one: the points that each costs, the screen that fixes it, and the points gained if a limit of the score makes them differ. */
function Steps({ steps: reasons }: { steps: readonly StatusStep[] }) {
  const [isWhole, setIsWhole] = useState(false);
  const id = useId();
  if (reasons.length === 0) return null;
  return (
    <div className="span">
      <Grid as="ul" columns="fit-l" gap="2" id={id} aria-label="Then">
        {reasons.map((reason, place) => (
          <li
            key={reason.id}
            className={isWhole || place < SHOWN_ON_A_PHONE ? undefined : 'off-phone'}
            data-later={place >= SHOWN_ON_A_PHONE}
          >
            <Row
              as={Link}
              to={reason.fix_route}
              wrap={false}
              gap="2"
              className="surface-raised pad-xs full-height hover-line small ink unlined"
            >
              {reason.deduction > 0 && (
                <b className="num bold">
                  <bdi>−{reason.deduction}</bdi>
                </b>
              )}{' '}
              <span className="grow">{reason.title}</span>{' '}
              {reason.gain > 0 && reason.gain !== reason.deduction && (
                <small className="num tiny accent nowrap">{`+${reason.gain} if fixed`}</small>
              )}{' '}
              <Badge tone="safe">{reason.id === 'ask_waiting' ? 'Answer' : 'Fix'}</Badge>
            </Row>
          </li>
        ))}
      </Grid>
      {reasons.length > SHOWN_ON_A_PHONE && (
        <button
          className="on-phone bare full pad-row centered accent small medium"
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
