import { Countdown } from '#ui/countdown.tsx';
import { Sentence } from '#ui/sentence.tsx';

interface RefusedMessageProps {
  /** The server's sentence, with the time in words. */
  sentence: string;
  until: number;
  onEnd: () => void;
}

/** The reason for a refusal and its remaining time: a visible countdown, and one announcement for screen readers. */
export function RefusedMessage({ sentence, until, onEnd }: RefusedMessageProps) {
  const reason = sentence.replace(/ Try again in [^.]*\.$/u, '');
  return (
    <>
      <span className="visually-hidden">{sentence}</span>
      <span aria-hidden="true">
        {reason} <Sentence text="Try again in {time}." parts={{ time: <Countdown until={until} onEnd={onEnd} /> }} />
      </span>
    </>
  );
}
