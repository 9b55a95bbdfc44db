import { Row } from '#ui/layout.tsx';
import './check-this.css';
import { type ToCheck, useCheckThis } from './to-check.ts';

/** Button that sends content to the scam check. `name` distinguishes the buttons of a list for screen readers. */
export function CheckThis({ what, name }: { what: () => ToCheck | Promise<ToCheck>; name: string }) {
  const check = useCheckThis();
  return (
    <Row
      type="button"
      as="button"
      inline
      gap="1"
      className="check-this bare muted tiny"
      aria-label={`Check this: ${name}`}
      onClick={() => void Promise.resolve(what()).then(check, () => undefined)}
    >
      Check this
    </Row>
  );
}
