import { Countdown } from '#ui/countdown.tsx';
import { Sentence } from '#ui/sentence.tsx';

interface RefusedMessageProps {
  /** As the server said it, with the time in words. */
  sentence: string;
  until: number;
  onEnd: () => void;
}

/** Why the server does not look at this try, and for how long: counted down for the eye, said once to whoever hears it. */
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
