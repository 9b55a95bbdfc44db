import { CheckThis } from './check-this.tsx';

/** Shorter messages without a link or number are not worth a check. */
const LONG = 120;
const CHECKABLE = /(?:https?:|hxxp|www\.|[\w-]\.[a-z]{2,}\/|\d[\d\s-]{5,}\d)/iu;

/** "Check this" below a message that may be copied: one with a link, a number or many words. */
export function CheckMessage({ text }: { text: string }) {
  if (text.length < LONG && !CHECKABLE.test(text)) return null;
  return <CheckThis what={() => ({ text })} name={text.slice(0, 40)} />;
}
