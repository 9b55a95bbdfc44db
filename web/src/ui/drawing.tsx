import type { ReactNode } from 'react';
import './drawing.css';

/** Drawings of 132 by 88 px in the colors of tokens.css: lines in `--line-strong`, one part in the accent. */
const DRAWINGS = {
  /** All is well: a shield on a plain background. */
  calm: (
    <>
      <path d="M14 78h104M28 84h76M22 40h10M100 30h12M104 52h8" />
      <path className="drawing__accent" d="M66 10l28 9v20c0 18-11 29-28 36-17-7-28-18-28-36V19z" />
      <path className="drawing__mark" d="M54 41l9 9 16-18" />
    </>
  ),
  /** Every message has an answer. */
  messages: (
    <>
      <path
        className="drawing__paper"
        d="M18 14h56a8 8 0 0 1 8 8v22a8 8 0 0 1-8 8H40L26 64V52h-8a8 8 0 0 1-8-8V22a8 8 0 0 1 8-8z"
      />
      <path d="M24 28h40M24 38h24" />
      <path
        className="drawing__accent"
        d="M66 38h48a8 8 0 0 1 8 8v18a8 8 0 0 1-8 8h-6v10L94 72H66a8 8 0 0 1-8-8V46a8 8 0 0 1 8-8z"
      />
      <path className="drawing__mark" d="M80 55l7 7 13-14" />
    </>
  ),
  /** An empty list: blank sheets. */
  sheets: (
    <>
      <path className="drawing__paper" d="M46 8h44a6 6 0 0 1 6 6v56a6 6 0 0 1-6 6H46a6 6 0 0 1-6-6V14a6 6 0 0 1 6-6z" />
      <path className="drawing__accent" d="M34 16h44a6 6 0 0 1 6 6v54a6 6 0 0 1-6 6H34a6 6 0 0 1-6-6V22a6 6 0 0 1 6-6z" />
      <path d="M104 26h14M104 40h8M12 44h8M8 58h12" />
      <path className="drawing__mark" d="M38 34h28M38 46h34M38 58h18" />
    </>
  ),
  /** No rule yet: a wall with one stone. */
  wall: (
    <>
      <path className="drawing__paper" d="M22 14h88v60H22z" />
      <path d="M22 34h88M22 54h88M52 14v20M82 14v20M38 34v20M96 34v20M52 54v20M82 54v20M10 80h112" />
      <path className="drawing__accent" d="M38 34h58v20H38z" />
      <path className="drawing__mark" d="M58 44l6 6 12-12" />
    </>
  ),
  /** No session yet: a screen with a pointer. */
  screen: (
    <>
      <path className="drawing__paper" d="M26 10h80a6 6 0 0 1 6 6v46a6 6 0 0 1-6 6H26a6 6 0 0 1-6-6V16a6 6 0 0 1 6-6z" />
      <path d="M66 68v12M44 80h44M32 24h22M32 34h14" />
      <path className="drawing__accent" d="M62 26l30 12-13 5-5 13z" />
    </>
  ),
  /** No email yet: a letter. */
  letter: (
    <>
      <path d="M10 30h12M6 42h14M112 46h14M116 58h8" />
      <path className="drawing__accent" d="M34 16h64a6 6 0 0 1 6 6v44a6 6 0 0 1-6 6H34a6 6 0 0 1-6-6V22a6 6 0 0 1 6-6z" />
      <path className="drawing__mark" d="M30 20l36 28 36-28" />
    </>
  ),
} as const satisfies Record<string, ReactNode>;

/** The picture of an empty or finished state. */
export function Drawing({ of }: { of: keyof typeof DRAWINGS }) {
  return (
    <svg className="drawing" viewBox="0 0 132 88" aria-hidden="true">
      {DRAWINGS[of]}
    </svg>
  );
}
