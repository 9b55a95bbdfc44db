import './check-this.css';
import { type ToCheck, useCheckThis } from './to-check.ts';

/** Button that sends content to the scam check. `name` distinguishes the buttons of a list for screen readers. */
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
