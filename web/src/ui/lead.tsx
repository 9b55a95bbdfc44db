import type { TablerIcon } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useId } from 'react';
import './card.css';
import './lead.css';

export type LeadTone = 'good' | 'attention' | 'danger' | 'unknown';

interface LeadWordsProps {
  icon: TablerIcon;
  title: string;
  titleId?: string;
  sentence: ReactNode;
}

/** Icon and words of a `lead__line`, for a frame of one's own. */
export function LeadWords({ icon: Icon, title, titleId, sentence }: LeadWordsProps) {
  return (
    <>
      <span className="lead__icon" aria-hidden="true">
        <Icon size={28} stroke={1.7} />
      </span>
      <div>
        <h2 id={titleId}>{title}</h2>
        <p className="sub">{sentence}</p>
      </div>
    </>
  );
}

interface LeadProps extends Omit<LeadWordsProps, 'titleId'> {
  tone: LeadTone;
  /** The one thing to do, where there is one. */
  action?: ReactNode;
}

/** The answer of a screen before everything else, and what to do about it. */
export function Lead({ tone, icon, title, sentence, action }: LeadProps) {
  const id = useId();
  return (
    <section className="card lead" data-tone={tone} aria-labelledby={id}>
      <div className="lead__line">
        <LeadWords icon={icon} title={title} titleId={id} sentence={sentence} />
        {action}
      </div>
    </section>
  );
}

/** As high as the answer that comes in its place. */
export function LeadWaiting({ label }: { label: string }) {
  return <div className="card lead" data-tone="unknown" role="status" aria-label={label} />;
}
