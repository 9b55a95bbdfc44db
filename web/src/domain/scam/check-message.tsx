import { CheckThis } from './check-this.tsx';

/** Minimum length of a message that is worth a check without a link or number. */
const LONG = 120;
const CHECKABLE = /(?:https?:|hxxp|www\.|[\w-]\.[a-z]{2,}\/|\d[\d\s-]{5,}\d)/iu;

/** "Check this" below a message that may be a forwarded scam: one with a link, a number or many words. */
export function CheckMessage({ text }: { text: string }) {
  if (text.length < LONG && !CHECKABLE.test(text)) return null;
  return <CheckThis what={() => ({ text })} name={text.slice(0, 40)} />;
}
