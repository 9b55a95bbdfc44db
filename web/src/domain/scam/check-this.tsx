import './check-this.css';
import { type ToCheck, useCheckThis } from './to-check.ts';

/** Checks something for signs of a scam. `name` tells the buttons of a list apart. */
export function CheckThis({ what, name }: { what: () => ToCheck | Promise<ToCheck>; name: string }) {
  const check = useCheckThis();
  return (
    <button
      type="button"
      className="check-this"
      aria-label={`Check this: ${name}`}
      onClick={() => void Promise.resolve(what()).then(check, () => undefined)}
    >
      Check this
    </button>
  );
}
