import { useState } from 'react';

/** Maximum length before shortening, in characters: two IPv6 addresses. */
const SHORT = 84;

/** A field of a rule as typed; a long text is shortened and expands on demand. */
export function LongText({ text }: { text: string }) {
  const [isWhole, setIsWhole] = useState(false);
  if (text.length <= SHORT) return <bdi className="mono small break">{text}</bdi>;
  return (
    <>
      <bdi className="mono small break">{isWhole ? text : `${text.slice(0, SHORT)}…`}</bdi>{' '}
      <button
        type="button"
        className="long-text__more bare accent small"
        aria-expanded={isWhole}
        onClick={() => setIsWhole(!isWhole)}
      >
        {isWhole ? 'Show less' : 'Show all'}
      </button>
    </>
  );
}
