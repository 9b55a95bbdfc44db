import { IconAlertTriangle, IconCheck } from '@tabler/icons-react';
import { useEffect, useRef } from 'react';
import { Row } from '#ui/layout.tsx';

export interface Message {
  tone: 'good' | 'danger';
  text: string;
}

/** A message of success (green, with a check mark) or failure (red). The container stays mounted, so that new messages are announced. */
export function MessageLine({ message }: { message: Message | undefined }) {
  const line = useRef<HTMLDivElement>(null);
  const Icon = message?.tone === 'good' ? IconCheck : IconAlertTriangle;

  useEffect(() => {
    // On a phone the message is far above the pressed button.
    if (message) line.current?.scrollIntoView({ block: 'nearest' });
  }, [message]);

  return (
    <Row
      ref={line}
      role="status"
      wrap={false}
      gap="2"
      className="message-line tinted pad-m below-4 rounded base medium break off-empty"
      data-tone={message?.tone}
    >
      {message && (
        <>
          <Icon className="fixed" size={18} stroke={2} aria-hidden="true" />
          <span>{message.text}</span>
        </>
      )}
    </Row>
  );
}
