import { graphemes } from '@palisade/contract/intl';
import './face.css';

/** An avatar with the first letter of a name. */
export function Face({ name, size }: { name: string; size?: 'l' }) {
  const [first] = graphemes(name.trim());
  return (
    <span className="face" data-size={size} aria-hidden="true">
      {(first ?? '?').toUpperCase()}
    </span>
  );
}
