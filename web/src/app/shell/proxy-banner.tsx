import { formatList } from '@palisade/contract/intl';
import { clearProxyFindings, type ProxyFindings, type ProxySign } from '@palisade/contract/proxy';
import { IconAlertTriangle } from '@tabler/icons-react';
import { call } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { Button } from '#ui/button.tsx';
import { Row } from '#ui/layout.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import { Sentence } from '#ui/sentence.tsx';
import './exposure-banner.css';

const SIGNS = {
  old_http:
    'This installation is for this computer only. But a request came through a proxy {when}: it spoke HTTP/1.0, as nginx does.',
  forwarding_header:
    'This installation is for this computer only. But a request came through a proxy {when}: it had a header that proxies write.',
  header_names:
    'This installation is for this computer only. But a request came through a proxy {when}: it was written as HAProxy writes.',
} as const satisfies Record<ProxySign, string>;

/** Shows administrators the proxies that the settings do not name. */
export function ProxyBanner({ findings }: { findings: ProxyFindings }) {
  const now = useMinute();
  const clear = useChange({ mutationFn: () => call(clearProxyFindings), renews: [['proxy-findings']] });
  const { behind_proxy, untrusted } = findings;
  return (
    <Row as="section" wrap={false} gap="3" className="exposure-banner base amber" aria-label="Proxies">
      <IconAlertTriangle size={20} stroke={1.7} aria-hidden="true" />
      <div className="grow">
        {behind_proxy && (
          <p>
            <Sentence text={SIGNS[behind_proxy.sign]} parts={{ when: <Moment iso={behind_proxy.since} now={now} /> }} />{' '}
            <Sentence
              text="Reset tokens and usernames are no longer shown. Set {exposure}, or {public_url} to the address that people open, then restart the server. If there is no proxy, choose “I have read this” to show them again."
              parts={{ exposure: <code>EXPOSURE=public</code>, public_url: <code>PUBLIC_URL</code> }}
            />
          </p>
        )}
        {untrusted.length > 0 && (
          <p>
            <Sentence
              text="Requests come through a proxy that {setting} does not name: {addresses}. People behind it share one address, so limits can’t tell them apart. Add it to {setting}, then restart the server."
              parts={{
                setting: <code>TRUSTED_PROXIES</code>,
                addresses: formatList(
                  untrusted.map(({ address }) => address),
                  'plain',
                ),
              }}
            />
          </p>
        )}
        {clear.isError && <p role="alert">This could not be saved. Try again.</p>}
      </div>
      <Button variant="quiet" size="s" loading={clear.isPending} onClick={() => clear.mutate()}>
        I have read this
      </Button>
    </Row>
  );
}
