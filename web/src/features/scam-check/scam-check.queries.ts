import {
  addProviderDomain,
  checkScamFile,
  checkScamText,
  deleteScamCheck,
  distrustDomain,
  listProviderDomains,
  listScamChecks,
  listTrustedDomains,
  type ProviderDomain,
  removeProviderDomain,
  trustDomain,
} from '@palisade/contract/scam-check';
import { queryOptions } from '@tanstack/react-query';
import { call, callPage, upload } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { pagesQuery } from '#api/pages.ts';
import type { ToCheck } from '#domain/scam/to-check.ts';

const CHECKS_KEY = ['scam-checks'];
const TRUSTED_KEY = ['scam-trusted'];
const PROVIDER_KEY = ['scam-provider-domains'];

/** The same address with `keep=true`. */
const keepFile = { ...checkScamFile, path: `${checkScamFile.path}?keep=true` as const };

/** Sends a message to be checked; with `keep` its answer is stored. */
export function useCheck() {
  return useChange({
    mutationFn: ({ what, keep }: { what: ToCheck; keep: boolean }) =>
      'text' in what
        ? call(checkScamText, { body: { text: what.text }, query: keep ? { keep: 'true' } : {} })
        : upload(keep ? keepFile : checkScamFile, what.file),
    renews: [CHECKS_KEY],
  });
}

export const checksQuery = pagesQuery(CHECKS_KEY, (page, signal) => callPage(listScamChecks, { query: page, signal }));

export function useDeleteCheck() {
  return useChange({ mutationFn: (id: string) => call(deleteScamCheck, { params: { id } }), renews: [CHECKS_KEY] });
}

export const trustedQuery = queryOptions({
  queryKey: TRUSTED_KEY,
  queryFn: ({ signal }) => call(listTrustedDomains, { signal }),
});

export function useTrust() {
  return useChange({ mutationFn: (domain: string) => call(trustDomain, { body: { domain } }), renews: [TRUSTED_KEY] });
}

export function useDistrust() {
  return useChange({ mutationFn: (id: string) => call(distrustDomain, { params: { id } }), renews: [TRUSTED_KEY] });
}

export const providerDomainsQuery = queryOptions({
  queryKey: PROVIDER_KEY,
  queryFn: ({ signal }) => call(listProviderDomains, { signal }),
});

export function useAddProviderDomain(list: ProviderDomain['list']) {
  return useChange({
    mutationFn: (domain: string) => call(addProviderDomain, { body: { domain, list } }),
    renews: [PROVIDER_KEY],
  });
}

export function useRemoveProviderDomain() {
  return useChange({ mutationFn: (id: string) => call(removeProviderDomain, { body: { id } }), renews: [PROVIDER_KEY] });
}
