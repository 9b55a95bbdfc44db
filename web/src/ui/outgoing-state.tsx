import { IconAlertTriangle, IconCloudOff } from '@tabler/icons-react';
import type { Outgoing } from '#api/outgoing.ts';
import { Button } from './button.tsx';

interface OutgoingStateProps {
  outgoing: Outgoing<unknown>;
  onRetry: () => void;
  /** Moves the message back to the field. */
  onEdit: () => void;
}

/** State of an unconfirmed message, with its actions. */
export function OutgoingState({ outgoing: { state, sentence }, onRetry, onEdit }: OutgoingStateProps) {
  if (state === 'sending') return 'Sending…';
  if (state === 'waiting' && sentence === undefined) return 'Waiting';
  const isRefused = state === 'failed';
  const Icon = isRefused ? IconAlertTriangle : IconCloudOff;
  return (
    <>
      <span className="message__unsent amber" role={isRefused ? 'alert' : 'status'}>
        <Icon size={14} stroke={2} aria-hidden="true" />
        <span>
          {isRefused ? 'Your message was not sent. ' : 'Not sent yet. We’ll send it when you’re back online. '}
          {sentence}
        </span>
      </span>
      <Button variant="quiet" size="s" onClick={onRetry}>
        Retry
      </Button>
      <Button variant="text" size="s" onClick={onEdit}>
        Edit
      </Button>
    </>
  );
}
