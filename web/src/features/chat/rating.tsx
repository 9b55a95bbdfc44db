import type { ChatState } from '@palisade/contract/chat-read';
import { StarRating } from '#ui/star-rating.tsx';
import { useRate } from './chat.queries.ts';

/** Asks for a rating after the conversation is closed. */
export function Rating({ given }: NonNullable<ChatState['rating']>) {
  return (
    <div className="pad-m line-above">
      <StarRating legend="This conversation was closed. How good was the help?" given={given} rate={useRate()} />
    </div>
  );
}
