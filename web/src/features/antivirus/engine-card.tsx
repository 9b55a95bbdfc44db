import type { EngineStatus } from '@palisade/contract/engine';
import { IconAlertTriangle, IconChevronDown, IconHourglass, IconPlugConnectedX, IconShieldCheck } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { sentenceOf } from '#api/call.ts';
import { engineQuery } from '#api/engine.ts';
import { describeBytes } from '#ui/bytes.ts';
import { Moment, useMinute } from '#ui/moment.tsx';
import { ErrorNotice } from '#ui/states.tsx';
import { describeSignatures, type EngineState, engineState } from './engine-state.ts';
import './engine-card.css';

const ICONS: Record<EngineState['tone'], typeof IconShieldCheck> = {
  good: IconShieldCheck,
  wait: IconHourglass,
  warn: IconAlertTriangle,
  danger: IconPlugConnectedX,
};

/** What reads the files, and how fresh its signatures are: one calm line, the rest on demand. */
export function EngineCard() {
  const { data: status, error, refetch } = useQuery(engineQuery);
  const now = useMinute();
  if (!status) {
    return error ? (
      <ErrorNotice
        title="The state of the scanning engine could not be read"
        sentence={sentenceOf(error)}
        onRetry={() => void refetch()}
      />
    ) : (
      <div role="status" aria-label="Loading the state of the scanning engine" className="card engine-card" />
    );
  }
  const { tone, title, sentence } = engineState(status, now);
  const Icon = ICONS[tone];
  return (
    <section className="card engine-card" aria-label="Scanning engine" data-tone={tone}>
      <details>
        <summary>
          <span className="engine-card__icon" aria-hidden="true">
            <Icon size={20} stroke={1.7} />
          </span>
          <span className="engine-card__words">
            <span className="engine-card__title num">{title}</span>
            <span className="sub num">{sentence}</span>
          </span>
          <span className="engine-card__more">
            Details
            <IconChevronDown size={16} stroke={1.7} aria-hidden="true" />
          </span>
        </summary>
        <EngineFacts status={status} now={now} />
      </details>
    </section>
  );
}

function EngineFacts({ status: { engines, signatures, limits, feeds }, now }: { status: EngineStatus; now: number }) {
  const minutes = Math.round(limits.time_ms / 60_000);
  return (
    <dl className="engine-card__facts num">
      {engines.map(({ name, version, signatures_version, processes }) => (
        <div key={name}>
          <dt>{version === null ? name : `${name} ${version}`}</dt>
          <dd>
            {processes.ready} of {processes.wanted} ready
            {signatures_version !== null && `, signatures ${signatures_version}`}
          </dd>
        </div>
      ))}
      <div>
        <dt>Known threats</dt>
        <dd>{describeSignatures(signatures)}</dd>
      </div>
      {signatures.last_update_at !== null && (
        <div>
          <dt>Last update</dt>
          <dd>
            <Moment iso={signatures.last_update_at} now={now} />. {signatures.last_outcome}
          </dd>
        </div>
      )}
      <div>
        <dt>Limits</dt>
        <dd>
          Files up to {describeBytes(limits.upload_bytes)}. Archives up to {limits.depth} levels deep, with{' '}
          {new Intl.NumberFormat('en').format(limits.members)} files and {describeBytes(limits.unpacked_bytes)} in them. At most{' '}
          {minutes === 1 ? 'a minute' : `${minutes} minutes`} for each.
        </dd>
      </div>
      {feeds?.map(({ address, ok, sentence }) => (
        <div key={address} data-failed={!ok || undefined}>
          <dt>{ok ? 'Source' : 'Source failed'}</dt>
          <dd>
            <span className="engine-card__address">{address}</span> {sentence}
          </dd>
        </div>
      ))}
    </dl>
  );
}
