import './sparkline.css';

const HEIGHT = 40;
/** Room for the stroke at the highest and the lowest point. */
const MARGIN = 3;

interface SparklineProps {
  /** Oldest first; at least two. */
  values: readonly number[];
  tone: 'accent' | 'red' | 'amber';
  /** The same figures in words, for screen readers. */
  label: string;
}

/** A figure over time as one line without a scale. */
export function Sparkline({ values, tone, label }: SparklineProps) {
  const most = Math.max(1, ...values);
  const points = values.map((value, place) => `${place},${HEIGHT - MARGIN - ((HEIGHT - 2 * MARGIN) * value) / most}`);
  const last = values.length - 1;
  return (
    <svg
      role="img"
      aria-label={label}
      className="sparkline full"
      data-tone={tone}
      viewBox={`0 0 ${last} ${HEIGHT}`}
      preserveAspectRatio="none"
    >
      <polygon points={`0,${HEIGHT} ${points.join(' ')} ${last},${HEIGHT}`} />
      <polyline points={points.join(' ')} />
    </svg>
  );
}
