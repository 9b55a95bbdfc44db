import { VERSION } from '@palisade/contract/constants';
import { Link } from 'react-router';
import { type Config, useConfig } from '#api/config.ts';
import { useResponseTime } from '#domain/conversation/chat.ts';
import { EmailLink, PhoneLink } from '#ui/contact-link.tsx';
import { FigureMark } from '#ui/figure-mark.tsx';
import { describeSpan } from '#ui/moment.tsx';

/** Whom to ask, when the provider has said so, and the version. */
export function SupportBlock() {
  const config = useConfig();
  const support = config?.support;
  return (
    <footer className="support-block">
      {support && (support.phone || support.email) && (
        <>
          <SupportPromise config={config} />
          <MeasuredResponse />
          {support.phone && <PhoneLink phone={support.phone} />}
          {support.email && <EmailLink email={support.email} />}
        </>
      )}
      <Link to="/help">Help pages</Link>
      <span className="num">v{VERSION}</span>
    </footer>
  );
}

/** What the provider promises. The specification's own words are nobody's promise, so they stand in local exposure alone, and marked. */
function SupportPromise({ config }: { config: Config }) {
  const { promise } = config.support;
  if (promise)
    return (
      <>
        <b>Support</b>
        <span>{promise}</span>
      </>
    );
  if (config.exposure === 'public') return <b>Support</b>;
  return (
    <>
      <b>Support, available 24/7</b>
      <span>Response under 30 seconds</span>
      <FigureMark kind="claim" />
    </>
  );
}

/** What was measured stands beside what is promised. */
function MeasuredResponse() {
  const seconds = useResponseTime();
  return seconds !== null && <span>Measured in the last 7 days: {describeSpan(seconds)}</span>;
}
