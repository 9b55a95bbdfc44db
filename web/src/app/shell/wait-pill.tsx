import { useCallback } from 'react';
import { reportWait } from '#api/connection.ts';
import { Countdown } from '#ui/countdown.tsx';
import { Row } from '#ui/layout.tsx';
import { Sentence } from '#ui/sentence.tsx';

/** Countdown until a refused call continues or can be repeated. */
export function WaitPill({ until }: { until: number }) {
  const end = useCallback(() => reportWait(undefined), []);
  return (
    <Row as="span" inline gap="2" className="pill small muted round nowrap" data-tone="attention">
      <span className="visually-hidden">Too many requests. Wait a moment.</span>
      <span aria-hidden="true">
        <Sentence text="Too many requests, wait {time}" parts={{ time: <Countdown until={until} onEnd={end} /> }} />
      </span>
    </Row>
  );
}
