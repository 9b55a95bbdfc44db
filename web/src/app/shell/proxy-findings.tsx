import { type ProxyFindings, readProxyFindings } from '@palisade/contract/proxy';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { call } from '#api/call.ts';
import { useIsStartOver } from '#api/start.ts';
import { lazyPart } from '#ui/lazy-part.tsx';

const ProxyBanner = lazyPart(async () => (await import('./proxy-banner.tsx')).ProxyBanner);

/** In ms. Proxies appear rarely: a person has to set one up. */
const ASKED_AGAIN = 60_000;

const PROXY_FINDINGS_KEY = ['proxy-findings'];

const findingsQuery = queryOptions({
  queryKey: PROXY_FINDINGS_KEY,
  queryFn: ({ signal }) => call(readProxyFindings, { signal }),
  staleTime: ASKED_AGAIN,
  refetchInterval: ASKED_AGAIN,
});

function isFound({ behind_proxy, untrusted }: ProxyFindings): boolean {
  return behind_proxy !== null || untrusted.length > 0;
}

/** Reads the proxies that the settings do not name; loads the banner only if there are any. */
export function ProxyFindingsBanner() {
  const { data: findings } = useQuery({ ...findingsQuery, enabled: useIsStartOver() });
  return findings && isFound(findings) && <ProxyBanner findings={findings} />;
}
