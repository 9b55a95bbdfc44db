import type { ReplyOf } from '@palisade/contract/endpoint';
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

/** `keep` stores the result. `ask_dns` allows the DNS queries that verify the signature of an email. */
export interface CheckChoices {
  keep: boolean;
  ask_dns: boolean;
}

/** The result of one message, or the error. */
export type CheckResult = { what: ToCheck } & ({ answer: ReplyOf<typeof checkScamText> } | { error: unknown });

function send(what: ToCheck, { keep, ask_dns }: CheckChoices) {
  if ('text' in what) return call(checkScamText, { body: { text: what.text }, query: keep ? { keep: 'true' } : {} });
  const query = new URLSearchParams({ keep: String(keep), ask_dns: String(ask_dns) });
  return upload({ ...checkScamFile, path: `${checkScamFile.path}?${query}` as const }, what.file);
}

/** Checks messages one after the other. A refused one does not stop the others. */
export function useCheck() {
  return useChange({
    async mutationFn({ whats, ...choices }: CheckChoices & { whats: readonly ToCheck[] }) {
      const results: CheckResult[] = [];
      for (const what of whats)
        results.push(
          await send(what, choices).then(
            (answer) => ({ what, answer }),
            (error: unknown) => ({ what, error }),
          ),
        );
      const [first] = results;
      if (results.length === 1 && first !== undefined && 'error' in first) throw first.error;
      return results;
    },
    renews: [CHECKS_KEY],
  });
}

/** Checks a message again and stores the result. */
export function useKeep() {
  return useChange({
    mutationFn: ({ what, ask_dns }: { what: ToCheck; ask_dns: boolean }) => send(what, { keep: true, ask_dns }),
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
