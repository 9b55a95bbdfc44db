import type { CustomerCard } from '@palisade/contract/desk';
import { IconArrowLeft, IconUser } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { sentenceOf } from '#api/call.ts';
import { Badge } from '#ui/badge.tsx';
import { describeDate, Moment, useMinute } from '#ui/moment.tsx';
import { EmptyState, ErrorNotice, LoadingRows } from '#ui/states.tsx';
import { customerQuery } from './desk.queries.ts';
import { Face } from './face.tsx';

const count = new Intl.NumberFormat('en');

interface CustomerPaneProps {
  /** Undefined while no conversation is open. */
  conversation_id: string | undefined;
  /** Each reading of the card is in the audit log: it is read where it can be seen. */
  isShown: boolean;
  onBack: () => void;
}

/** Who the customer is: names and counts, and nothing of what is in their files. */
export function CustomerPane({ conversation_id, isShown, onBack }: CustomerPaneProps) {
  return (
    <aside className="desk__pane desk__pane--customer" aria-label="Customer card">
      <header className="talk-head desk__from-customer">
        <button type="button" className="icon-button" aria-label="Back to the conversation" onClick={onBack}>
          <IconArrowLeft size={20} stroke={1.7} aria-hidden="true" />
        </button>
        <b>Customer card</b>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <section className="desk__scroll" tabIndex={0} aria-label="Customer">
        {conversation_id !== undefined && isShown ? (
          <Card conversation_id={conversation_id} />
        ) : (
          <EmptyState
            icon={<IconUser size={28} stroke={1.7} />}
            title="Nobody is chosen"
            sentence="Open a conversation to see whose it is."
          />
        )}
      </section>
    </aside>
  );
}

function Card({ conversation_id }: { conversation_id: string }) {
  const { data: card, error, refetch } = useQuery(customerQuery(conversation_id));
  if (card) return <Known card={card} />;
  return (
    <div className="customer">
      {error ? (
        <ErrorNotice title="The card could not be read" sentence={sentenceOf(error)} onRetry={() => void refetch()} />
      ) : (
        <LoadingRows label="Loading the card" />
      )}
    </div>
  );
}

function Known({ card }: { card: CustomerCard }) {
  const now = useMinute();
  const { clean, infected, pending } = card.scans;
  return (
    <div className="customer">
      <div className="customer__who">
        <Face name={card.username} size="l" />
        <h2>
          <bdi>{card.username}</bdi>
        </h2>
        <p className="sub">
          <bdi>{card.email}</bdi>
        </p>
      </div>
      <p className="customer__plan">
        <Badge tone={card.is_premium ? 'safe' : 'plain'}>{card.plan_name ?? 'No plan'}</Badge>
        <span className="sub">Customer since {describeDate(card.since)}</span>
      </p>
      <dl className="customer__figures num">
        <Figure name="Score" value={`${card.security_score}%`} />
        <Figure name="Open alerts" value={count.format(card.open_alerts)} />
        <Figure
          name="Files checked"
          value={count.format(clean + infected + pending)}
          line={infected > 0 ? `${count.format(infected)} infected` : undefined}
        />
        <Figure
          name="Matters before"
          value={count.format(card.conversations_closed)}
          line={card.ratings.average === null ? undefined : `rated ${card.ratings.average.toFixed(1)} of 5`}
        />
      </dl>
      <Part title="Devices" nothing="No device is connected." rows={card.devices.length}>
        {card.devices.map(({ name, last_seen_at }) => (
          <li key={name}>
            <bdi>{name}</bdi>
            <span>{last_seen_at === null ? 'never seen' : <Moment iso={last_seen_at} now={now} />}</span>
          </li>
        ))}
      </Part>
      <Part title="Remote sessions" nothing="There was none." rows={card.remote_sessions.length}>
        {card.remote_sessions.map(({ status, started_at, support_agent }) => (
          <li key={started_at}>
            <span>
              {status.charAt(0).toUpperCase() + status.slice(1)}
              {support_agent !== null && (
                <>
                  , <bdi>{support_agent}</bdi>
                </>
              )}
            </span>
            <span>
              <Moment iso={started_at} now={now} />
            </span>
          </li>
        ))}
      </Part>
      <p className="sub">That you opened this card is in the audit log.</p>
    </div>
  );
}

function Figure({ name, value, line }: { name: string; value: string; line?: string | undefined }) {
  return (
    <div className="customer__figure">
      <dt>{name}</dt>
      <dd>{value}</dd>
      {line !== undefined && <dd className="customer__line">{line}</dd>}
    </div>
  );
}

function Part({ title, nothing, rows, children }: { title: string; nothing: string; rows: number; children: ReactNode }) {
  return (
    <section className="customer__part">
      <h3>{title}</h3>
      {rows === 0 ? <p className="sub">{nothing}</p> : <ul className="customer__list">{children}</ul>}
    </section>
  );
}
