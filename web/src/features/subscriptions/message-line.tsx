import { IconAlertTriangle, IconCheck } from '@tabler/icons-react';
import { useEffect, useRef } from 'react';

export interface Message {
  tone: 'good' | 'bad';
  text: string;
}

/** A message of success (green, with a check mark) or failure (red). The container stays mounted, so that new messages are announced. */
export function MessageLine({ message }: { message: Message | undefined }) {
  const line = useRef<HTMLDivElement>(null);
  const Icon = message?.tone === 'good' ? IconCheck : IconAlertTriangle;

  useEffect(() => {
    // On a phone the pressed button is far below.
    if (message) line.current?.scrollIntoView({ block: 'nearest' });
  }, [message]);

  return (
    <div ref={line} role="status" className="message-line" data-tone={message?.tone}>
      {message && (
        <>
          <Icon size={18} stroke={2} aria-hidden="true" />
          <span>{message.text}</span>
        </>
      )}
    </div>
  );
}
