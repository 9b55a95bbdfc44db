import { IconAlertTriangle, IconCheck } from '@tabler/icons-react';
import { useEffect, useRef } from 'react';

export interface Message {
  tone: 'good' | 'bad';
  text: string;
}

/** Good messages carry a check mark and are green, the others are red. The place stays, so that what comes into it is announced. */
export function MessageLine({ message }: { message: Message | undefined }) {
  const line = useRef<HTMLDivElement>(null);
  const Icon = message?.tone === 'good' ? IconCheck : IconAlertTriangle;

  useEffect(() => {
    // On a phone the button that led to it is a screen below.
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
