import { SAMPLE_HEALTH } from '@palisade/contract/dashboard';
import { FigureMark } from '#ui/figure-mark.tsx';

/** The specification's static bars. Nothing measures them, so they are shown in the demo alone. */
export function SystemHealth() {
  return (
    <section className="card health" aria-labelledby="health">
      <div className="health__head">
        <h2 id="health">System health</h2>
        <FigureMark kind="sample" />
      </div>
      {SAMPLE_HEALTH.map(({ label, percent }) => (
        <div key={label} className="health__bar">
          <span>{label}</span>
          <span className="health__track">
            {/* The browsers draw a meter each in its own way, so it is there for screen readers and the bar for the eye. */}
            <meter className="visually-hidden" aria-label={label} min={0} max={100} value={percent} />
            <span className="health__share" style={{ width: `${percent}%` }} />
          </span>
          <span className="num">{percent}%</span>
        </div>
      ))}
    </section>
  );
}
