import { formatList } from '@palisade/contract/intl';
import { clearProxyFindings, type ProxyFindings, type ProxySign } from '@palisade/contract/proxy';
import { IconAlertTriangle } from '@tabler/icons-react';
import { call } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { Button } from '#ui/button.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import './exposure-banner.css';

const SIGN_WORDS: Record<ProxySign, string> = {
  old_http: 'spoke HTTP/1.0, as nginx does',
  forwarding_header: 'had a header that proxies write',
  header_names: 'was written as HAProxy writes',
};

/** Tells administrators of proxies that the settings do not name. */
export function ProxyBanner({ findings }: { findings: ProxyFindings }) {
  const now = useMinute();
  const clear = useChange({ mutationFn: () => call(clearProxyFindings), renews: [['proxy-findings']] });
  const { behind_proxy, untrusted } = findings;
  return (
    <section className="exposure-banner" aria-label="Proxies">
      <IconAlertTriangle size={20} stroke={1.7} aria-hidden="true" />
      <div>
        {behind_proxy && (
          <p>
            This installation is for this computer only, but a request came through a proxy (
            <Moment iso={behind_proxy.since} now={now} />; it {SIGN_WORDS[behind_proxy.sign]}). Reset tokens and usernames are no
            longer shown. Set <code>EXPOSURE=public</code>, or <code>PUBLIC_URL</code> to the address that people open, then
            restart the server. If there is no proxy, choose “I have read this” to show them again.
          </p>
        )}
        {untrusted.length > 0 && (
          <p>
            Requests come through a proxy that <code>TRUSTED_PROXIES</code> does not name:{' '}
            {formatList(
              untrusted.map(({ address }) => address),
              'plain',
            )}
            . People behind it share one address, so limits can’t tell them apart. Add it to <code>TRUSTED_PROXIES</code>, then
            restart the server.
          </p>
        )}
        {clear.isError && <p role="alert">This could not be saved. Try again.</p>}
      </div>
      <Button variant="quiet" size="s" loading={clear.isPending} onClick={() => clear.mutate()}>
        I have read this
      </Button>
    </section>
  );
}
