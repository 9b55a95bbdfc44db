import { ZONE } from './place.ts';
import './zone-note.css';

/** Says whose clocks all dates of the page are by, where the browser does not say where it is. */
export function ZoneNote() {
  if (ZONE.is_known) return null;
  return (
    <p role="note" className="sub zone-note">
      Your browser doesn’t share its time zone. Times here are in UTC.
    </p>
  );
}
