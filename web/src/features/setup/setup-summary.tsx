import { formatList } from '@palisade/contract/intl';
import type { ClientInfo } from '@palisade/contract/setup';
import { shownEmail } from '@palisade/contract/shown-email';
import { IconCircleCheck } from '@tabler/icons-react';
import { useEffect, useRef } from 'react';
import { Link } from 'react-router';
import type { Config } from '#api/config.ts';
import { Button } from '#ui/button.tsx';

interface SetupSummaryProps {
  info: ClientInfo;
  exposure: Config['exposure'];
  features: readonly (readonly [name: string, sentence: string])[];
  onEdit: () => void;
}

/** Text without a promise. Local exposure shows the specification's claim, marked. */
const NO_PROMISE: Record<Config['exposure'], string> = {
  local: 'Not given: “available 24/7” is shown, marked as a claim',
  public: 'Nothing is promised',
};

/** The saved values in place of the form. Its heading takes the form's focus. */
export function SetupSummary({ info, exposure, features, onEdit }: SetupSummaryProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <section className="card setup-summary" aria-labelledby="setup-complete">
      <span className="setup-summary__icon" aria-hidden="true">
        <IconCircleCheck size={32} stroke={1.7} />
      </span>
      <h2 id="setup-complete" ref={heading} tabIndex={-1}>
        Setup Complete
      </h2>
      <p className="sub">Every screen and email shows this from now on.</p>
      <dl className="setup-summary__facts">
        <div>
          <dt>Company Name</dt>
          <dd>{info.company_name.trim()}</dd>
        </div>
        <div>
          <dt>Support Phone</dt>
          <dd>{info.support_phone.trim() || 'Not given, so not shown'}</dd>
        </div>
        <div>
          <dt>Support Email</dt>
          <dd>{shownEmail(info.support_email.trim()) || 'Not given, so not shown'}</dd>
        </div>
        <div>
          <dt>Support Promise</dt>
          <dd>{info.support_promise.trim() || NO_PROMISE[exposure]}</dd>
        </div>
        <div>
          <dt>Included</dt>
          <dd>
            {formatList(
              features.map(([name]) => name),
              'plain',
            )}
          </dd>
        </div>
      </dl>
      <div className="setup-summary__end">
        <Link to="/dashboard">Go to the dashboard</Link>
        <Button variant="quiet" onClick={onEdit}>
          Change details
        </Button>
      </div>
    </section>
  );
}
