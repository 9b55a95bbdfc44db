import { VERSION } from '@palisade/contract/constants';
import { describeSpan } from '@palisade/contract/intl';
import { type Config, useConfig, useIsConfigAnswered } from '#api/config.ts';
import { type SupportContact, supportOf } from '#api/support-contact.ts';
import { useResponseTime } from '#domain/conversation/chat.ts';
import { EmailLink, PhoneLink } from '#ui/contact-link.tsx';
import { FigureMark } from '#ui/figure-mark.tsx';
import { Stack } from '#ui/layout.tsx';

/** The support contact, if the provider has set one, and the version. */
export function SupportBlock() {
  const config = useConfig();
  const isAnswered = useIsConfigAnswered();
  const support = config && supportOf(config);
  // The block grows upward, so drawing it before its content is known would move it.
  if (!isAnswered && !config) return null;
  return (
    <Stack as="footer" gap="0" className="support-block fixed tiny faint break">
      {support && (support.phone || support.email) && (
        <>
          <SupportPromise config={config} support={support} />
          <MeasuredResponse />
          {support.is_example && <FigureMark kind="contact" />}
          {support.phone && <PhoneLink phone={support.phone} />}
          {support.email && <EmailLink email={support.email} />}
        </>
      )}
      <span className="num">v{VERSION}</span>
    </Stack>
  );
}

/** The provider's promise. The specification's text is not the provider's promise: it is marked, and shown only in local exposure and with the example contact. */
function SupportPromise({ config, support: { promise, is_example } }: { config: Config; support: SupportContact }) {
  if (promise)
    return (
      <>
        <b className="muted medium">Support</b>
        <span>{promise}</span>
      </>
    );
  if (config.exposure === 'public' && !is_example) return <b className="muted medium">Support</b>;
  return (
    <>
      <b className="muted medium">Support, available 24/7</b>
      <span>Response under 30 seconds</span>
      {!is_example && <FigureMark kind="claim" />}
    </>
  );
}

/** The measured response time, next to the promised one. */
function MeasuredResponse() {
  const seconds = useResponseTime();
  return seconds !== null && <span>{`Measured in the last 7 days: ${describeSpan(seconds)}`}</span>;
}
