import { ZONE } from './place.ts';
import './zone-note.css';

/** Names the time zone of all dates on the page if the browser does not report its own. */
export function ZoneNote() {
  if (ZONE.is_known) return null;
  return (
    <p role="note" className="sub zone-note">
      Your browser doesn’t share its time zone. Times here are in UTC.
    </p>
  );
}
