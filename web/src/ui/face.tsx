import './face.css';

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** The first letter of a name, beside the name. */
export function Face({ name, size }: { name: string; size?: 'l' }) {
  const [first] = graphemes.segment(name.trim());
  return (
    <span className="face" data-size={size} aria-hidden="true">
      {(first?.segment ?? '?').toUpperCase()}
    </span>
  );
}
