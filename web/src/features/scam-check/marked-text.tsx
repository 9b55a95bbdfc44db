import type { ScamReason } from '@palisade/contract/scam-check';
import { Fragment } from 'react';

/** A part of the checked text. `reasons` are the positions of the reasons that name it, and `ending` of those that end with it. */
export interface Piece {
  text: string;
  reasons: readonly number[];
  ending: readonly number[];
}

/** Splits a text at the positions that reasons name. A reason from another source, such as a picture, marks nothing, nor does a position whose text differs from the reason's. */
export function markedPieces(text: string, reasons: readonly Pick<ScamReason, 'span'>[]): Piece[] {
  const places = reasons.flatMap(({ span }, reason) =>
    span?.source === 'text' && span.index === 0 && span.text !== '' && text.slice(span.start, span.end).startsWith(span.text)
      ? [{ reason, start: span.start, end: span.end }]
      : [],
  );
  const cuts = [...new Set([0, text.length, ...places.flatMap(({ start, end }) => [start, end])])].sort((a, b) => a - b);
  return cuts.slice(1).map((end, index) => {
    const start = cuts[index] ?? 0;
    const here = places.filter((place) => place.start <= start && place.end >= end);
    return {
      text: text.slice(start, end),
      reasons: here.map(({ reason }) => reason),
      ending: here.filter((place) => place.end === end).map(({ reason }) => reason),
    };
  });
}

/** The checked text with the positions that reasons name, each with the number of its reason. Renders nothing without any. */
export function MarkedText({ text, reasons }: { text: string; reasons: readonly ScamReason[] }) {
  const pieces = markedPieces(text, reasons);
  if (pieces.every((piece) => piece.reasons.length === 0)) return null;
  return (
    <p className="scam-text scroll pre surface-sunken pad-m base break below-3" dir="auto">
      {pieces.map((piece, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of one text keep their order
        <Fragment key={index}>
          {piece.reasons.length === 0 ? (
            piece.text
          ) : (
            <mark data-weight={Math.max(...piece.reasons.map((reason) => reasons[reason]?.weight ?? 1))}>{piece.text}</mark>
          )}
          {piece.ending.length > 0 && (
            <sup className="num">
              <span className="visually-hidden">Reason </span>
              {piece.ending.map((reason) => reason + 1).join(' ')}
            </sup>
          )}
        </Fragment>
      ))}
    </p>
  );
}
