import type { EngineStatus, SignatureFeedStatus } from '@palisade/contract/engine';
import { describeBytes, formatNumber, formatSpan, plural } from '@palisade/contract/intl';
import { IconAlertTriangle, IconChevronDown, IconHourglass, IconPlugConnectedX, IconShieldCheck } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { sentenceOf } from '#api/call.ts';
import { engineQuery } from '#domain/scan/engine.ts';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { ErrorNotice } from '#ui/states.tsx';
import { describeSignatures, type EngineState, engineState } from './engine-state.ts';
import '#ui/badge.css';
import './engine-card.css';

const ICONS: Record<EngineState['tone'], typeof IconShieldCheck> = {
  good: IconShieldCheck,
  note: IconHourglass,
  attention: IconAlertTriangle,
  danger: IconPlugConnectedX,
};

const TITLES: Record<EngineState['tone'], string> = { good: '', note: '', attention: 'amber', danger: 'red' };

/** State of the engines and age of their signatures in one line; details on demand. */
export function EngineCard() {
  const { data: status, error, refetch } = useQuery(engineQuery);
  const now = useMinute();
  if (!status) {
    return error ? (
      <ErrorNotice title="We couldn’t load the scanner status" sentence={sentenceOf(error)} onRetry={() => void refetch()} />
    ) : (
      <div role="status" aria-label="Loading the scanner status" className="card engine-card" />
    );
  }
  const { tone, title, sentence } = engineState(status, now);
  const Icon = ICONS[tone];
  return (
    <section className="card engine-card" aria-label="Scanner" data-tone={tone}>
      <details>
        <summary>
          <span className="icon-tile rounded-s" data-tone={tone} aria-hidden="true">
            <Icon size={20} stroke={1.7} />
          </span>
          <Stack as="span" gap="0">
            <span className={`num bold ${TITLES[tone]}`}>{title}</span>
            <span className="sub num">{sentence}</span>
          </Stack>
          <Row as="span" inline gap="1" className="engine-card__more small muted">
            Details
            <IconChevronDown size={16} stroke={1.7} aria-hidden="true" />
          </Row>
        </summary>
        <EngineFacts status={status} now={now} />
      </details>
    </section>
  );
}

function EngineFacts({
  status: { engines, signatures, limits, found_scanner, feeds },
  now,
}: {
  status: EngineStatus;
  now: number;
}) {
  const minutes = Math.round(limits.time_ms / 60_000);
  return (
    <Stack as="dl" gap="2" className="engine-card__facts num line-above small">
      {engines.map(({ name, kind, note, version, signatures_version, processes }) => (
        <Grid columns="term" phone="stack" gap="4" rowGap="0" key={name}>
          <dt className="muted">{version === null ? name : `${name} ${version}`}</dt>
          <dd className="break">
            {processes.ready === processes.wanted
              ? 'Scanner ready.'
              : `${formatNumber(processes.ready)} of ${formatNumber(processes.wanted)} scanners ready.`}
            {signatures_version !== null && ` Threat definitions: ${signatures_version}.`}
            {kind === 'wasm' && note === null && ' It is the WebAssembly build.'}
            {note !== null && ` ${note}`}
          </dd>
        </Grid>
      ))}
      <Grid columns="term" phone="stack" gap="4" rowGap="0">
        <dt className="muted">Threat definitions</dt>
        <dd className="break">{describeSignatures(signatures)}</dd>
      </Grid>
      {found_scanner !== null && (
        <Grid columns="term" phone="stack" gap="4" rowGap="0">
          <dt className="muted">{found_scanner.used ? 'Found on this server' : 'Found but not used'}</dt>
          <dd className="break">
            <span className="block muted">{found_scanner.address}</span>{' '}
            {found_scanner.used
              ? 'It also checks every file. To require it, set SCANNER_URL to its address; to skip it, set none.'
              : `Its self-test failed: ${found_scanner.reason ?? 'no reason given'}.`}
          </dd>
        </Grid>
      )}
      {signatures.last_update_at !== null && (
        <Grid columns="term" phone="stack" gap="4" rowGap="0">
          <dt className="muted">Last update</dt>
          <dd className="break">
            <Moment iso={signatures.last_update_at} now={now} />. {signatures.last_outcome}
          </dd>
        </Grid>
      )}
      <Grid columns="term" phone="stack" gap="4" rowGap="0">
        <dt className="muted">Limits</dt>
        <dd className="break">
          {`Files up to ${describeBytes(limits.upload_bytes)} and ${formatSpan(minutes, 'minute')} of scanning. `}
          {`Archives up to ${limits.depth} levels, ${formatNumber(limits.members)} files, and ${describeBytes(limits.unpacked_bytes)}.`}
        </dd>
      </Grid>
      {feeds?.map((feed) => (
        <FeedFacts key={`${feed.kind} ${feed.address}`} feed={feed} now={now} />
      ))}
    </Stack>
  );
}

const WHY: Record<SignatureFeedStatus['left_out'][number]['why'], string> = {
  does_not_compile: 'does not compile',
  twice: 'is there twice',
  slow: 'is slow',
  would_alarm: 'flags harmless files',
  needs_another: 'needs an unused rule',
  no_entry: 'has no entries',
};

/** One signature source: its used part, age, memory and omitted entries. */
function FeedFacts({ feed, now }: { feed: SignatureFeedStatus; now: number }) {
  const { address, kind, ok, sentence, severity, changed_at, confirmed_at, memory_bytes, left_out, left_out_total } = feed;
  const more = left_out_total - left_out.length;
  return (
    <Grid columns="term" phone="stack" gap="4" rowGap="0">
      <dt className={ok ? 'muted' : 'amber'}>{ok ? 'Source' : 'Source failed'}</dt>
      <dd className="break">
        <span className="block muted">{address}</span> {sentence}
        {severity === 'note' && ' Its findings are notes, not alarms.'}
        {changed_at !== null && (
          <>
            {' '}
            <Sentence text="Updated {when}." parts={{ when: <Moment iso={changed_at} now={now} /> }} />
          </>
        )}
        {changed_at !== null && confirmed_at !== null && (
          <>
            {' '}
            <Sentence text="Checked for updates {when}." parts={{ when: <Moment iso={confirmed_at} now={now} /> }} />
          </>
        )}
        {memory_bytes !== null && kind === 'yara' && ` Uses ${describeBytes(memory_bytes)} of memory per process.`}
        {left_out.length > 0 && (
          <details>
            <summary>
              {plural(left_out_total, { one: '1 part isn’t used', other: `${formatNumber(left_out_total)} parts aren’t used` })}
            </summary>
            <ul>
              {left_out.map(({ name, why, detail }) => (
                <li key={`${why} ${name} ${detail}`}>
                  {name} {WHY[why]}. <span className="sub">{detail}</span>
                </li>
              ))}
              {more > 0 && <li>{`And ${formatNumber(more)} more.`}</li>}
            </ul>
          </details>
        )}
      </dd>
    </Grid>
  );
}
